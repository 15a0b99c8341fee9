"""``python -m backend.api``: serve the API until a signal comes; exit 1 where the overlay cannot be served."""

from __future__ import annotations

import logging
import sys

import uvicorn

from backend.api.app import create_app
from backend.errors import Problem
from backend.settings import Settings


def main() -> int:
    """Run the server in the foreground."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("neo4j").setLevel(
        logging.ERROR
    )  # every refused attempt while Neo4j boots would be a warning
    try:
        settings = Settings.load()

        def stop() -> None:
            server.should_exit = True

        app = create_app(settings, on_failure=stop)
    except Problem as problem:
        logging.error("%s", problem.detail)
        return problem.exit_code
    server = uvicorn.Server(
        uvicorn.Config(app, host=settings.api_host, port=settings.api_port, log_config=None, access_log=False)
    )
    server.run()
    return 1 if app.state.manager.failed or not server.started else 0


if __name__ == "__main__":
    sys.exit(main())
