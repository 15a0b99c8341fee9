"""The API served on a port, in a thread of the test: for whoever speaks real HTTP to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from backend.managed.processes import free_port


@contextmanager
def running(app: FastAPI, patience: float = 60) -> Iterator[str]:
    """Serve the app until the block ends; its address."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, name="the API")
    thread.start()
    try:
        deadline = time.monotonic() + patience
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(patience)
