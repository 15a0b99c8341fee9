"""The whole system, started, used and broken as a user would. Three boots serve all tests, in the order below."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.managed.processes import listens
from backend.managed.services import get
from tests.system.installation import Installation, api_key, topicweave

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(scope="module", autouse=True)
def no_given_server() -> Iterator[None]:
    """These tests are about our own server, even where the others are given one."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD", "TOPICWEAVE_DEMO"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="module")
def first(homes: Path) -> Iterator[Installation]:
    """With the demo and the console, as `make up` starts it."""
    installation = Installation(homes / "first")
    installation.start("--demo", "autoware")
    try:
        installation.wait_until_up()
        yield installation
    finally:
        installation.clean()


@pytest.fixture(scope="module")
def second(homes: Path, first: Installation) -> Iterator[Installation]:
    """Beside the first, empty, without a console, on a machine whose Java is too old."""
    java = homes / "old-java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'java version \"1.8.0_392\"' >&2\n")
    java.chmod(0o755)
    installation = Installation(homes / "second")
    environment = {"JAVA_HOME": str(homes / "old-java"), "PATH": f"{java.parent}:{os.environ['PATH']}"}
    installation.start("--no-console", environment=environment)
    try:
        installation.wait_until_up()
        yield installation
    finally:
        installation.clean()


def overlay(installation: Installation) -> dict[str, object]:
    answer = get(f"http://127.0.0.1:{installation.api_port}/v1/overlay", api_key(installation.home))
    assert answer is not None
    assert answer[0] == 200, answer
    loaded = json.loads(answer[1])
    assert isinstance(loaded, dict)
    return loaded


def test_says_where_everything_is(first: Installation) -> None:
    assert f"console  http://127.0.0.1:{first.console_port}" in first.output
    assert f"API      http://127.0.0.1:{first.api_port}" in first.output
    assert f"its key is in {first.home / 'api-key'}" in first.output
    page = get(f"http://127.0.0.1:{first.console_port}/")
    assert page is not None
    assert page[0] == 200
    for name in ("api-key", "neo4j-password"):
        assert (first.home / name).stat().st_mode & 0o777 == 0o600


def test_the_demo_is_served(first: Installation) -> None:
    assert overlay(first)["brokers"] == 94


def test_status_tells_what_runs(first: Installation) -> None:
    told = topicweave("status", "--home", str(first.home))
    assert told.returncode == 0
    assert "94 brokers" in told.stdout
    facts = json.loads(topicweave("status", "--home", str(first.home), "--json").stdout)
    assert facts["state"] == "running"
    assert facts["api"] == f"http://127.0.0.1:{first.api_port}"
    # The drift is estimated a moment after the start: the two calls may stand on either side of it.
    assert facts["overlay"] | {"drift": None} == overlay(first) | {"drift": None}


def test_status_and_down_where_nothing_runs(tmp_path: Path) -> None:
    told = topicweave("status", "--home", str(tmp_path / "absent"))
    assert (told.returncode, told.stdout) == (1, f"not running (home {tmp_path / 'absent'})\n")
    told = topicweave("down", "--home", str(tmp_path / "absent"))
    assert (told.returncode, told.stdout) == (0, f"nothing runs in {tmp_path / 'absent'}\n")
    assert not (tmp_path / "absent").exists()


def test_a_home_in_use_names_its_process(first: Installation) -> None:
    assert first.up is not None
    refused = topicweave("up", *first.options)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert f"the home {first.home} is in use by process {first.up.pid}" in refused.stderr
    assert first.survivors() == first.children


@pytest.mark.parametrize(
    ("option", "purpose"),
    [("--api-port", "the API"), ("--console-port", "the console"), ("--bolt-port", "Neo4j (Bolt)")],
)
def test_a_taken_port_names_port_purpose_and_process(tmp_path: Path, option: str, purpose: str) -> None:
    options = Installation(tmp_path / "other").options
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        options[options.index(option) + 1] = str(port)
        refused = topicweave("up", *options)
    assert refused.returncode == 1
    assert f"port {port}, for {purpose}, is taken by process {os.getpid()}" in refused.stderr
    assert option in refused.stderr


def test_a_port_that_is_none_is_bad_input(tmp_path: Path) -> None:
    refused = topicweave("up", "--home", str(tmp_path), "--api-port", "70000")
    assert refused.returncode == 2
    assert "api_port" in refused.stderr
    assert "70000" in refused.stderr


def test_a_demo_that_there_is_not_is_bad_input_and_starts_nothing(tmp_path: Path) -> None:
    refused = topicweave("up", "--home", str(tmp_path / "home"), "--demo", "nosuch")
    assert refused.returncode == 2
    assert refused.stderr == "topicweave: demo: no such demo, there is autoware (got 'nosuch')\n"
    assert not (tmp_path / "home").exists()


def test_without_a_network_the_file_and_its_place_are_named(tmp_path: Path) -> None:
    environment = {
        "TOPICWEAVE_CACHE": str(tmp_path / "cache"),
        "TOPICWEAVE_MAVEN_URL": "http://127.0.0.1:1/maven",
    }
    refused = topicweave("up", *Installation(tmp_path / "home").options, environment=environment)
    assert refused.returncode == 1
    assert "cannot fetch" in refused.stderr
    assert f"put it at {tmp_path / 'cache' / 'jars'}" in refused.stderr


def test_a_second_installation_runs_beside_the_first_on_the_bundled_java(
    first: Installation, second: Installation
) -> None:
    assert "Java 8, too old" in second.output
    assert "using the bundled Java 21" in second.output
    assert "console" not in second.output
    assert overlay(second)["brokers"] == 0
    assert overlay(first)["brokers"] == 94
    assert api_key(first.home) != api_key(second.home)


def test_a_given_server_is_used_and_left_running_by_down(first: Installation, homes: Path) -> None:
    """`down` is SIGTERM: no child survives, and the server that is not ours does."""
    guest = Installation(homes / "guest")
    password = (first.home / "neo4j-password").read_text().strip()
    given = {"NEO4J_URI": f"bolt://127.0.0.1:{first.bolt_port}", "NEO4J_PASSWORD": password}
    guest.start("--no-console", environment=given)
    try:
        guest.wait_until_up()
        assert "using the Neo4j 5.26.30" in guest.output
        assert overlay(guest)["brokers"] == 94
        told = topicweave("down", "--home", str(guest.home))
        assert (told.returncode, told.stdout.splitlines()[-1]) == (0, "all stopped")
        assert guest.wait_until_ended() == 0
        assert guest.survivors() == []
        assert not (guest.home / "neo4j").exists()
    finally:
        guest.clean()
    assert overlay(first)["brokers"] == 94


def test_when_neo4j_dies_everything_stops_and_its_log_is_shown(second: Installation) -> None:
    os.kill(second.child("Neo4j").pid, signal.SIGKILL)
    assert second.wait_until_ended() == 1
    assert "Neo4j ended by SIGKILL. Its log ends:" in second.output
    assert "INFO  Started." in second.output
    assert "everything was stopped" in second.output.splitlines()[-1]
    assert second.survivors() == []
    assert topicweave("status", "--home", str(second.home)).returncode == 1


def test_a_killed_up_is_replaced_by_the_next_and_ctrl_c_stops_all(first: Installation) -> None:
    assert first.up is not None
    first.up.kill()
    first.up.wait()
    assert len(first.survivors()) == 3
    left = first.children
    assert topicweave("status", "--home", str(first.home)).returncode == 1

    first.start()
    first.wait_until_up()
    assert all(mark.find() is None for mark in left)
    assert first.output.count("left over from an `up` that was killed") == 3
    assert overlay(first)["brokers"] == 94

    began = time.monotonic()
    first.up.send_signal(signal.SIGINT)
    assert first.wait_until_ended() == 0
    assert time.monotonic() - began < 30
    assert first.survivors() == []
    assert not any(listens(port) for port in (first.api_port, first.console_port, first.bolt_port))
    shutil.rmtree(first.home)
