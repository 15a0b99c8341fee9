"""`topicweave rebuild`, `plan`, `backup` and `restore` on a running API, as an operator types them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import neo4j
import pytest

from algorithms.files import write_interests
from algorithms.workloads import generate
from backend.api import create_app
from backend.errors import NotReady
from tests.backend.conftest import empty, rows
from tests.backend.live import KEY, settings_of
from tests.backend.running_api import running
from tests.backend.test_cli_keys import record, topicweave
from tests.backend.test_rebuilds import wait_until
from tests.conftest import Neo4jServer

pytestmark = pytest.mark.neo4j

Run = Callable[..., tuple[int, str, str]]


@contextmanager
def home_with_api(server: Neo4jServer, path: Path) -> Iterator[Path]:
    path.mkdir()
    (path / "api-key").write_text(KEY["X-API-Key"] + "\n")
    with running(create_app(settings_of(server, path))) as url:
        record(path, url)
        wait_until(lambda: httpx2.get(f"{url}/readyz", trust_env=False, timeout=60).status_code == 200)
        yield path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """A command's exit code, and what it said."""

    def command(home: Path, *arguments: object) -> tuple[int, str, str]:
        code = topicweave(*map(str, arguments), "--home", str(home))
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def links(driver: neo4j.Driver) -> list[dict[str, Any]]:
    return rows(driver, "MATCH (a)-[:LINK]->(b) RETURN a.id AS a, b.id AS b ORDER BY a, b")


def test_plans_backup_and_restore(
    neo4j_server: Neo4jServer, database: neo4j.Driver, tmp_path: Path, run: Run
) -> None:
    file, saved = tmp_path / "interests.csv", tmp_path / "saved.zip"
    write_interests(generate(brokers=60, topics=15, subscriptions=4, seed=1), file)
    with home_with_api(neo4j_server, tmp_path / "one") as home:
        assert run(home, "import", file)[0] == 0
        before = links(database)
        _check_refused(home, run)
        code, out, err = run(home, "rebuild", "gm", "--json")
        assert code == 0, err
        plan = json.loads(out[out.index("{\n") :])  # the API of this test logs to the same place
        assert plan["state"] == "planned"
        assert links(database) == before
        code, out, _ = run(home, "plan", "show", plan["id"])
        assert f"{plan['plan']['links']:,} links" in out
        assert "maximum degree" in out
        assert plan["id"] in run(home, "plan", "list")[1]
        assert f"made at version {plan['base_version']}, the overlay is at 1" in out
        most = plan["plan"]["most_changed"][0]
        assert [str(value) for value in most.values()] in [line.split() for line in out.splitlines()]
        assert "keep" not in out, "gm has no such parameter"
        code, out, err = run(home, "plan", "activate", plan["id"])
        assert (code, f"{plan['id']}: gm (local), active" in out) == (0, True), err
        assert len(links(database)) == plan["plan"]["links"]
        assert run(home, "plan", "rollback", plan["id"])[0] == 0
        assert links(database) == before
        code, _, err = run(home, "plan", "rollback", plan["id"])
        assert (code, "only one that is active can be rolled back" in err) == (1, True), err
        assert run(home, "plan", "drop", plan["id"])[0] == 0
        assert rows(database, "MATCH ()-[c:CANDIDATE]->() RETURN c") == []
        code, out, err = run(home, "backup", saved)
        assert (code, "version" in out) == (0, True), err
        version = rows(database, "MATCH (o:Overlay) RETURN o.version AS version")
        code, _, err = run(home, "restore", saved)
        assert (code, "the overlay lives already" in err) == (1, True), err
    empty(database)
    with home_with_api(neo4j_server, tmp_path / "two") as home:
        damaged = tmp_path / "damaged.zip"
        damaged.write_bytes(saved.read_bytes()[:-100])
        code, _, err = run(home, "restore", damaged)
        assert (code != 0, "damaged.zip" in err) == (True, True), err
        code, out, err = run(home, "restore", saved)
        assert code == 0, err
        assert "60 brokers" in out
    assert links(database) == before
    assert rows(database, "MATCH (o:Overlay) RETURN o.version AS version") == version


def _check_refused(home: Path, run: Run) -> None:
    for arguments, told in (
        (("rebuild", "magic"), "magic"),
        (("rebuild", "weave", "--keep", "-1"), "keep"),
        (("plan", "show", "nothing"), "no such rebuild"),
        (("plan", "show", "a/b ?"), "no such rebuild (got 'a/b ?')"),
        (("plan", "show", ""), "ID: names no rebuild (got '')"),
        (("plan", "drop", ".."), "ID: names no rebuild (got '..')"),
        (("backup", home / "not-a-zip.tar"), "must end in .zip"),
        (("restore", home / "missing.zip"), "missing.zip"),
    ):
        code, _, err = run(home, *arguments)
        assert code == 2, (arguments, err)
        assert told in err
        assert err.strip().count("\n") == 0, err


class Answers:
    """An API that answers a step with a rebuild's states, one look after the other; None: 503.

    Paused, and waiting: as it is told of one that is being activated.
    """

    def __init__(self, *states: str | None, rollback: bool = False) -> None:
        self.states = list(states)
        self.rollback = rollback

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def get(self, path: str) -> dict[str, Any]:
        return self.call("GET", path)

    def post(self, path: str, **_: Any) -> dict[str, Any]:
        return self.call("POST", path)

    def call(self, _method: str, _path: str) -> dict[str, Any]:
        state = self.states.pop(0)
        if state is None:
            raise NotReady("Neo4j does not answer")
        held, state = state, "activating" if state in ("paused", "waiting") else state
        error = "waiting: Neo4j does not answer" if held == "waiting" else None
        how_far = {
            "paused": held == "paused",
            "to_open": 1,
            "to_close": 1,
            "opened": 0,
            "closed": 0,
            "phase": "opening",
        }
        return {
            "id": "it", "algorithm": "gm", "engine": "local", "state": state, "plan": None, "error": error,
            "progress": {"share": 0.5, "stage": "at it"},
            "activation": {**how_far, "rollback": self.rollback} if state == "activating" else None,
        }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "states", "rollback", "code"),
    [
        (("plan", "activate", "it"), ("activating", None, "activating", "active"), False, 0),
        (("plan", "activate", "it"), ("activating", "planned"), False, 1),
        (("plan", "activate", "it"), ("activating", "dropped"), False, 1),
        (("plan", "rollback", "it"), ("activating", "planned"), True, 0),
        (("plan", "resume", "it"), ("activating", "planned"), True, 0),
        (("plan", "resume", "it"), ("activating", "planned"), False, 1),
        (("rebuild", "gm"), ("queued", None, None, "running", "planned"), False, 0),
        (("rebuild", "gm"), ("queued", "cancelled"), False, 1),
        (("rebuild", "gm", "--activate"), ("queued", "cancelled"), False, 1),
        (("rebuild", "gm", "--activate"), ("queued", "planned", "activating", "planned"), False, 1),
        (("rebuild", "gm", "--activate"), ("queued", "planned", "activating", "active"), False, 0),
    ],
)
def test_the_exit_code_tells_whether_it_came_to_what_was_wanted(
    arguments: tuple[str, ...],
    states: tuple[str | None, ...],
    rollback: bool,
    code: int,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api = Answers(*states, rollback=rollback)
    monkeypatch.setattr("backend.cli.rebuilds.Remote.of_home", lambda _: api)
    monkeypatch.setattr("backend.cli.rebuilds.SECONDS_BETWEEN_LOOKS", 0)
    ended, _, err = run(tmp_path, *arguments)
    assert (ended, api.states) == (code, [])
    last = [state for state in states if state][-1]
    assert (f"rebuild it is {last}, not" in err) == (code == 1)


def test_what_holds_an_activation_up_is_told_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Answers("activating", "paused", "paused", "activating", "waiting", "active")
    monkeypatch.setattr("backend.cli.rebuilds.Remote.of_home", lambda _: api)
    monkeypatch.setattr("backend.cli.rebuilds.SECONDS_BETWEEN_LOOKS", 0)
    code, _, err = run(tmp_path, "plan", "activate", "it")
    assert (code, api.states) == (0, [])
    assert err.splitlines() == [
        "topicweave: rebuild it is paused: `topicweave plan resume it` lets it go on",
        "topicweave: rebuild it: waiting: Neo4j does not answer",
    ]
    api.states = ["paused"]
    assert run(tmp_path, "plan", "show", "it")[1].splitlines()[1:3] == [
        "going over, opening: 0 of 1 opened, 0 of 1 closed",
        "rebuild it is paused: `topicweave plan resume it` lets it go on",
    ]
