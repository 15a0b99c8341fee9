"""The analysts' library through the API and the command line, on a real server."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import neo4j
import pytest
from fastapi.testclient import TestClient

from backend.api import create_app
from backend.cli import main
from backend.cli.query import parse_params
from backend.cli.remote import Remote, problem_of
from backend.errors import BadValue
from backend.queries import check_parameters, find_query, to_json
from backend.settings import Settings
from cypher.library import Column, Parameter, Query, queries
from tests.backend.conftest import empty
from tests.backend.test_api import KEY, settings, wait_until_ready
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

LONGEST_QUERY = next(one.le for one in Settings.model_fields["query_seconds"].metadata if hasattr(one, "le"))


@pytest.fixture(scope="module")
def client(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with neo4j.GraphDatabase.driver(
        neo4j_server.uri, auth=(neo4j_server.user, neo4j_server.password)
    ) as driver:
        empty(driver)
        home = tmp_path_factory.mktemp("home")
        with TestClient(
            create_app(settings(neo4j_server, home, demo="autoware", query_rows=50, query_seconds=20.0))
        ) as opened:
            wait_until_ready(opened)
            yield opened
        empty(driver)


def run(client: TestClient, name: str, **params: Any) -> Any:
    return client.post(f"/v1/queries/{name}/run", headers=KEY, json={"params": params})


def test_the_library_is_listed(client: TestClient) -> None:
    items = client.get("/v1/queries", headers=KEY).json()["items"]
    assert [item["name"] for item in items] == list(queries())
    hubs = next(item for item in items if item["name"] == "hubs")
    assert hubs["title"] == "Which brokers keep the most links?"
    assert hubs["group"] == "degrees"
    assert hubs["parameters"] == [
        {
            "name": "limit",
            "type": "integer",
            "default": 20,
            "required": False,
            "description": "so many rows at the most",
            "minimum": 1,
            "maximum": None,
            "example": 20,
        }
    ]
    assert [column["name"] for column in hubs["columns"]] == ["broker", "degree", "topics", "primaries"]
    assert hubs["example"] == ":param limit => 20"
    assert "cypher" not in hubs
    one = client.get("/v1/queries/hubs", headers=KEY).json()
    assert one == {**hubs, "cypher": queries()["hubs"].cypher}


def test_a_query_is_run(client: TestClient) -> None:
    answer = run(client, "overlay_figures").json()
    overlay = client.get("/v1/overlay", headers=KEY).json()
    found = dict(zip(answer["columns"], answer["rows"][0], strict=True))
    assert {name: overlay[name] for name in found if name in overlay} == {
        name: value for name, value in found.items() if name in overlay
    }
    assert not answer["truncated"]
    assert 0 < answer["seconds"] < 20
    (row,) = run(client, "who_changed_what").json()["rows"]
    assert row[:3] == ["demo", "import", 1]
    assert row[-1].endswith("Z")


def test_rows_are_limited_and_it_is_said(client: TestClient) -> None:
    answer = run(client, "topics_by_size", limit=51).json()
    assert (len(answer["rows"]), answer["truncated"]) == (50, True)
    answer = run(client, "topics_by_size", limit=50).json()
    assert (len(answer["rows"]), answer["truncated"]) == (50, False)


def test_a_topic_with_slashes_is_a_value_like_any(client: TestClient) -> None:
    ((subscribers, reached, cut_off, connected),) = run(client, "topic_reach", topic="/diagnostics").json()[
        "rows"
    ]
    assert (
        subscribers == reached == client.get("/v1/topics/%2Fdiagnostics", headers=KEY).json()["subscribers"]
    )
    assert connected
    assert cut_off == []
    depends = run(client, "topic_dependence", topic="/diagnostics").json()["rows"]
    topic = client.get("/v1/topics/%2Fdiagnostics", headers=KEY).json()
    assert sorted(row[0] for row in depends) == sorted(topic["articulation_brokers"])


@pytest.mark.parametrize(
    ("name", "body", "status", "field", "said"),
    [
        ("nothing", {}, 404, "query", "'nothing'"),
        ("hubs", {"params": {"limit": "many"}}, 422, "limit", "'many'"),
        ("hubs", {"params": {"limit": 0}}, 422, "limit", "got 0"),
        ("hubs", {"params": {"limit": 1.5}}, 422, "limit", "1.5"),
        ("hubs", {"params": {"limit": True}}, 422, "limit", "True"),
        ("hubs", {"params": {"limit": 2**63}}, 422, "limit", str(2**63)),
        ("hubs", {"params": {"size": 3}}, 422, "size", "no such parameter"),
        ("hubs", {"parameters": {}}, 422, "parameters", "parameters"),
        ("broker_links", {}, 422, "broker", "needs it"),
        ("broker_links", {"params": {"broker": 7}}, 422, "broker", "got 7"),
        ("churn_by_day", {"params": {"since": "yesterday"}}, 422, "since", "'yesterday'"),
        ("churn_by_day", {"params": {"since": "2026-02-30"}}, 422, "since", "2026-02-30"),
        ("unlinked_pairs", {"params": {"brokers": 2001}}, 422, "brokers", "2001"),
        ("churn_by_day", {"params": {"since": "2026-01-01T00:00+20:00"}}, 422, "since", "+20:00"),
        ("churn_by_day", {"params": {"since": "2026-01-01T00:00-18:01"}}, 422, "since", "-18:01"),
        ("churn_by_day", {"params": {"since": "2026-01-01T24:00"}}, 422, "since", "24:00"),
        ("churn_by_day", {"params": {"since": "٢٠٢٦-01-01"}}, 422, "since", "01-01"),
        ("expiring_leases", {"params": {"seconds": 10**18}}, 422, "seconds", "1000000000"),
        ("expiring_leases", {"params": {"seconds": -1}}, 422, "seconds", "-1"),
    ],
)
def test_what_cannot_be_used_is_named(
    client: TestClient, name: str, body: dict[str, Any], status: int, field: str, said: str
) -> None:
    answer = client.post(f"/v1/queries/{name}/run", headers=KEY, json=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["field"] == field
    assert said in answer.json()["detail"]


EXTREMES = [
    (query.name, parameter.name, value)
    for query in queries().values()
    for parameter in query.parameters
    for value in (
        (
            -(2**63) if parameter.minimum is None else parameter.minimum,
            2**63 - 1 if parameter.maximum is None else parameter.maximum,
        )
        if parameter.type == "integer"
        else ("0001-01-01T00:00+18:00", "9999-12-31T23:59:59.999999999-18:00")
        if parameter.is_time
        else ("", "\0", "x" * 10_000)
    )
]


@pytest.mark.parametrize(("name", "parameter", "value"), EXTREMES)
def test_what_is_not_refused_is_answered(client: TestClient, name: str, parameter: str, value: Any) -> None:
    others = {one.name: one.example for one in queries()[name].parameters}
    answer = run(client, name, **{**others, parameter: value})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    "text",
    [
        "RETURN datetime() + duration({seconds: $p}) AS a",
        "RETURN 1 / ($p - $p) AS a",
        "RETURN datetime(toString($p)) AS a",
    ],
)
def test_what_a_value_makes_neo4j_say_is_no_absence(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    own(monkeypatch, text, "a", parameters=(Parameter("p", "integer", "a number"),))
    answer = run(client, "own", p=10**18)
    assert (answer.status_code, answer.json()["field"]) == (422, "params"), answer.text


def test_a_broken_statement_is_no_absence(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    own(monkeypatch, "RETURN a", "a")
    answer = run(client, "own")
    assert (answer.status_code, answer.json()["type"]) == (500, "urn:topicweave:problem:internal-error")


def test_without_a_key_nothing_is_said(client: TestClient) -> None:
    assert client.get("/v1/queries").status_code == 401
    assert client.post("/v1/queries/hubs/run", json={}).status_code == 401


def own(
    monkeypatch: pytest.MonkeyPatch, text: str, *columns: str, parameters: tuple[Parameter, ...] = ()
) -> None:
    """Put a query into the library for one test."""
    query = Query(
        "own", "own", "What?", "", parameters, tuple(Column(name, name) for name in columns), "", text
    )
    monkeypatch.setattr("backend.queries.queries", lambda: {"own": query})


def test_nothing_can_be_written(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    own(monkeypatch, "CREATE (b:Broker {id: 'intruder'}) RETURN b.id AS broker", "broker")
    assert run(client, "own").status_code >= 400
    own(monkeypatch, "MATCH (b:Broker {id: 'intruder'}) RETURN b.id AS broker", "broker")
    assert run(client, "own").json()["rows"] == []


def test_a_query_that_takes_too_long_is_ended(
    neo4j_server: Neo4jServer, client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own(
        monkeypatch,
        "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a, b WHERE a + b = -1 RETURN a",
        "a",
    )
    with TestClient(create_app(settings(neo4j_server, tmp_path, query_seconds=1.0))) as hasty:
        wait_until_ready(hasty)
        answer = run(hasty, "own")
        assert answer.status_code == 504
        assert answer.json()["type"] == "urn:topicweave:problem:too-much-work"
        assert "TOPICWEAVE_QUERY_SECONDS" in answer.json()["detail"]


def test_values_of_the_graph_become_json(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    own(
        monkeypatch,
        "MATCH (b:Broker)-[s:SUBSCRIBES]->(t:Topic {name: '/diagnostics'}) WITH b, s, t LIMIT 1"
        " RETURN t, s, datetime('2026-11-16T19:20:01.123456789+01:00') AS at, date('2026-11-16') AS day,"
        " duration({days: 1, hours: 2}) AS length, time('10:00Z') AS hour, localdatetime('2026-11-16T10:00') AS here,"
        " [1, 2.5, 'x', null, true] AS list, {a: {b: date('2026-11-16')}} AS map, 0.0 / 0.0 AS nan,"
        " point({x: 1.0, y: 2.0}) AS place",
        *("t", "s", "at", "day", "length", "hour", "here", "list", "map", "nan", "place"),
    )
    (row,) = run(client, "own").json()["rows"]
    assert row == [
        {"labels": ["Topic"], "properties": {"name": "/diagnostics"}},
        {"type": "SUBSCRIBES", "properties": {}},
        "2026-11-16T18:20:01.123Z",
        "2026-11-16",
        "P1DT2H",
        "10:00:00.000000000+00:00",
        "2026-11-16T10:00:00.000000000",
        [1, 2.5, "x", None, True],
        {"a": {"b": "2026-11-16"}},
        None,
        {"srid": 7203, "coordinates": [1.0, 2.0]},
    ]


def test_a_parameter_is_checked_by_its_type() -> None:
    def query(**traits: Any) -> Query:
        return Query("own", "own", "What?", "", (Parameter("p", description="d", **traits),), (), "", "")

    assert check_parameters(query(type="number"), {"p": 2}) == {"p": 2}
    assert check_parameters(query(type="boolean", default=False), {}) == {"p": False}
    for kind, value in [("number", float("nan")), ("boolean", 1), ("string", "\ud800"), ("string", ["x"])]:
        with pytest.raises(BadValue) as refused:
            check_parameters(query(type=kind), {"p": value})
        assert refused.value.field == "p"
    times = query(type="string", is_time=True)
    for good in (
        "2026-11-16",
        "2026-11-16T19:20",
        "2026-11-16T19:20:01.123456789Z",
        "2026-11-16T19:20+01:00",
    ):
        assert check_parameters(times, {"p": good}) == {"p": good}
    assert to_json(None) is None
    assert find_query("hubs").name == "hubs"


class Wire:
    """The command line's way to the API, without a port in between."""

    def __init__(self, client: TestClient) -> None:
        self._client = client

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def get(self, path: str) -> Any:
        return self._answer(self._client.get(path, headers=KEY))

    def post(self, path: str, json: Any, timeout: httpx2.Timeout) -> Any:
        assert path.endswith("/run")
        assert timeout.read is not None
        assert timeout.read > LONGEST_QUERY
        return self._answer(self._client.post(path, headers=KEY, json=json))

    def _answer(self, answer: Any) -> Any:
        if not answer.is_success:
            raise problem_of(answer)
        return answer.json()


@pytest.fixture
def line(client: TestClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs ``topicweave query ...``: exit code, stdout, stderr."""
    monkeypatch.setattr(Remote, "of_home", classmethod(lambda cls, home: Wire(client)))

    def call(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["query", *arguments])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return call


def test_the_command_line_lists(line: Any) -> None:
    code, out, _ = line()
    assert code == 0
    assert all(name in out for name in queries())
    assert "Which brokers keep the most links?" in out
    assert len(json.loads(line("--json")[1])["items"]) == len(queries())


def test_the_command_line_prints_a_table_csv_and_json(line: Any, client: TestClient) -> None:
    expected = run(client, "hubs", limit=3).json()
    code, out, err = line("hubs", "--param", "limit=3")
    assert code == 0
    assert out.splitlines()[0].split() == expected["columns"]
    assert [text.split() for text in out.splitlines()[1:]] == [
        [str(value) for value in row] for row in expected["rows"]
    ]
    assert "3 rows in" in err
    table = list(csv.reader(io.StringIO(line("hubs", "--param", "limit=3", "--csv")[1])))
    assert table == [expected["columns"], *[[str(value) for value in row] for row in expected["rows"]]]
    assert json.loads(line("hubs", "--param", "limit=3", "--json")[1])["rows"] == expected["rows"]
    assert line("hubs", "--cypher")[1] == queries()["hubs"].cypher


def test_the_command_line_says_what_was_left_out(line: Any) -> None:
    code, out, err = line("topics_by_size", "--param", "limit=60", "--csv")
    assert (code, len(out.splitlines())) == (0, 51)
    assert "there are more" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing",), "no such query (got 'nothing')"),
        (("hubs", "--param", "limit"), "'limit'"),
        (("hubs", "--param", "limit=many"), "must be a whole number (got 'many')"),
        (("hubs", "--param", "limit=1", "--param", "limit=2"), "twice"),
        (("hubs", "--param", "size=1"), "no such parameter"),
        (("broker_links",), "broker"),
        (("hubs", "--csv", "--json"), "only one"),
        (("--csv",), "needs the name"),
    ],
)
def test_the_command_line_refuses(line: Any, arguments: tuple[str, ...], said: str) -> None:
    code, out, err = line(*arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_params_follow_their_types() -> None:
    types = {"limit": "integer", "share": "number", "all": "boolean", "broker": "string"}
    assert parse_params(("limit=-5", "share=0.5", "all=true", "broker=7=8"), types) == {
        "limit": -5,
        "share": 0.5,
        "all": True,
        "broker": "7=8",
    }
    for text in ("share=x", "all=yes", "=5"):
        with pytest.raises(BadValue):
            parse_params((text,), types)
