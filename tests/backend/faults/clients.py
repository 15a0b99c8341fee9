"""Concurrent clients that note what they were told: each keeps brokers of its own, and changes them one by one.

A client with keys sends an Idempotency-Key and repeats a change until it is answered, at whichever API answers; some of
them hang up in the middle now and then. A client without keys asks once: where it gets no answer it does not know, and
leaves that broker alone from then on.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

from tests.backend.faults.stage import KEY, PATIENCE, Api

TOPICS = [f"topic {i}" for i in range(12)]
Outcome = Literal["done", "refused", "unknown"]


@dataclass
class Told:
    """One change that a client asked for, and what it was told of it."""

    broker: str
    kind: str
    outcome: Outcome
    answer: dict[str, Any] = field(default_factory=dict)
    key: str | None = None
    body: Any = None
    method: str = ""
    path: str = ""


SECONDS_OF_AN_ANSWER = 60
"""Longer than Neo4j may stand still before it is given up, twice."""


class Client(threading.Thread):
    """One of them, in a thread of its own."""

    def __init__(self, name: str, apis: Sequence[Api], *, keys: bool, hang_up: float) -> None:
        super().__init__(name=name)
        self.told: list[Told] = []
        self.topics: dict[str, set[str]] = {}
        """The brokers it has, as it was told."""
        self.failure: Exception | None = None
        self.statuses: list[int] = []
        self._apis = apis
        self._keys = keys
        self._hang_up = hang_up
        self._random = random.Random(name)
        self._ended = threading.Event()
        self._made = 0

    def run(self) -> None:
        try:
            while not self._ended.is_set():
                self._change()
        except Exception as error:  # noqa: BLE001 (told by whoever waits for us)
            self.failure = error

    def end(self) -> None:
        """Finish the change that is under way."""
        self._ended.set()

    def _change(self) -> None:
        pick = self._random
        own = sorted(self.topics)
        kind = pick.choice(["join", "leave", "subscribe", "unsubscribe"])
        if not own or (kind == "join" and len(own) < 6):
            self._made += 1
            broker = f"{self.name}-{self._made}"
            topics = set(pick.sample(TOPICS, pick.randint(1, 4)))
            if self._ask("join", broker, "POST", "/v1/brokers", {"id": broker, "topics": sorted(topics)}):
                self.topics[broker] = topics
            return
        broker = pick.choice(own)
        held = self.topics[broker]
        path = f"/v1/brokers/{quote(broker, safe='')}"
        if kind == "subscribe" and len(held) < len(TOPICS):
            topic = pick.choice(sorted(set(TOPICS) - held))
            if self._ask(kind, broker, "POST", f"{path}/topics/{quote(topic, safe='')}"):
                held.add(topic)
        elif kind == "unsubscribe" and held:
            topic = pick.choice(sorted(held))
            if self._ask(kind, broker, "DELETE", f"{path}/topics/{quote(topic, safe='')}"):
                held.remove(topic)
        elif self._ask("leave", broker, "DELETE", path):
            del self.topics[broker]

    def _ask(self, kind: str, broker: str, method: str, path: str, body: Any = None) -> bool:
        """Whether it was done; a broker of which that is not known is given up."""
        key = str(uuid.uuid4()) if self._keys else None
        told = Told(broker, kind, "unknown", key=key, body=body, method=method, path=path)
        self.told.append(told)
        deadline = time.monotonic() + PATIENCE
        while True:
            api = self._random.choice(self._apis)
            hang_up = self._keys and self._random.random() < self._hang_up
            try:
                status, headers, answer = send(api, method, path, body, key, hang_up=hang_up)
            except (OSError, http.client.HTTPException):
                if not self._keys:
                    self.topics.pop(broker, None)
                    return False
            else:
                self.statuses.append(status)
                if status in (200, 201):
                    told.outcome, told.answer = "done", answer
                    return True
                assert status == 503, (status, answer, told)
                assert headers["retry-after"], headers
                if not self._keys:
                    told.outcome = "refused" if "nothing was changed" in answer["detail"] else "unknown"
                    self.topics.pop(broker, None)
                    time.sleep(0.05)
                    return False
            assert time.monotonic() < deadline, (f"no answer in {PATIENCE:.0f} s", told)
            time.sleep(self._random.uniform(0.01, 0.1))


def send(
    api: Api, method: str, path: str, body: Any = None, key: str | None = None, *, hang_up: bool = False
) -> tuple[int, dict[str, str], Any]:
    """Status, headers and JSON of one request on a connection of its own; hanging up is a broken connection."""
    connection = http.client.HTTPConnection("127.0.0.1", api.port, timeout=SECONDS_OF_AN_ANSWER)
    headers = {"X-API-Key": KEY, "Content-Type": "application/json"}
    if key is not None:
        headers["Idempotency-Key"] = key
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        if hang_up:
            time.sleep(random.uniform(0, 0.03))
            raise ConnectionAbortedError("hung up")
        answer = connection.getresponse()
        text = answer.read()
        return (
            answer.status,
            {name.lower(): value for name, value in answer.getheaders()},
            json.loads(text or b"null"),
        )
    finally:
        connection.close()


class Crowd:
    """Clients at work."""

    def __init__(self, clients: list[Client]) -> None:
        self.clients = clients

    @property
    def done(self) -> int:
        """How many changes they were told are done."""
        return sum(told.outcome == "done" for client in self.clients for told in client.told)

    def wait_for(self, more: int, patience: float = PATIENCE) -> None:
        """Until so many more changes are done."""
        wanted = self.done + more
        deadline = time.monotonic() + patience
        while self.done < wanted:
            for client in self.clients:
                if client.failure:
                    raise client.failure
            assert time.monotonic() < deadline, f"{wanted - self.done} changes are missing"
            time.sleep(0.01)

    @property
    def statuses(self) -> list[int]:
        """Every status that any of them saw."""
        return [status for client in self.clients for status in client.statuses]


@contextmanager
def crowd(
    prefix: str, apis: Sequence[Api], *, keyed: int = 6, plain: int = 3, hang_up: float = 0.0
) -> Iterator[Crowd]:
    """Let clients work until the block ends; each has then been told all it will be told."""
    clients = [Client(f"{prefix} keyed {i}", apis, keys=True, hang_up=hang_up) for i in range(keyed)]
    clients += [Client(f"{prefix} plain {i}", apis, keys=False, hang_up=0) for i in range(plain)]
    for client in clients:
        client.start()
    try:
        yield Crowd(clients)
    finally:
        for client in clients:
            client.end()
        for client in clients:
            client.join()
    for client in clients:
        if client.failure:
            raise client.failure
