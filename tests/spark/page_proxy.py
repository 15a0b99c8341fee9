"""A proxy between a Spark job and Neo4j that counts the pages of a read, and lets a test do something before one of them."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from spark import graph

_PAGE = b" SKIP "
"""Stands in the statement of every page, and in no other."""
_PIECE = 1 << 16


class Pages:
    """The pages that were asked for so far; ``before`` is called with the number of each before it is passed on."""

    def __init__(self, port: int, before: Callable[[int], None]) -> None:
        self.asked = 0
        self._to = ("127.0.0.1", port)
        self._before = before
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    def close(self) -> None:
        """Break everything, and end."""
        for end in (self._listener, *self._ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        for thread in self._threads:
            thread.join(10)

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._to)
                self._ends += [client, server]
                self._start(self._pass_on, client, server, self._count)
                self._start(self._pass_on, server, client, lambda _: None)

    def _pass_on(self, source: socket.socket, target: socket.socket, look: Callable[[bytes], None]) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(_PIECE):
                look(piece)
                target.sendall(piece)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def _count(self, piece: bytes) -> None:
        # One page at a time: what a test does before one of them is done before any later one is asked for.
        with self._lock:
            for _ in range(piece.count(_PAGE)):
                self.asked += 1
                self._before(self.asked)


@contextmanager
def pages_of(
    access: graph.Access, before: Callable[[int], None] = lambda number: None
) -> Iterator[tuple[Pages, graph.Access]]:
    """The proxy, and the way to the database through it."""
    pages = Pages(int(access.uri.rpartition(":")[2]), before)
    try:
        yield pages, graph.Access(f"bolt://127.0.0.1:{pages.port}", access.user, access.password)
    finally:
        pages.close()
