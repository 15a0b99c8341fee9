"""``python -m backend.api``: serve the API until a signal comes; exit 1 where the overlay cannot be served."""

from __future__ import annotations

import logging
import signal
import sys
from contextlib import suppress
from socket import socket

import uvicorn
from fastapi import FastAPI

from backend.api.app import create_app
from backend.errors import Problem
from backend.logs import configure_logs
from backend.settings import Settings, beyond_loopback

log = logging.getLogger("backend.api")

SECONDS_FOR_ANSWERS = 10
"""What is still being answered when a signal comes has so long."""


class Server(uvicorn.Server):
    """A server that tells the app of its end before it waits for its connections: followers of events never leave."""

    def __init__(self, app: FastAPI, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Let the followers go, then wait for the rest."""
        self._app.state.manager.feed.close()
        await super().shutdown(sockets)


def main() -> int:
    """Run the server in the foreground."""
    try:
        settings = Settings.load()
        configure_logs(settings.log_format, settings.log_level)

        def stop() -> None:
            server.should_exit = True

        app = create_app(settings, on_failure=stop)
    except Problem as problem:
        log.error("%s", problem.detail)
        return problem.exit_code
    if not settings.is_loopback:
        log.warning("%s", beyond_loopback(settings))
    server = Server(
        app,
        uvicorn.Config(
            app,
            host=settings.api_host,
            port=settings.api_port,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=SECONDS_FOR_ANSWERS,
        ),
    )
    # Handled by then: the server hands it on when all is closed. A SIGTERM that killed us there would leave temporary files.
    with suppress(KeyboardInterrupt):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        server.run()
    return 1 if app.state.manager.failed or not server.started else 0


if __name__ == "__main__":
    sys.exit(main())
