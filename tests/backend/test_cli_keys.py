"""`topicweave keys` on a running API: made, used, listed, revoked; and what is said when nothing runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest

from backend.api import create_app
from backend.cli import main
from backend.cli.remote import Remote
from backend.errors import CannotRun, Conflict, Forbidden, Unauthorized
from backend.managed.home import Home, Running
from backend.managed.processes import ProcessMark, free_port
from tests.backend.conftest import empty
from tests.backend.live import KEY, settings_of
from tests.backend.running_api import running
from tests.conftest import Neo4jServer


@pytest.fixture(scope="module")
def home(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home in which `up` seems to run, with an API that does."""
    path = tmp_path_factory.mktemp("home")
    (path / "api-key").write_text(KEY["X-API-Key"] + "\n")
    auth = (neo4j_server.user, neo4j_server.password)
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=auth) as driver:
        empty(driver)
        with running(create_app(settings_of(neo4j_server, path))) as url:
            record(path, url)
            yield path
        empty(driver)


def record(home: Path, url: str) -> None:
    mark = ProcessMark.of("up", os.getpid())
    Home(home).record(Running(up=mark, state="running", api=url, console=None, neo4j=""))


def topicweave(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.neo4j
def test_a_key_is_made_used_listed_and_revoked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["--home", str(home)]
    assert topicweave("keys", "list", *at) == 0
    assert "no keys but the home's own" in capsys.readouterr().out
    assert topicweave("keys", "add", "agent [7]", "--scope", "read", *at) == 0
    said = capsys.readouterr()
    key = said.out.strip()
    assert key.startswith("tw_")
    assert key not in said.err
    key_id = key.split("_")[1]
    with Remote(Remote.of_home(home).url, key) as api:
        assert api.get("/v1/me") == {"name": "agent [7]", "scope": "read"}
        with pytest.raises(Forbidden, match="needs the scope admin"):
            api.get("/v1/keys")
        assert topicweave("keys", "list", *at) == 0
        listed = capsys.readouterr().out
        assert key_id in listed
        assert "agent [7]" in listed
        assert key not in listed
        assert topicweave("keys", "revoke", key_id, *at) == 0
        assert "works no more" in capsys.readouterr().out
        with pytest.raises(Unauthorized):
            api.get("/v1/me")
    assert topicweave("keys", "list", "--json", *at) == 0
    (item,) = json.loads(capsys.readouterr().out)["items"]
    assert item["revoked_at"] is not None


@pytest.mark.neo4j
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["add", "admin", "--scope", "read"], 1, "name: belongs to the key of the home directory"),
        (["add", "bell\x07", "--scope", "read"], 2, "name: an id holds no control characters"),
        (["add", "x", "--scope", "root"], 2, "'root' is not one of 'read', 'operate', 'admin'"),
        (["add", "x"], 2, "Missing option '--scope'"),
        (["revoke", "no/body"], 2, "id: no such key (got 'no/body')"),
    ],
)
def test_what_is_refused_is_one_line(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert topicweave("keys", *arguments, "--home", str(home)) == code
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.neo4j
def test_a_problem_keeps_its_class(home: Path) -> None:
    with Remote.of_home(home) as api:
        api.post("/v1/keys", json={"name": "once", "scope": "read"})
        with pytest.raises(Conflict) as refused:
            api.post("/v1/keys", json={"name": "once", "scope": "read"})
        assert refused.value.field == "name"


def test_nothing_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert topicweave("keys", "list", "--home", str(tmp_path)) == 1
    assert f"nothing runs in {tmp_path}" in capsys.readouterr().err


def test_nobody_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "api-key").write_text("key\n")
    url = f"http://127.0.0.1:{free_port()}"
    record(tmp_path, url)
    assert topicweave("keys", "list", "--home", str(tmp_path)) == 1
    error = capsys.readouterr().err
    assert f"the API at {url} does not answer" in error
    assert error.count("\n") == 1


def test_the_address_may_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPICWEAVE_API_URL", "http://api.example:8080/")
    monkeypatch.setenv("TOPICWEAVE_API_KEY", "key")
    with Remote.of_home(tmp_path) as api:
        assert api.url == "http://api.example:8080"
    monkeypatch.setenv("TOPICWEAVE_API_URL", "nonsense")
    with Remote.of_home(tmp_path) as api, pytest.raises(CannotRun, match="nonsense does not answer"):
        api.get("/v1/me")


def test_what_cannot_be_sent_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOPICWEAVE_API_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("TOPICWEAVE_API_KEY", "key")
    for arguments in (["keys", "revoke", "\udcff"], ["query", "\udcff"], ["plan", "show", "\udcff"]):
        assert topicweave(*arguments, "--home", str(tmp_path)) == 2
        error = capsys.readouterr().err
        assert "must be text that can be sent" in error
        assert error.count("\n") == 1
    monkeypatch.setenv("TOPICWEAVE_API_URL", "http://[::1")
    assert topicweave("keys", "list", "--home", str(tmp_path)) == 2
    assert "(got 'http://[::1')" in capsys.readouterr().err
