"""Requests made from the OpenAPI document, good and bad, against the real API: no 500, nothing undocumented.

Operations are taken from the document, so a new route is tried without being named here. Half of the ids in paths
are ones that exist, so that calls get past the 404.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2
import neo4j
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from backend.api import create_app
from backend.keyring import Scope
from tests.backend.conftest import empty
from tests.backend.documented import closed
from tests.backend.live import KEY, settings_of
from tests.backend.running_api import running
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
BROKERS = {
    "a": ["x", "y"],
    "/b": ["x", "/y"],
    "c'\"{}": ["x", "y", "/y"],
    "🛰": ["x"],
}
SEED = 20_261_116


@dataclass(frozen=True)
class Target:
    url: str
    operations: list[APIOperation[Any, Any, Any, Any]]
    seeds: dict[str, str]
    """The id of a record of each kind that calls name in their paths."""


@pytest.fixture(scope="module")
def target(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    auth = (neo4j_server.user, neo4j_server.password)
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=auth) as driver:
        empty(driver)
        app = create_app(settings_of(neo4j_server, tmp_path_factory.mktemp("home")))
        with running(app) as url:
            wait_until_ready(url)
            schema = schemathesis.openapi.from_dict(closed(app.openapi()))
            found = list(schema.get_all_operations())
            operations = [result.ok() for result in found if isinstance(result, Ok)]
            assert len(operations) == len(found), "the document cannot be understood"
            yield Target(url, operations, plant(url))
        empty(driver)


def wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + 180
    while (answer := httpx2.get(f"{url}/readyz", trust_env=False, timeout=60)).status_code != 200:
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.05)


def fill(url: str) -> None:
    """The brokers that calls may meet; whatever happened to them before."""
    with httpx2.Client(base_url=url, headers=KEY, timeout=60) as client:
        for broker, topics in BROKERS.items():
            answer = client.post("/v1/brokers", json={"id": broker, "topics": topics})
            assert answer.status_code in (200, 201, 409), answer.text


def plant(url: str) -> dict[str, str]:
    """A planned rebuild, a simulation, an import and a key: calls about them get past the 404."""
    fill(url)
    with httpx2.Client(base_url=url, headers=KEY, timeout=60) as client:
        asked = {
            "rebuilds": client.post("/v1/rebuilds", json={"algorithm": "gm"}),
            "simulations": client.post("/v1/simulations", json={"rounds": 5}),
            "imports": client.post(
                "/v1/imports", files={"interests": ("i.csv", b"broker,topic\na,x\na,y\n")}
            ),
            "keys": client.post("/v1/keys", json={"name": "planted", "scope": "read"}),
        }
        seeds = {kind: str(answer.json()["id"]) for kind, answer in asked.items()}
        deadline = time.monotonic() + 180
        for kind, wanted in (("rebuilds", "planned"), ("simulations", "done"), ("imports", "done")):
            while (state := client.get(f"/v1/{kind}/{seeds[kind]}").json()["state"]) != wanted:
                assert state in ("queued", "running"), (kind, state)
                assert time.monotonic() < deadline, (kind, state)
                time.sleep(0.1)
    return seeds


def streams(operation: APIOperation[Any, Any, Any, Any]) -> bool:
    """A feed that never ends cannot be waited for; it has tests of its own."""
    return "text/event-stream" in str(operation.definition.raw.get("responses", {}))


def kind_of(path: str) -> str:
    """What a path is about: its first segment after the version."""
    return path.removeprefix("/v1/").partition("/")[0]


def known_ids(case: Case[Any], seeds: dict[str, str]) -> dict[str, list[str]]:
    """For each id in the path, ones that exist."""
    kind = kind_of(case.path)
    if kind in seeds:
        return {name: [seeds[kind]] for name in ("id", kind.removesuffix("s"))}
    topics = sorted({topic for wanted in BROKERS.values() for topic in wanted})
    brokers = list(BROKERS) if case.path.startswith("/v1/brokers") else []
    return {"id": brokers, "name": topics if "topics" in case.path else []}


def attack(target: Target, examples: int, subtests: pytest.Subtests) -> None:
    for operation in target.operations:
        if streams(operation):
            continue
        fill(target.url)
        takes = operation.definition.raw.get("parameters") or "requestBody" in operation.definition.raw
        for mode in [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if takes else [])]:
            with subtests.test(operation.label, mode=mode.name):
                try_operation(target, operation, mode, examples)


def try_operation(
    target: Target, operation: APIOperation[Any, Any, Any, Any], mode: GenerationMode, examples: int
) -> None:
    @seed(SEED)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
    def attempt(case: Case[Any], data: st.DataObject) -> None:
        if mode is GenerationMode.POSITIVE:
            for name, known in known_ids(case, target.seeds).items():
                if known and name in (case.path_parameters or {}) and data.draw(st.booleans()):
                    case.path_parameters[name] = quote(data.draw(st.sampled_from(known)), safe="")
        response = case.call(base_url=target.url, headers=KEY)
        # So many simulations may wait; being told so is no fault, if the document says it.
        full = response.status_code == 503 and response.json()["type"].endswith(":busy")
        case.validate_response(response, checks=CHECKS[1:] if full else CHECKS)

    attempt()


def test_calls_meet_what_was_planted(target: Target) -> None:
    """A path or a parameter by another name would bring back the 404s unnoticed."""
    met = set()
    with httpx2.Client(base_url=target.url, headers=KEY, timeout=60) as client:
        for operation in target.operations:
            case = operation.Case()
            known = known_ids(case, target.seeds)
            kind = kind_of(operation.path)
            if kind in target.seeds and "{" in operation.path:
                names = operation.path.split("{")[1].split("}")[0]
                assert names in known, operation.label
                if operation.method.upper() == "GET":
                    path = operation.path.replace(f"{{{names}}}", known[names][0])
                    assert client.get(path).status_code == 200, operation.label
                    met.add(kind)
    assert met == {"rebuilds", "simulations", "imports"}, "keys are listed only"


def test_no_request_made_from_the_document_breaks_the_api(target: Target, subtests: pytest.Subtests) -> None:
    attack(target, 5, subtests)


@pytest.mark.long
def test_many_requests_made_from_the_document(target: Target, subtests: pytest.Subtests) -> None:
    attack(target, 150, subtests)


def test_every_operation_refuses_no_key_a_wrong_key_and_a_lower_scope(target: Target) -> None:
    with httpx2.Client(base_url=target.url, timeout=60) as client:
        keys = {
            scope: client.post(
                "/v1/keys", headers=KEY, json={"name": f"only {scope}", "scope": scope}
            ).json()["key"]
            for scope in ("read", "operate")
        }
        tried = set()
        for operation in target.operations:
            if not operation.path.startswith("/v1/"):
                continue
            path = operation.path.replace("{", "").replace("}", "")
            needed = operation.definition.raw["security"][0]["key"][0]
            method = operation.method.upper()
            for headers in ({}, {"X-API-Key": "guess"}, {"X-API-Key": keys["read"] + "x"}):
                answer = client.request(method, path, headers=headers)
                assert answer.status_code == 401, (operation.label, answer.text)
                assert answer.headers["content-type"] == "application/problem+json"
            for scope in ("read", "operate"):
                if not Scope(scope).reaches(Scope(needed)):
                    answer = client.request(method, path, headers={"X-API-Key": keys[scope]})
                    assert answer.status_code == 403, (operation.label, scope, answer.text)
                    tried.add((scope, needed))
        assert tried == {("read", "operate"), ("read", "admin"), ("operate", "admin")}
