"""Backup under churn and restore into an empty server: the overlay at that version, its history and its keys."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import threading
import zipfile
from pathlib import Path
from typing import Any

import neo4j
import pyarrow.parquet
import pytest

from algorithms.files import read_interests, read_links
from backend import worker
from backend.backup import take
from backend.store.overlay import failures_of
from tests.backend.conftest import empty, rows
from tests.backend.live import KEY, Served, served
from tests.backend.test_changes import check
from tests.backend.test_imports import finish, send
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

PARTS = ["brokers.parquet", "changes.parquet", "keys.json", "links.parquet", "manifest.json", "policy.json",
         "subscriptions.parquet"]  # fmt: skip


def download(live: Served, target: Path) -> int:
    answer = live.client.get("/v1/backup", headers=KEY)
    assert answer.status_code == 200, answer.text
    target.write_bytes(answer.content)
    return int(answer.headers["X-Overlay-Version"])


def whole(driver: neo4j.Driver) -> dict[str, Any]:
    """All that a backup must bring back, leases' ends aside: those run anew."""
    brokers = rows(
        driver,
        "MATCH (b:Broker) RETURN b.id AS id, b.attributes AS attributes, b.lease_seconds AS lease, b.acked AS acked,"
        " b.failures AS failures,"
        " COLLECT { MATCH (b)-[:SUBSCRIBES]->(t) RETURN t.name AS name ORDER BY name } AS topics ORDER BY id",
    )
    return {
        "brokers": [{**row, "failures": failures_of(row["failures"])} for row in brokers],
        "links": rows(
            driver,
            "MATCH (a)-[l:LINK]->(b) RETURN a.id AS a, b.id AS b, l.since AS since, l.reason AS reason ORDER BY a, b",
        ),
        "changes": rows(driver, "MATCH (c:Change) RETURN properties(c) AS c ORDER BY c.version"),
        "keys": rows(
            driver, "MATCH (k:Key) RETURN k.id AS id, k.hash AS hash, k.living_name AS living ORDER BY id"
        ),
    }


def fill(live: Served) -> None:
    for i in range(30):
        live.join(f"b {i:02d}", f"/t{i % 4}", f"t'{i % 7}")
    live.ask(
        "POST", "brokers", status=201,
        json={"id": "leased", "topics": ["/t1"], "attributes": {"rack": "ü"}, "ttl_seconds": 600},
    )  # fmt: skip
    live.join("lonely")
    live.leave("b 03")
    live.ask("PUT", "policy", json={"rho": 4.0, "settle_seconds": 9.5})
    live.ask("POST", "keys", status=201, json={"name": "agent", "scope": "operate"})
    live.ask("POST", "keys", status=201, json={"name": "here too", "scope": "read"})


def test_there_and_back(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> None:
    file = tmp_path / "saved.zip"
    with served(neo4j_server, database, tmp_path / "one") as live:
        fill(live)
        a, b = min(live.stored_links())
        live.ask("POST", "brokers", a, "failures", json={"link": [a, b], "reason": "no route"})
        before = whole(database)
        assert sum(len(row["failures"]) for row in before["brokers"]) == 2, "shown with both ends"
        version = live.version
        assert download(live, file) == version
        for wanted in ("bytes=0-9", "bytes=99999999-", "lines=1-2"):
            whole_file = live.client.get("/v1/backup", headers={**KEY, "Range": wanted})
            assert (whole_file.status_code, whole_file.headers["Accept-Ranges"]) == (200, "none")
            assert zipfile.is_zipfile(io.BytesIO(whole_file.content))
        refused = send(live, "restores", {"backup": file}, 409)
        assert "31 brokers, version 35" in refused["detail"]
        assert list((tmp_path / "one" / "uploads").iterdir()) == []
    with zipfile.ZipFile(file) as archive:
        assert sorted(archive.namelist()) == PARTS
        manifest = json.loads(archive.read("manifest.json"))
        assert (manifest["version"], manifest["brokers"], manifest["first_change"]) == (version, 31, 1)
        archive.extractall(tmp_path / "parts")
        assert "agent" in archive.read("keys.json").decode()
    # The parts are files that everything else here reads: interests and links.
    overlay = read_links(
        tmp_path / "parts" / "links.parquet", read_interests(tmp_path / "parts" / "subscriptions.parquet")
    )
    assert overlay.is_tco()
    empty(database)
    with served(neo4j_server, database, tmp_path / "of format 1") as live:
        finish(live, send(live, "restores", {"backup": as_of_format_1(file, tmp_path / "old.zip")}))
        assert (live.version, live.ask("GET", "policy")["rho"]) == (version, 4.0)
        assert live.ask("GET", "brokers", a)["acked"] == version
        (told,) = live.ask("GET", "changes", params={"kind": "policy"})["items"]
        assert (told["policy_before"], told["policy_after"]) == (None, None)
    empty(database)
    with served(neo4j_server, database, tmp_path / "two") as live:
        taken = live.ask("POST", "keys", status=201, json={"name": "here too", "scope": "read"})
        result = finish(live, send(live, "restores", {"backup": file}))["result"]
        assert (result["version"], result["changes"], result["keys_left_out"]) == (version, 35, ["here too"])
        after = whole(database)
        assert after["brokers"] == before["brokers"]
        assert after["links"] == before["links"]
        assert after["changes"] == before["changes"]
        (told,) = live.ask("GET", "changes", params={"kind": "policy"})["items"]
        assert told["policy_before"] == {"rho": 3.0, "settle_seconds": 30.0}
        assert told["policy_after"] == {"rho": 4.0, "settle_seconds": 9.5}
        assert {key["id"] for key in after["keys"]} - {key["id"] for key in before["keys"]} == {taken["id"]}
        report = live.ask("GET", "check")
        assert report["good"], report
        check(live)
        told = live.ask("GET", "brokers", "leased")
        assert (told["attributes"], told["lease"]["ttl_seconds"]) == ({"rack": "ü"}, 600)
        assert [one["reason"] for one in live.ask("GET", "brokers", b)["failures"]] == ["no route"]
        assert live.join("next", "/t1")["version"] == version + 1
        assert live.leave("b 05")["version"] == version + 2
        check(live)


def test_a_backup_under_churn_is_one_version(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "saved.zip"
    stop = threading.Event()
    with served(neo4j_server, database, tmp_path / "one") as live:
        fill(live)
        live.ask("POST", "brokers", "leased", "acks", json={"version": 3})

        def acknowledge() -> None:
            newer = live.join("in between", "/t1")["version"]
            assert live.ask("POST", "brokers", "leased", "acks", json={"version": newer})["acked"] == newer

        async def in_process(*given: Any) -> Any:
            await asyncio.to_thread(acknowledge)
            return await worker.in_process(*given)

        monkeypatch.setattr(take, "in_process", in_process)

        def churn() -> None:
            i = 0
            while not stop.is_set():
                live.join(f"n{i}", f"/t{i % 4}", "t'1")
                if i % 3:
                    live.leave(f"n{i}")
                i += 1

        churning = threading.Thread(target=churn)
        churning.start()
        try:
            version = download(live, file)
        finally:
            stop.set()
            churning.join()
        assert live.version > version
        later = whole(database)["changes"]
        # Back from the live overlay to that version, by the recorded differences alone.
        links, interests = live.stored_links(), {b: set(t) for b, t in live.stored_interests().items()}
        for row in reversed([row["c"] for row in later if row["c"]["version"] > version]):
            links -= set(zip(row["opened_a"], row["opened_b"], strict=True))
            links |= set(zip(row["closed_a"], row["closed_b"], strict=True))
            for b, t in zip(row["subscribed_broker"], row["subscribed_topic"], strict=True):
                interests[b].discard(t)
            for b in row["joined"]:
                del interests[b]
            for b in row["left"]:
                interests[b] = set()
            for b, t in zip(row["unsubscribed_broker"], row["unsubscribed_topic"], strict=True):
                interests[b].add(t)
    empty(database)
    with served(neo4j_server, database, tmp_path / "two") as live:
        assert finish(live, send(live, "restores", {"backup": file}))["result"]["version"] == version
        assert {row["id"]: row["acked"] for row in whole(database)["brokers"] if row["acked"]} == {
            "leased": 3
        }
        assert live.stored_links() == links
        assert {b: set(t) for b, t in live.stored_interests().items()} == interests
        assert whole(database)["changes"] == [row for row in later if row["c"]["version"] <= version]
        assert live.ask("GET", "check")["good"]


def rewritten(file: Path, target: Path, **parts: bytes | None) -> Path:
    """A copy of a backup with some parts replaced, or left out."""
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(target, "w") as out:
        for name in source.namelist():
            content = parts.get(name.replace(".", "_"), source.read(name))
            if content is not None:
                out.writestr(name, content)
    return target


def flipped(file: Path, target: Path) -> Path:
    """A copy with one bit turned over: the first part's directory entry says that it is encrypted."""
    content = bytearray(file.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] ^= 1
    target.write_bytes(content)
    return target


def squeezed(file: Path, target: Path) -> Path:
    """A copy that somebody compressed, with a byte of what was compressed damaged."""
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            out.writestr(name, source.read(name))
        place = out.getinfo("brokers.parquet").header_offset + 30 + len("brokers.parquet")
    content = bytearray(target.read_bytes())
    content[place] = 0xFF
    target.write_bytes(content)
    return target


def as_of_format_1(file: Path, target: Path) -> Path:
    """The same backup as it was written before the history held what a policy change changed, and when acknowledgements
    could be newer than the rest."""
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        changes, brokers = (
            pyarrow.parquet.read_table(io.BytesIO(archive.read(f"{name}.parquet")))
            for name in ("changes", "brokers")
        )
    place = brokers.column_names.index("acked")
    newer = pyarrow.array([manifest["version"] + 1] * len(brokers), brokers.schema.field("acked").type)
    parts = {
        "changes": as_file(changes.drop_columns(["policy_before", "policy_after"])),
        "brokers": as_file(brokers.set_column(place, "acked", newer)),
    }
    manifest["format_version"] = 1
    for name, content in parts.items():
        manifest["parts"][f"{name}.parquet"] = {
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    return rewritten(
        file,
        target,
        manifest_json=json.dumps(manifest).encode(),
        **{f"{name}_parquet": content for name, content in parts.items()},
    )


def as_file(table: pyarrow.Table) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


def test_a_damaged_backup_is_named(neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path) -> None:
    file = tmp_path / "saved.zip"
    with served(neo4j_server, database, tmp_path / "one") as live:
        live.join("a", "x")
        live.join("b", "x")
        download(live, file)
    empty(database)
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        table = pyarrow.parquet.read_table(io.BytesIO(archive.read("links.parquet")))
    other = as_file(table.slice(0, 0))
    cut = tmp_path / "cut.zip"
    cut.write_bytes(file.read_bytes()[:-200])
    newer = json.dumps({**manifest, "format_version": 99}).encode()
    strange = json.dumps({"format": "something else"}).encode()
    damaged = {
        "cut.zip: it cannot be read as a backup": cut,
        "links.parquet: damaged, its size or checksum": rewritten(file, tmp_path / "1.zip", links_parquet=other),
        "keys.json: missing": rewritten(file, tmp_path / "2.zip", keys_json=None),
        "it holds no manifest.json": rewritten(file, tmp_path / "3.zip", manifest_json=None),
        "format_version: this TopicWeave reads 1 to 2 (got 99)": rewritten(file, tmp_path / "4.zip", manifest_json=newer),
        "manifest.json does not say so": rewritten(file, tmp_path / "5.zip", manifest_json=strange),
        "manifest.json: Expecting value": rewritten(file, tmp_path / "6.zip", manifest_json=b"not json"),
        "cannot be read as a backup: File 'manifest.json' is encrypted": flipped(file, tmp_path / "7.zip"),
        "cannot be read as a backup: Error -3": squeezed(file, tmp_path / "8.zip"),
        "policy.json: damaged, its size or checksum": rewritten(file, tmp_path / "9.zip", policy_json=b" " * 10_000_000),
        "manifest.json: the size of brokers.parquet is missing": rewritten(
            file, tmp_path / "10.zip", manifest_json=json.dumps({**manifest, "parts": {n: {} for n in PARTS}}).encode()
        ),
    }  # fmt: skip
    with served(neo4j_server, database, tmp_path / "two") as live:
        for what, path in damaged.items():
            error = finish(live, send(live, "restores", {"backup": path}), "failed")["error"]
            assert what in error, error
            assert str(tmp_path) not in error
        assert send(live, "restores", {"backup": Path(__file__)}, 422)["field"] == "backup"
        assert (live.version, live.stored_interests()) == (0, {})
        assert finish(live, send(live, "restores", {"backup": file}))["result"]["brokers"] == 2
