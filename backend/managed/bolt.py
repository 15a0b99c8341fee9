"""Speaking Bolt to a server just long enough to know it: does it answer, do we get in, which version is it?"""

from __future__ import annotations

import re
import time

from neo4j import Driver, GraphDatabase
from neo4j.exceptions import AuthError, ConfigurationError, DriverError, Neo4jError

from backend.errors import BadValue, CannotRun
from backend.settings import Settings

OLDEST = (5, 26)
"""Versions are compared as (major, minor); those after 5.26 count by the calendar: (2025, 1) and so on."""


def lets_in(uri: str, user: str, password: str) -> bool:
    """One look: True if the server answers and lets us in, False if it does not answer yet.

    CannotRun if it refuses us: a password that is wrong now stays wrong.
    """
    try:
        with _driver(uri, user, password) as driver:
            if driver.verify_authentication():
                return True
    except (DriverError, Neo4jError, OSError):
        return False
    raise CannotRun(
        f"Neo4j at {uri} refuses user {user} with the password in the home's file neo4j-password: "
        "its data was made with another one"
    )


def check_server(settings: Settings, patience: float = 10) -> str:
    """The version of the server at ``NEO4J_URI``; an error in plain words if it cannot serve us."""
    uri = settings.neo4j_uri or ""
    if settings.neo4j_password is None:
        raise BadValue(
            f"NEO4J_URI is {uri}, so NEO4J_PASSWORD (and NEO4J_USER, if not neo4j) must be set too"
        )
    version = _ask_version(uri, settings.neo4j_user, settings.neo4j_password.get_secret_value(), patience)
    require_version(version, uri)
    return version


def require_version(version: str, uri: str) -> None:
    """CannotRun if ``version`` is older than what the product's Cypher needs."""
    found = re.match(r"(\d+)\.(\d+)", version)
    if not found or (int(found[1]), int(found[2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise CannotRun(f"the Neo4j server at {uri} is version {version}; {oldest} or newer is needed")


def _ask_version(uri: str, user: str, password: str, patience: float) -> str:
    deadline = time.monotonic() + patience
    while True:
        try:
            with _driver(uri, user, password) as driver:
                records = driver.execute_query(
                    "CALL dbms.components() YIELD versions", database_="system"
                ).records
                return str(records[0]["versions"][0])
        except AuthError as error:
            raise CannotRun(
                f"the Neo4j server at {uri} refuses user {user} with the password given"
            ) from error
        except (DriverError, Neo4jError, OSError) as error:
            # What is no address will not become one; a server that is coming up answers soon.
            if isinstance(error, ConfigurationError) or time.monotonic() > deadline:
                raise CannotRun(f"no Neo4j server answers at {uri}: {error}") from error
            time.sleep(0.5)


def _driver(uri: str, user: str, password: str) -> Driver:
    return GraphDatabase.driver(
        uri, auth=(user, password), connection_timeout=5, max_transaction_retry_time=0
    )
