"""A proxy between the API and Neo4j that breaks connections where it hurts: inside the commit of a change.

A connection is cut either before the server was given the COMMIT (nothing was written) or after it answered and before
the API heard of it (everything was written); the API sees the same in both cases. Only commits that write Change records
are cut; versions that are looked up and keys that are read pass.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Moment = Literal["before", "after"]

_COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""A Bolt message on the wire: a chunk of two bytes (a structure without fields, COMMIT) and the end of the message."""
_RECORDS = b"CREATE (change:Change)"
"""Stands in the statement that writes the records of a commit, and in none that runs before it in a transaction."""
_PIECE = 1 << 16


class BoltProxy:
    """Passes everything on, except where a commit is to be cut."""

    def __init__(self, port: int) -> None:
        self._to = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._wanted: deque[Moment] = deque()
        self._pairs: set[_Pair] = set()
        self._lock = threading.Lock()
        self.cuts: list[Moment] = []
        """What was cut so far."""
        self._thread = threading.Thread(target=self._accept, name="Bolt proxy")
        self._thread.start()

    @property
    def uri(self) -> str:
        """Where the API is to find its Neo4j."""
        return f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut_next_commits(self, *moments: Moment) -> None:
        """Break the next commits of changes, one at each of these moments."""
        with self._lock:
            self._wanted.extend(moments)

    def take_cut(self) -> Moment | None:
        """The moment at which the commit that is under way now is to be cut, if it is."""
        with self._lock:
            return self._wanted.popleft() if self._wanted else None

    def noted(self, moment: Moment) -> None:
        """A commit was cut."""
        with self._lock:
            self.cuts.append(moment)

    def close(self) -> None:
        """Break everything, and end."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for pair in list(self._pairs):
            pair.cut()
            pair.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self._to, timeout=5)
            except OSError:
                client.close()  # Neo4j is away
                continue
            server.settimeout(None)
            self._pairs = {pair for pair in self._pairs if pair.alive}
            self._pairs.add(_Pair(self, client, server))


class _Pair:
    """One connection of the API, and ours to Neo4j in its place."""

    def __init__(self, proxy: BoltProxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._drop_answer = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._ask, self._answer)]
        for thread in self._threads:
            thread.start()

    @property
    def alive(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(10)

    def cut(self) -> None:
        """Break both ends."""
        for end in (self._client, self._server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _ask(self) -> None:
        """From the API to Neo4j."""
        seen = b""
        with self._ending():
            while piece := self._client.recv(_PIECE):
                seen += piece
                if _COMMIT in seen:
                    records = _RECORDS in seen
                    seen = b""
                    moment = self._proxy.take_cut() if records else None
                    if moment == "before":
                        self._proxy.noted(moment)
                        return
                    if moment == "after":
                        self._drop_answer.set()
                self._server.sendall(piece)

    def _answer(self) -> None:
        """From Neo4j to the API."""
        with self._ending():
            while piece := self._server.recv(_PIECE):
                if self._drop_answer.is_set():
                    # The API waits for nothing else, so this is what the COMMIT came to.
                    self._proxy.noted("after")
                    return
                self._client.sendall(piece)

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """When one direction ends, so does the other."""
        try:
            with contextlib.suppress(OSError):
                yield
        finally:
            self.cut()
