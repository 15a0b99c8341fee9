"""A stand-in for the API, for states that the real one does not produce on request.

Topics that are apart, an API that is away, slow, starting or refusing, topics of a thousand subscribers, jobs that end
at once: the pages' tests say which overlay they want. What the product shows of a real overlay is tested on the real
API.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import ValidationError

from algorithms import BadInput
from backend.api.rebuilds import RebuildRequest
from backend.api.simulations import SimulationRequest
from backend.errors import BadValue
from backend.rebuilds.engines import check_request
from tests.ui.fake_jobs import ALGORITHMS, QUERIES, FakeRebuild, FakeSimulation
from tests.ui.fake_overlay import FakeOverlay, brokers_of, small

KEY = "a-key-for-tests"
__all__ = ["KEY", "FakeApi", "FakeOverlay", "serve", "small"]

Answer = tuple[int, Any]


@dataclass
class FakeApi:
    """The running stand-in; a test changes ``overlay``, ``trouble``, ``scope`` and ``delay`` as it goes."""

    url: str
    overlay: FakeOverlay
    trouble: tuple[int, str, str] | None = None
    trouble_with_sending: tuple[int, str, str] | None = None
    delay: float = 0.0
    scope: str = "admin"
    actor: str = "nightshift"
    job_seconds: float = 0.0
    max_page_size: int = 500
    asked: list[str] = field(default_factory=list)
    sent: list[tuple[str, str, Any]] = field(default_factory=list)
    rebuilds: dict[str, FakeRebuild] = field(default_factory=dict)
    simulations: dict[str, FakeSimulation] = field(default_factory=dict)

    def answer(self, method: str, target: str, headers: dict[str, str], body: Any) -> Answer:
        """Status and body for one request."""
        self.asked.append(target)
        if method != "GET":
            self.sent.append((method, target, body))
        time.sleep(self.delay)
        trouble = self.trouble or (self.trouble_with_sending if method != "GET" else None)
        if trouble is not None:
            status, title, detail = trouble
            return status, problem(status, title, detail)
        if headers.get("x-api-key") != KEY:
            return 401, problem(401, "No valid key", "Give a key in the header X-API-Key.")
        parts = urlsplit(target)
        params = {name: values[0] for name, values in parse_qs(parts.query).items()}
        path = [unquote(part) for part in parts.path.split("/")[2:]]
        reading = method == "GET" or path == ["what-if"] or path[-1:] == ["run"]
        if self.scope == "read" and not reading:
            return 403, problem(403, "Not allowed", "This key may read only.")
        try:
            found = (
                self.read(path, params)
                if method == "GET"
                else self.change(method, path, params, headers, body) or self.job(method, path, body)
            )
        except (ValidationError, BadInput, BadValue) as refused:
            # Refused for the API's own reasons, by its own checks.
            return 422, problem(422, "Bad value", str(refused))
        return found or (404, problem(404, "Not found", f"{parts.path} is not there"))

    def read(self, path: list[str], params: dict[str, str]) -> Answer | None:
        overlay = self.overlay
        version = int(params["version"]) if "version" in params else None
        if version is not None and version > overlay.version:
            return 404, problem(404, "No such version", f"version: the overlay is at {overlay.version}")
        if version is not None and version < overlay.oldest_version:
            return 410, problem(
                410, "Older than what is kept", f"version: kept from {overlay.oldest_version} on"
            )
        then = overlay.at(version)
        limit = int(params.get("limit", min(50, self.max_page_size)))
        # The cursor of the stand-in is a place in the list; the real one is the last row seen.
        offset = int(params.get("offset", params.get("after", 0) if path[-1] != "changes" else 0))
        if limit > self.max_page_size:
            return 422, problem(
                422, "Bad value", f"limit: at most {self.max_page_size} rows a page (got {limit})"
            )
        match path:
            case ["openapi.json"]:
                shown: dict[str, Any] = {"name": "limit", "schema": {"maximum": self.max_page_size}}
                return 200, {"paths": {"/v1/topics": {"get": {"parameters": [shown]}}}}
            case ["me"]:
                return 200, {"name": self.actor, "scope": self.scope}
            case ["overlay"]:
                return 200, then.overlay()
            case ["topics"]:
                sort, weak = params.get("sort", "name"), params.get("problems") == "true"
                return 200, overlay.topics(params.get("q", ""), sort, limit, offset, weak)
            case ["topics", name] if name in then.graphs:
                return 200, then.topic(name)
            case ["topics", name, "graph"] if name in then.graphs:
                around = params.get("around")
                if around is not None and around not in then.graphs[name]:
                    return 404, problem(
                        404, "There is no such thing", f"around: not a subscriber (got {around!r})"
                    )
                return 200, then.graph(name, around)
            case ["brokers"]:
                return 200, overlay.brokers(params.get("q", ""), params.get("sort", "id"), limit, offset)
            case ["brokers", broker] if broker in brokers_of(overlay.graphs):
                return 200, overlay.broker(broker)
            case ["changes"] if int(params.get("after", overlay.oldest_version)) < overlay.oldest_version - 1:
                return 410, problem(410, "That is no longer kept", f"after: from {overlay.oldest_version} on")
            case ["changes"]:
                return 200, self.changes(params, limit)
            case ["trend"]:
                return 200, overlay.trend()
            case ["diff"]:
                return 200, overlay.diff(int(params["from"]), int(params["to"]))
            case ["algorithms"]:
                return 200, ALGORITHMS
            case ["rebuilds"]:
                return 200, {"items": [rebuild.answer() for rebuild in reversed(self.rebuilds.values())]}
            case ["rebuilds", name] if name in self.rebuilds:
                return 200, self.rebuilds[name].answer()
            case ["simulations"]:
                items = [run.answer(brief=True) for run in reversed(self.simulations.values())]
                return 200, {"items": items}
            case ["simulations", name] if name in self.simulations:
                return 200, self.simulations[name].answer(int(params.get("after", 0)))
            case ["queries"]:
                return 200, {"items": [{k: v for k, v in q.items() if k != "cypher"} for q in QUERIES]}
            case ["queries", name]:
                return next(((200, query) for query in QUERIES if query["name"] == name), None)
        return None

    def changes(self, params: dict[str, str], limit: int) -> dict[str, Any]:
        found = [
            change
            for change in self.overlay.changes
            if change["version"] > int(params.get("after", 0))
            and change["version"] < int(params.get("before", 1 << 60))
            and all(change[name] == params[name] for name in ("kind", "actor") if name in params)
            and ("since" not in params or moment(params["since"]) <= moment(change["at"]))
            and ("until" not in params or moment(change["at"]) < moment(params["until"]))
            and ("broker" not in params or touches(change, params["broker"]))
        ]
        if params.get("order") == "desc":
            found.reverse()
        more = len(found) > limit
        return {"items": found[:limit], "next": found[limit - 1]["version"] if more else None}

    def change(
        self, method: str, path: list[str], params: dict[str, str], headers: dict[str, str], body: Any
    ) -> Answer | None:
        broker: str | None
        operations: list[dict[str, Any]]
        match [method, *path]:
            case ["DELETE", "brokers", broker]:
                kind = "leave"
                operations = [{"op": kind, "broker": broker}]
            case ["POST" | "DELETE", "brokers", broker, "topics", topic]:
                kind = "subscribe" if method == "POST" else "unsubscribe"
                operations = [{"op": kind, "broker": broker, "topics": [topic]}]
            case ["POST", "changes"]:
                operations = body
                kind, broker = "batch", None
            case ["POST", "what-if"]:
                return self.what_if(body)
            case _:
                return None
        for operation in operations:
            if operation["op"] != "join" and operation["broker"] not in brokers_of(self.overlay.graphs):
                return 404, no_such_broker(operation["broker"])
        wanted = headers.get("if-match", "").strip('"')
        if wanted and int(wanted) != self.overlay.version:
            moved = problem(412, "The overlay moved", f"It is at version {self.overlay.version}")
            return 412, moved | {"type": "urn:topicweave:problem:version-moved"}
        planned = self.overlay.plan(operations)
        if params.get("dry_run") == "true":
            return 200, planned.lists() | {"version": self.overlay.version, "dry_run": True}
        self.overlay.apply(planned, kind, broker, self.actor)
        return 200, planned.lists() | {"version": self.overlay.version}

    def what_if(self, body: dict[str, Any]) -> Answer:
        known = brokers_of(self.overlay.graphs)
        for broker in body["leave"]:
            if broker not in known:
                return 404, no_such_broker(broker)
        planned = self.overlay.plan([{"op": "leave", "broker": broker} for broker in body["leave"]])
        return 200, planned.lists() | {
            "version": self.overlay.version,
            "topics_apart": planned.apart,
            "topics_below_k": planned.weak if self.overlay.policy["k"] == 2 else len(planned.apart),
            "before": self.overlay.figures(),
            "after": FakeOverlay(planned.graphs).figures(),
            "seconds": 0.0042,
        }

    def job(self, method: str, path: list[str], body: Any) -> Answer | None:
        match [method, *path]:
            case ["POST", "rebuilds"]:
                asked = RebuildRequest.model_validate(body)
                k = int(self.overlay.policy["k"])
                check_request(asked.engine, asked.algorithm, asked.params, k)
                name = f"r{len(self.rebuilds) + 1}"
                self.rebuilds[name] = FakeRebuild(name, body, self.overlay, self.actor, self.job_seconds)
                return 202, self.rebuilds[name].answer()
            case ["DELETE", "rebuilds", name] if name in self.rebuilds:
                self.rebuilds[name].ended = "dropped"
            case ["POST", "rebuilds", name, verb] if name in self.rebuilds:
                rebuild, now = self.rebuilds[name], time.monotonic()
                if verb == "activate":
                    rebuild.activated = now
                elif verb == "rollback" or (verb == "cancel" and rebuild.activated is not None):
                    rebuild.rolled_back = now
                elif verb == "cancel":
                    rebuild.ended = "cancelled"
                rebuild.paused_at = now if verb == "pause" else None
                return 202, rebuild.answer()
            case ["POST", "simulations"]:
                SimulationRequest.model_validate(body)
                name = str(len(self.simulations) + 1)
                run = FakeSimulation(name, {"seed": 0} | body, self.overlay, self.actor, self.job_seconds)
                self.simulations[name] = run
                return 202, run.answer()
            case ["DELETE", "simulations", name] if name in self.simulations:
                self.simulations[name].stop()
                return 200, self.simulations[name].answer()
            case ["POST", "simulations", name, "apply"] if name in self.simulations:
                self.simulations[name].applied = time.monotonic()
                return 202, self.simulations[name].answer()
            case ["POST", "queries", "top_brokers", "run"]:
                rows = self.overlay.brokers(body["params"]["part"], "-degree", body["params"]["limit"], 0)
                table = [[row["id"], row["degree"]] for row in rows["items"]]
                return 200, {
                    "columns": ["broker", "degree"],
                    "rows": table,
                    "seconds": 0.01,
                    "truncated": False,
                }
            case ["POST", "queries", "topics_at_risk", "run"]:
                return 200, {"columns": ["topic"], "rows": [], "seconds": 0.01, "truncated": False}
            case _:
                return None
        return 204, None


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def touches(change: dict[str, Any], broker: str) -> bool:
    """Whether it is about the broker, its links or its subscriptions."""
    ends = {end for pair in (*change["opened"], *change["closed"]) for end in pair}
    who = {one for one, _ in (*change["subscribed"], *change["unsubscribed"])}
    return broker in {change["broker"], *change["joined"], *change["left"], *ends, *who}


def no_such_broker(broker: str) -> dict[str, Any]:
    """In the API's own words."""
    return problem(404, "There is no such thing", str(BadInput("broker", broker, "no such broker")))


def problem(status: int, title: str, detail: str) -> dict[str, Any]:
    return {"type": "about:blank", "title": title, "status": status, "detail": detail}


@contextmanager
def serve(overlay: FakeOverlay, port: int = 0) -> Iterator[FakeApi]:
    """Serve until the block ends."""
    api = FakeApi(url="", overlay=overlay)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, answer = api.answer(self.command, self.path, headers, body)
            payload = b"" if status == 204 else json.dumps(answer).encode()
            kind = "application/json" if status < 400 else "application/problem+json"
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(payload)))
            # Who asked may have lost patience.
            with suppress(BrokenPipeError, ConnectionResetError):
                self.end_headers()
                self.wfile.write(payload)

        do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - the base class's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Nothing: the tests ask ``asked``."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
