"""Imports on a real Neo4j: bulk into an empty overlay, batches into a living one, adopted links, merged federations."""

from __future__ import annotations

import asyncio
import gzip
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import neo4j
import psutil
import pytest

from algorithms import Interests, Overlay, build, workloads
from algorithms.files import write_interests, write_links
from backend.backup import take_backup
from backend.cli.imports import send_files
from backend.cli.remote import Remote
from backend.errors import Problem
from backend.policy import Policy
from backend.store import Database
from backend.store.bulk import import_overlay
from backend.store.importing import wipe_import
from backend.store.loading import read_overlay
from backend.store.overlay import create_overlay
from tests.backend.conftest import rows
from tests.backend.live import KEY, Served, served, settings_of, wait_until_ready
from tests.backend.test_changes import check
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

SMALL = Interests.from_mapping(
    {"/a": ["/x", "y y"], "b'\"": ["/x"], "ç": ["y y", "только"], "m": ["y y", "/x"], "z": ["/x", "y y"]}
)


@pytest.fixture
def live(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> Iterator[Served]:
    with served(neo4j_server, database, tmp_path / "home") as opened:
        yield opened


def send(live: Served, path: str, files: dict[str, Path], status: int = 202, **fields: str) -> Any:
    opened = {name: (file.name, file.read_bytes()) for name, file in files.items()}
    answer = live.client.post(f"/v1/{path}", headers=KEY, files=opened, data=fields)
    assert answer.status_code == status, answer.text
    return answer.json()


def finish(live: Served, job: Any, state: str = "done") -> Any:
    deadline = time.monotonic() + 240
    while job["state"] in ("queued", "running"):
        assert time.monotonic() < deadline, job
        time.sleep(0.1)
        job = live.ask("GET", "imports", job["id"])
    assert job["state"] == state, job
    return job


def written(folder: Path, interests: Interests, name: str = "interests.csv") -> Path:
    write_interests(interests, folder / name)
    return folder / name


def test_interests_into_an_empty_overlay(live: Served, tmp_path: Path) -> None:
    interests = workloads.generate(brokers=300, topics=40, subscriptions=6, seed=3)
    job = send(live, "imports", {"interests": written(tmp_path, interests, "in.csv.gz")}, build="gm")
    assert job["kind"] == "import"
    done = finish(live, job)
    wait_until_ready(live.client)
    result = done["result"]
    assert (result["brokers"], result["version"], result["algorithm"]) == (300, 1, "gm")
    assert live.stored_links() == set(build("gm", interests).link_names())
    assert len(live.stored_interests()) == 300
    overlay = live.ask("GET", "overlay")
    assert (overlay["version"], overlay["links"], overlay["topics_apart"]) == (1, result["links"], 0)
    assert rows(live.driver, "MATCH (c:Change) RETURN c.kind AS kind, c.version AS v") == [
        {"kind": "import", "v": 1}
    ]
    assert live.join("late", "t0")["version"] == 2
    assert list((tmp_path / "home" / "uploads").iterdir()) == []


def test_what_a_file_says_wrong_is_named(live: Served, tmp_path: Path) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text("broker,topic\na,x\nb\n")
    failed = finish(live, send(live, "imports", {"interests": broken}), "failed")
    assert failed["error"] == "broken.csv, line 3, topic: a row has 2 fields (got 'b')"
    squeezed = tmp_path / "not.csv.gz"
    squeezed.write_bytes(gzip.compress(b"broker,theme\na,x\n"))
    assert "line 1" in finish(live, send(live, "imports", {"interests": squeezed}), "failed")["error"]
    strangers = tmp_path / "links.csv"
    strangers.write_text("broker_a,broker_b\na,nobody\n")
    good = written(tmp_path, Interests.from_mapping({"a": ["x"], "b": ["x"]}))
    failed = finish(live, send(live, "imports", {"interests": good, "links": strangers}), "failed")
    assert failed["error"].startswith("links.csv, line 2, broker_b: no broker of this id")
    text = tmp_path / "interests.txt"
    text.write_text("broker,topic\n")
    assert send(live, "imports", {"interests": text}, 422)["field"] == "interests"
    assert send(live, "imports", {"interests": good}, 422, build="magic")["field"] == "algorithm"
    assert send(live, "imports", {"links": good}, 422)["field"] == "interests"
    assert live.ask("GET", "imports", "nothing", status=404)["field"] == "id"
    assert live.version == 0
    assert live.stored_interests() == {}
    assert list((tmp_path / "home" / "uploads").iterdir()) == []


def test_into_a_living_overlay_as_ordinary_changes(live: Served, tmp_path: Path) -> None:
    live.join("a", "x", "old")
    live.join("stays", "x")
    live.join("same", "t1", "x")
    topics = {f"n{i:03d}": ["x", f"t{i % 9}"] for i in range(120)}
    topics |= {"a": ["x", "t3"], "same": ["t1", "x"]}
    job = send(live, "imports", {"interests": written(tmp_path, Interests.from_mapping(topics))})
    result = finish(live, job)["result"]
    assert (result["joined"], result["changed"], result["unchanged"]) == (120, 1, 1)
    assert result["version"] == live.version == 3 + 2
    stored = live.stored_interests()
    assert stored["a"] == ["t3", "x"]
    assert stored["stays"] == ["x"]
    assert len(stored) == 123
    check(live)
    links = tmp_path / "links.csv"
    links.write_text("broker_a,broker_b\na,n001\n")
    both = {"interests": tmp_path / "interests.csv", "links": links}
    refused = send(live, "imports", both, 409)
    assert refused["field"] == "links"
    assert "POST /v1/merges" in refused["detail"]
    worth = finish(live, send(live, "imports", both, adopt="false"))["result"]
    assert worth["adopted"]["score"]["tco"] is False
    assert live.version == 5


@pytest.mark.parametrize("k", [1, 2])
def test_links_that_exist_are_adopted(live: Served, tmp_path: Path, k: int) -> None:
    if k == 2:
        rows(live.driver, "MATCH (o:Overlay) SET o.k = 2")
        live.ask("POST", "check", "reload")
    interests = workloads.generate(brokers=60, topics=12, subscriptions=3, seed=5)
    interests = Interests.from_mapping(
        {**{b: interests.topics_of(b) for b in interests.brokers}, "alone": ["only"], "apart": ["other"]}
    )
    whole = build("gm", interests).link_names()
    existing = Overlay.from_names(interests, [*whole[::2], ("alone", "apart")])
    write_links(existing, tmp_path / "links.parquet")
    files = {"interests": written(tmp_path, interests, "i.parquet"), "links": tmp_path / "links.parquet"}
    looked = finish(live, send(live, "imports", files, adopt="false"))["result"]
    assert looked["version"] is None
    assert live.version == 0
    result = finish(live, send(live, "imports", files))["result"]
    told = result["adopted"]
    assert told == looked["adopted"]
    assert told["left_out_first"] == [["alone", "apart"]]
    assert told["kept"] == len(whole[::2])
    worth = told["score"]
    assert worth["tco"] is False
    assert worth["topics_apart"] == len(existing.topics_apart()) > 0
    assert worth["fresh"]["algorithm"] == "weave"
    assert worth["published"]["algorithm"] == ("gm" if k == 1 else "gm2")
    assert worth["links_to_published"] == worth["links"] / worth["published"]["links"]
    assert worth["hubs"][0]["degree"] == existing.max_degree
    links = live.stored_links()
    assert links >= set(whole[::2])
    assert len(links) == told["kept"] + told["opened"]
    assert Overlay.from_names(interests, links).is_ktco(k)
    reasons = rows(live.driver, "MATCH ()-[l:LINK]->() RETURN DISTINCT l.reason AS reason ORDER BY reason")
    assert [row["reason"] for row in reasons] == ["completes the adopted links", "was there before: adopted"]


@pytest.mark.parametrize("k", [1, 2])
def test_two_federations_become_one(live: Served, tmp_path: Path, k: int) -> None:
    first = workloads.generate(brokers=80, topics=20, subscriptions=4, seed=1)
    named = {f"first {b}": first.topics_of(b) for b in first.brokers}
    finish(live, send(live, "imports", {"interests": written(tmp_path, Interests.from_mapping(named))}))
    if k == 2:
        rows(live.driver, "MATCH (o:Overlay) SET o.k = 2")
        whole = Interests.from_mapping(live.stored_interests())
        for a, b in set(build("gm2", whole).link_names()) - live.stored_links():
            rows(
                live.driver,
                "MATCH (a:Broker {id: $a}), (b:Broker {id: $b}) CREATE (a)-[:LINK {since: 1, reason: 'k'}]->(b)",
                a=a, b=b,
            )  # fmt: skip
        live.ask("POST", "check", "reload")
    before = live.stored_links()
    second = workloads.generate(brokers=50, topics=30, subscriptions=4, seed=2)
    brought = build("gm", second)
    write_links(brought, tmp_path / "links.csv")
    files = {"interests": written(tmp_path, second, "second.csv"), "links": tmp_path / "links.csv"}
    result = finish(live, send(live, "merges", files))["result"]
    assert (result["brokers"], result["links_brought"], result["version"]) == (50, len(brought.links), 2)
    assert (result["completed"] == 0) == (k == 1)
    links = live.stored_links()
    assert links >= before | set(brought.link_names())
    assert len(links) == len(before) + len(brought.links) + result["completed"] + result["across"]
    stored = Interests.from_mapping(live.stored_interests())
    assert Overlay.from_names(stored, links).is_ktco(k)
    (record,) = rows(
        live.driver, "MATCH (c:Change {version: 2}) RETURN c.kind AS kind, size(c.joined) AS joined"
    )
    assert record == {"kind": "merge", "joined": 50}
    error = finish(live, send(live, "merges", files), "failed")["error"]
    assert "in the overlay already: " in error
    assert repr(second.brokers[0]) in error
    assert live.version == 2


def test_nothing_is_served_while_an_import_runs(
    live: Served, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    rows(
        live.driver,
        "MATCH (o:Overlay) SET o.state = 'importing', o.import = 'somebody', o.heartbeat_at = datetime()",
    )
    deadline = time.monotonic() + 120
    while live.client.get("/readyz").status_code == 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert "an import" in live.client.get("/readyz").json()["detail"]
    body = {"id": "a", "topics": ["x"]}
    assert live.client.post("/v1/brokers", headers=KEY, json=body).status_code == 503
    rows(live.driver, "MATCH (o:Overlay) SET o.state = 'live', o.import = null")
    wait_until_ready(live.client)
    assert live.join("a", "x")["version"] == 1


def test_only_so_many_imports_wait(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> None:
    interests = written(tmp_path, workloads.generate(brokers=20, topics=5, subscriptions=2, seed=1))
    with served(neo4j_server, database, tmp_path / "home", max_queued_imports=2) as live:
        jobs = live.client.app.state.imports  # type: ignore[attr-defined]
        assert live.client.portal is not None
        live.client.portal.call(jobs._turn.acquire)
        first, second = (send(live, "imports", {"interests": interests}) for _ in range(2))
        refused = live.client.post(
            "/v1/imports", headers=KEY, files={"interests": ("i.csv", interests.read_bytes())}
        )
        assert (refused.status_code, "at most 2 may" in refused.json()["detail"]) == (503, True)
        assert len(list((tmp_path / "home" / "uploads").iterdir())) == 2
        live.client.portal.call(jobs._turn.release)
        finish(live, first)
        finish(live, second)
        deadline = time.monotonic() + 30
        while jobs._jobs:  # what is over is remembered by Neo4j
            assert time.monotonic() < deadline
            time.sleep(0.02)
        finish(live, send(live, "imports", {"interests": interests}))


def test_only_a_silent_import_is_removed(neo4j_server: Neo4jServer, database: neo4j.Driver) -> None:
    rows(
        database,
        "CREATE (:Broker {id: 'half'})-[:SUBSCRIBES]->(:Topic {name: 'done'}), (:Change {version: 7})",
    )

    async def look() -> None:
        async with Database(neo4j_server.uri, neo4j_server.user, neo4j_server.password) as opened:
            await create_overlay(opened, Policy())
            for seconds, broken in ((5, False), (60, True)):
                rows(
                    database,
                    "MATCH (o:Overlay) SET o.state = 'importing', o.import = 'it', "
                    "o.heartbeat_at = datetime() - duration({seconds: $seconds})",
                    seconds=seconds,
                )
                assert await wipe_import(opened) is broken
                assert bool(rows(database, "MATCH (b:Broker) RETURN b")) is not broken
            stored = await read_overlay(opened)
            assert stored is not None
            assert (stored.version, stored.overlay.interests.brokers) == (0, ())

    asyncio.run(look())
    assert rows(database, "MATCH (rest:Broker|Topic|Change) RETURN rest") == []


def test_a_wiper_that_was_away_for_long_removes_nothing_that_lives(
    neo4j_server: Neo4jServer, database: neo4j.Driver
) -> None:
    rows(database, "CREATE (:Broker {id: 'half'})")

    async def look() -> None:
        async with Database(neo4j_server.uri, neo4j_server.user, neo4j_server.password) as opened:
            await create_overlay(opened, Policy())
            rows(database, "MATCH (o:Overlay) SET o.state = 'importing', o.import = 'it'")
            write = opened.write

            async def suspended(name: str, /, **parameters: Any) -> list[neo4j.Record]:
                if name == "overlay/wipe_import":
                    rows(database, "MATCH (o:Overlay) SET o.state = 'live', o.import = null")
                return await write(name, **parameters)

            opened.write = suspended  # type: ignore[method-assign]
            assert not await wipe_import(opened)

    asyncio.run(look())
    assert rows(database, "MATCH (b:Broker) RETURN b.id AS id") == [{"id": "half"}]


def test_files_of_a_killed_process_are_removed(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploads = tmp_path / "uploads"
    began = int(psutil.Process().create_time())
    alive = f"{os.getpid()}.{began}.a"
    for name in (alive, f"{os.getpid()}.{began - 3600}.b", "99999999.1.c", "d"):
        (uploads / name).mkdir(parents=True)
        (uploads / name / "interests.csv").write_text("broker,topic\n")
    (uploads / "a backup of before.zip").write_bytes(b"")
    folders: list[str] = []

    async def noted(mirror: Any, access: Any, target: Path) -> Any:
        folders.append(target.parent.name)
        return await take_backup(mirror, access, target)

    monkeypatch.setattr("backend.api.backups.take_backup", noted)
    with served(neo4j_server, database, tmp_path) as live:
        assert [folder.name for folder in uploads.iterdir()] == [alive]
        assert live.client.get("/v1/backup", headers=KEY).status_code == 200
        assert folders[0].startswith(f"{os.getpid()}."), (
            "a backup under way is no leftover of a killed process"
        )
        assert [folder.name for folder in uploads.iterdir()] == [alive]


def test_the_exit_code_tells_bad_input_from_trouble() -> None:
    class Api:
        def __init__(self, problem: str) -> None:
            self.job = {
                "kind": "import",
                "state": "failed",
                "error": "no",
                "problem": problem,
                "result": None,
            }

        def post(self, *_: object, **__: object) -> Any:
            return self.job

    for problem, code in (("bad-value", 2), ("not-ready", 1), ("conflict", 1), ("internal-error", 1)):
        with pytest.raises(Problem) as raised:
            send_files(cast(Remote, Api(problem)), "/v1/imports", {}, {}, as_json=True)
        assert raised.value.exit_code == code


def test_an_import_that_lost_its_turn_writes_no_more(
    neo4j_server: Neo4jServer, database: neo4j.Driver
) -> None:
    async def look() -> None:
        async with Database(neo4j_server.uri, neo4j_server.user, neo4j_server.password) as opened:
            write = opened.write

            async def stolen(name: str, /, **parameters: Any) -> list[neo4j.Record]:
                if name == "overlay/create_links":
                    assert await wipe_import(opened, parameters["import"])
                return await write(name, **parameters)

            opened.write = stolen  # type: ignore[method-assign]
            with pytest.raises(Exception, match="taken for a broken one"):
                await import_overlay(opened, build("gm", SMALL), Policy(), "somebody")

    asyncio.run(look())
    assert rows(database, "MATCH (rest:Broker|Topic|Change) RETURN rest") == []
    assert rows(database, "MATCH (o:Overlay) RETURN o.state AS state") == [{"state": "live"}]


def test_a_job_is_known_to_other_processes(
    live: Served, neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path
) -> None:
    job = finish(live, send(live, "imports", {"interests": written(tmp_path, SMALL)}))
    with served(neo4j_server, database, tmp_path / "other") as other:
        deadline = time.monotonic() + 120
        while (told := other.ask("GET", "imports", job["id"])) != job:
            assert time.monotonic() < deadline, told
            time.sleep(0.1)
    rows(
        database,
        "CREATE (:Import {id: 'lost', kind: 'import', actor: 'a', created_at: 'then', state: 'running', stage: 's', "
        "share: 0.5, heartbeat_at: datetime() - duration({hours: 1})})",
    )
    assert live.ask("GET", "imports", "lost")["state"] == "failed"
    assert settings_of(neo4j_server, tmp_path).home == tmp_path
