"""What `up` runs beside Neo4j, as data: the API and the console, their environment, and how to ask if they serve."""

from __future__ import annotations

import http.client
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from backend.settings import Settings


@dataclass(frozen=True)
class Service:
    """A process of ours that serves HTTP at ``url``; it serves when ``ready_path`` answers 200."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    url: str
    option: str
    ready_path: str

    def ready(self) -> bool:
        """One look: does it serve?"""
        answer = get(f"{self.url}{self.ready_path}")
        return answer is not None and answer[0] == http.client.OK


def api_service(settings: Settings, neo4j: Mapping[str, str]) -> Service:
    """The API; ``neo4j`` tells it NEO4J_URI, NEO4J_USER and NEO4J_PASSWORD."""
    command = (sys.executable, "-m", "backend.api")
    return Service(
        "the API", command, {**_common(settings), **neo4j}, settings.local_api_url, "--api-port", "/readyz"
    )


def console_service(settings: Settings) -> Service:
    """The console, which knows the API and nothing else."""
    key_file = str(settings.api_key_file) if settings.console_key == "home" else ""
    environment = {
        **_common(settings),
        "TOPICWEAVE_API_URL": settings.local_api_url,
        "TOPICWEAVE_API_KEY_FILE": key_file,
    }
    command = (sys.executable, "-m", "ui")
    url = f"http://127.0.0.1:{settings.console_port}"
    return Service("the console", command, environment, url, "--console-port", "/_stcore/health")


def _common(settings: Settings) -> dict[str, str]:
    given = {
        "TOPICWEAVE_HOME": str(settings.home),
        "TOPICWEAVE_API_HOST": settings.api_host,
        "TOPICWEAVE_API_PORT": str(settings.api_port),
        "TOPICWEAVE_CONSOLE_PORT": str(settings.console_port),
        "PYTHONUNBUFFERED": "1",  # a log's last lines are the ones that matter
        "PYTHONSAFEPATH": "1",  # whatever lies where it is started is not ours
    }
    return {**given, "TOPICWEAVE_DEMO": settings.demo} if settings.demo else given


def get(url: str, headers: Mapping[str, str] | None = None, patience: float = 5) -> tuple[int, bytes] | None:
    """Status and body of one GET from this machine, past any proxy; None if nobody answers."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=patience)
    try:
        connection.request("GET", parts.path, headers=dict(headers or {}))
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
