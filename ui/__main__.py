"""``python -m ui``: start the console on loopback and serve until SIGTERM or Ctrl-C.

What it is told comes from the environment: ``TOPICWEAVE_CONSOLE_PORT``, ``TOPICWEAVE_API_URL``,
``TOPICWEAVE_API_KEY_FILE`` and, for a container whose port is published by others,
``TOPICWEAVE_CONSOLE_HOST``.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import sys
from pathlib import Path

APP = Path(__file__).with_name("app.py")
DEFAULT_ADDRESS = "127.0.0.1"
DEFAULT_PORT = 8501

# Each takes seconds to import. Imported before the server listens, they are paid for by the start and not by
# the first person who opens a page.
SLOW_IMPORTS = ("pandas", "altair", "neo4j_viz.streamlit")


class BadPort(Exception):
    """The port is not a number, out of range, or taken; the message is the whole story in one line."""


def read_port() -> int:
    """The port from the environment."""
    text = os.environ.get("TOPICWEAVE_CONSOLE_PORT", str(DEFAULT_PORT))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise BadPort(f"TOPICWEAVE_CONSOLE_PORT: a port is a number from 1 to 65535 (got {text!r})")
    return int(text)


def refuse_taken(address: str, port: int) -> None:
    """Say that the port is taken before the slow imports: Streamlit would say it seconds later, and longer."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the server does: a port whose last connections are still closing is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise BadPort(f"The console cannot listen on {address}:{port}: {error.strerror}") from None


def flags(address: str, port: int) -> list[str]:
    """What must hold whatever configuration files and STREAMLIT_ variables the machine has."""
    return [
        f"--server.address={address}",
        f"--server.port={port}",
        "--server.headless=true",
        # On this machine the home's key is used unasked: no page of another origin may speak for it.
        "--server.enableCORS=true",
        "--server.enableXsrfProtection=true",
        "--browser.gatherUsageStats=false",
        "--client.showErrorDetails=none",
        "--runner.magicEnabled=false",
        # A whole collection after every run of every part of a page took longer than the run; Python's own suffice.
        "--runner.postScriptGC=false",
        # Our files do not change while it runs: looking at all of them, again and again, is for those who write them.
        "--server.fileWatcherType=none",
        "--global.developmentMode=false",
    ]


def main() -> int:
    """Check the port, import what is slow, hand over to Streamlit."""
    address = os.environ.get("TOPICWEAVE_CONSOLE_HOST", DEFAULT_ADDRESS)
    try:
        port = read_port()
        refuse_taken(address, port)
    except BadPort as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for name in SLOW_IMPORTS:
        importlib.import_module(name)
    from streamlit.web import cli

    from ui import last_words

    last_words.await_them()
    # What was imported stays: no collection has to look at it again.
    gc.freeze()

    # Streamlit installs its own handlers for SIGTERM and SIGINT: both end the server and return here.
    cli.main(["run", str(APP), *flags(address, port)], prog_name="streamlit", standalone_mode=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
