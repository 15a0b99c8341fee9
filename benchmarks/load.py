"""The load generator of `benchmarks.live`: a process of its own that speaks HTTP/1.1 over kept connections.

    python -m benchmarks.load HOST PORT < work.json > answers.json

Work is {"key", "clients", "requests": [[method, path, body or null, label], ...]}. The clients take the requests in order, each
waiting for an answer before it takes the next; answers are {"seconds", "processor", "milliseconds": {label: [...]},
"statuses": {status: count}}. It is written on bare streams, so that it takes as little of the machine as it can.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

Request = tuple[str, bytes]
"""A label, and everything that is sent."""


class Load:
    """Requests, shared by clients."""

    def __init__(self, host: str, port: int, work: dict[str, Any]) -> None:
        self._at = (host, port)
        self._clients: int = work["clients"]
        self._requests: Iterator[Request] = iter(
            [(label, _bytes(work["key"], *request)) for *request, label in work["requests"]]
        )
        self._milliseconds: dict[str, list[float]] = defaultdict(list)
        self._statuses: Counter[str] = Counter()

    async def run(self) -> dict[str, Any]:
        """Send them all; what it took."""
        connections = [await asyncio.open_connection(*self._at) for _ in range(self._clients)]
        began, used = time.perf_counter(), time.process_time()
        await asyncio.gather(*(self._client(*connection) for connection in connections))
        seconds, processor = time.perf_counter() - began, time.process_time() - used
        for _, writer in connections:
            writer.close()
        return {
            "seconds": seconds,
            "processor": processor,
            "milliseconds": self._milliseconds,
            "statuses": self._statuses,
        }

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for label, text in self._requests:
            began = time.perf_counter()
            writer.write(text)
            head = await reader.readuntil(b"\r\n\r\n")
            lower = head.lower()
            at = lower.index(b"content-length:") + 15
            await reader.readexactly(int(lower[at : lower.index(b"\r\n", at)]))
            self._milliseconds[label].append((time.perf_counter() - began) * 1000)
            self._statuses[head[9:12].decode()] += 1


def _bytes(key: str, method: str, path: str, body: object) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: benchmark\r\nX-API-Key: {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


# Run by `benchmarks.live`, not by `make bench`, so without the line that would mark it as a table.
if __name__ == "__main__" and len(sys.argv) == 3:
    host, port = sys.argv[1:]
    json.dump(asyncio.run(Load(host, int(port), json.load(sys.stdin)).run()), sys.stdout)
