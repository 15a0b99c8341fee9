"""The supervisor, over small real processes that stand in for the API and the console."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from backend.errors import CannotRun
from backend.managed import supervisor as module
from backend.managed.home import Home, Running
from backend.managed.processes import Child, ProcessMark, free_port, tail
from backend.managed.services import Service, api_service, console_service, get
from backend.managed.supervisor import StopSignals, Supervisor, _announce, require_ports, stop_orphans
from backend.settings import Settings

SERVE = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(sys.argv[2]))
        self.end_headers()
print("serving", flush=True)
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def stand_in(name: str, option: str, program: str = SERVE, status: int = 200) -> Service:
    port = free_port()
    command = (sys.executable, "-c", program, str(port), str(status))
    return Service(name, command, {}, f"http://127.0.0.1:{port}", option, "/ready")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.prepare()
    return home


@pytest.fixture
def services() -> list[Service]:
    return [stand_in("the API", "--api-port"), stand_in("the console", "--console-port")]


def test_comes_up_records_what_runs_and_leaves_nothing(home: Home, services: list[Service]) -> None:
    signals = StopSignals()
    seen: list[Running | None] = []

    def on_up() -> None:
        seen.append(home.running())
        signals.requested.set()

    said: list[str] = []
    assert Supervisor(home, None, "bolt://elsewhere", services, said.append).run(signals, on_up)
    (running,) = seen
    assert running is not None
    assert (running.state, running.up.pid, running.neo4j) == ("running", os.getpid(), "bolt://elsewhere")
    assert (running.api, running.console) == (services[0].url, services[1].url)
    assert [child.name for child in running.children] == ["the API", "the console"]
    assert all(child.find() is None for child in running.children)
    assert home.running() is None
    assert any(line.startswith("the API answers after") for line in said)
    assert "serving" in tail(home.logs / "api.log")


def test_a_child_that_ends_takes_all_down_and_shows_its_log(
    home: Home, services: list[Service], capfd: pytest.CaptureFixture[str]
) -> None:
    marks: list[ProcessMark] = []

    def on_up() -> None:
        running = home.running()
        assert running is not None
        marks.extend(running.children)
        os.kill(marks[0].pid, signal.SIGKILL)

    with pytest.raises(CannotRun, match="the API ended by SIGKILL; everything was stopped") as caught:
        Supervisor(home, None, "", services, lambda line: None).run(StopSignals(), on_up)
    assert str(home.logs / "api.log") in caught.value.detail
    assert "serving" in capfd.readouterr().err
    assert all(mark.find() is None for mark in marks)
    assert home.running() is None


def test_a_child_that_does_not_start_is_shown_at_once(home: Home, capfd: pytest.CaptureFixture[str]) -> None:
    broken = stand_in("the API", "--api-port", "raise SystemExit('no such demo')")
    with pytest.raises(CannotRun, match="the API ended with exit code 1"):
        Supervisor(home, None, "", [broken], lambda line: None).run(StopSignals(), pytest.fail)
    assert "no such demo" in capfd.readouterr().err


def test_a_child_that_never_serves_is_given_up(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_PATIENCE", 0.5)
    monkeypatch.setattr(module, "_REMIND_EVERY", 0.2)
    said: list[str] = []
    unready = stand_in("the API", "--api-port", status=503)
    with pytest.raises(CannotRun, match="the API does not answer; everything was stopped"):
        Supervisor(home, None, "", [unready], said.append).run(StopSignals(), pytest.fail)
    assert "still waiting for the API" in said


def test_a_signal_before_all_is_up_stops_what_was_started(home: Home) -> None:
    unready = stand_in("the API", "--api-port", status=503)
    with StopSignals() as signals:
        killer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM))
        killer.start()
        assert not Supervisor(home, None, "", [unready], lambda line: None).run(signals, pytest.fail)
        killer.join()
    assert get(unready.url) is None
    assert home.running() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_are_noted_and_break_in_only_where_allowed(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with StopSignals() as signals:
        signal.raise_signal(number)
        assert signals.requested.is_set()
        with pytest.raises(KeyboardInterrupt), signals.raising():
            pytest.fail("a request made before is honoured first")
    with StopSignals() as signals, pytest.raises(KeyboardInterrupt), signals.raising():
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_what_a_killed_up_left_is_stopped(home: Home, services: list[Service]) -> None:
    children = [Child(s.name, s.command, os.environ, home.logs / s.option) for s in services]
    gone = ProcessMark("up", os.getpid(), 1.0)
    home.record(Running(gone, "running", "", None, "", [child.mark for child in children]))
    said: list[str] = []
    assert stop_orphans(home, said.append) == 2
    assert all(child.exit_code() is not None for child in children)
    assert f"process {children[0].pid}" in said[1]
    assert home.running() is None
    assert stop_orphans(home, said.append) == 0


def test_children_are_told_what_the_contract_says(tmp_path: Path) -> None:
    settings = Settings.load(home=tmp_path, api_port=18, console_port=19, demo="autoware")
    api = api_service(settings, {"NEO4J_URI": "bolt://x", "NEO4J_USER": "u", "NEO4J_PASSWORD": "p"})
    assert api.environment["TOPICWEAVE_HOME"] == str(tmp_path)
    assert api.environment["TOPICWEAVE_API_PORT"] == "18"
    assert api.environment["TOPICWEAVE_DEMO"] == "autoware"
    assert api.environment["NEO4J_PASSWORD"] == "p"
    console = console_service(settings)
    assert console.environment["TOPICWEAVE_CONSOLE_PORT"] == "19"
    assert console.environment["TOPICWEAVE_API_URL"] == api.url == "http://127.0.0.1:18"
    assert console.environment["TOPICWEAVE_API_KEY_FILE"] == str(tmp_path / "api-key")
    assert not any(name.startswith("NEO4J") for name in console.environment)
    asking = console_service(Settings.load(home=tmp_path, console_key="ask"))
    assert asking.environment["TOPICWEAVE_API_KEY_FILE"] == ""
    assert "TOPICWEAVE_DEMO" not in api_service(Settings.load(home=tmp_path), {}).environment


def test_another_address_is_told_to_all_who_need_it(tmp_path: Path) -> None:
    settings = Settings.load(home=tmp_path, api_host="192.0.2.7", api_port=18)
    assert not settings.is_loopback
    assert api_service(settings, {}).environment["TOPICWEAVE_API_HOST"] == "192.0.2.7"
    assert api_service(settings, {}).url == "http://192.0.2.7:18"
    assert console_service(settings).environment["TOPICWEAVE_API_URL"] == "http://192.0.2.7:18"
    everywhere = {"0.0.0.0": "http://127.0.0.1:18", "::": "http://[::1]:18", "::1": "http://[::1]:18"}
    for host, url in everywhere.items():
        assert Settings.load(home=tmp_path, api_host=host, api_port=18).local_api_url == url
    assert Settings.load(api_host="::1").is_loopback
    assert Settings.load(api_host="localhost").is_loopback
    assert not Settings.load(api_host="0.0.0.0").is_loopback


@pytest.mark.parametrize("host", ["192.0.2.7", "no.such.host.invalid"])
def test_an_address_that_is_not_ours_is_named(tmp_path: Path, host: str) -> None:
    settings = Settings.load(home=tmp_path, api_host=host, api_port=free_port())
    with pytest.raises(CannotRun, match=f"the API cannot listen on {host}"):
        require_ports(settings, console=False)


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_whoever_opens_the_api_is_told_about_tls(tmp_path: Path, host: str, warned: bool) -> None:
    settings = Settings.load(home=tmp_path, api_host=host)
    said: list[str] = []
    _announce(settings, "bolt://x", [api_service(settings, {})], None, said.append)
    assert any("TLS" in line for line in said) == warned


def test_services_take_no_package_from_where_they_are_started(tmp_path: Path) -> None:
    (tmp_path / "ui").mkdir()
    (tmp_path / "ui" / "__init__.py").write_text("raise ImportError('not ours')\n")
    service = console_service(Settings.load(home=tmp_path / "home"))
    environment = {**os.environ, **service.environment, "TOPICWEAVE_CONSOLE_PORT": "none"}
    ended = subprocess.run(
        service.command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "a port is a number" in ended.stderr
