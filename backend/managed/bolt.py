"""Speaking Bolt to a server just long enough to know it: does it answer, do we get in, which version is it?"""

from __future__ import annotations

import re
import time

from neo4j import Driver, GraphDatabase
from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError

from backend.errors import BadValue, CannotRun
from backend.settings import Settings

OLDEST = (5, 26)
"""Versions are compared as (major, minor); those after 5.26 count by the calendar: (2025, 1) and so on."""

_INITIAL_PASSWORD = "neo4j"  # noqa: S105  what every new Neo4j has, and must be changed before it does anything


def log_in(uri: str, user: str, password: str) -> bool:
    """True if the server lets us in, False if it does not answer yet.

    A server on its first start still has the initial password: it is changed to ``password`` here. Since
    ``password`` is on disk before, a crash between the two steps is made good by the next start.
    """
    try:
        with _driver(uri, user, password) as driver:
            if driver.verify_authentication():
                return True
        with _driver(uri, user, _INITIAL_PASSWORD) as driver:
            driver.execute_query(
                "ALTER CURRENT USER SET PASSWORD FROM $initial TO $password",
                initial=_INITIAL_PASSWORD,
                password=password,
                database_="system",
            )
            return True
    except AuthError as error:
        raise CannotRun(
            f"Neo4j at {uri} refuses the password of user {user}: "
            "its data was made with another one (NEO4J_PASSWORD, or the file neo4j-password in the home)"
        ) from error
    except ClientError as error:
        raise CannotRun(f"Neo4j at {uri} refuses to set its password: {error.message}") from error
    except (DriverError, Neo4jError, OSError):
        return False


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
        except (ValueError, DriverError, Neo4jError, OSError) as error:
            # A name that is no address stays one; a server that is coming up answers soon.
            if isinstance(error, ValueError) or time.monotonic() > deadline:
                raise CannotRun(f"no Neo4j server answers at {uri}: {error}") from error
            time.sleep(0.5)


def _driver(uri: str, user: str, password: str) -> Driver:
    return GraphDatabase.driver(
        uri, auth=(user, password), connection_timeout=5, max_transaction_retry_time=0
    )
