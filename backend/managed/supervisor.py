"""`up`: brings an installation up, keeps watch, and takes all of it down again, whatever ends it.

Neo4j, the API and the console are started at once: the two Python processes spend their first seconds importing,
while Neo4j boots. The API waits for Neo4j by itself.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event
from types import FrameType, TracebackType

from backend.demos import check_demo
from backend.errors import CannotRun
from backend.managed.home import Home, Running, secret
from backend.managed.jars import Say, neo4j_jars
from backend.managed.java import find_java
from backend.managed.processes import Child, ProcessMark, require_port, stop_orphan
from backend.managed.server import ManagedNeo4j
from backend.managed.services import Service, api_service, console_service
from backend.settings import Settings, beyond_loopback

START_PATIENCE = 180.0
STOP_PATIENCE = 15.0
_LOOK_EVERY = 0.1
_REMIND_EVERY = 15.0


class StopSignals:
    """Ctrl-C, SIGTERM and a closed terminal, turned into a request that is honoured between two steps.

    A signal that raised wherever it struck could lose a child between its start and its record. Only where
    nothing has been started yet (``raising``: the long download) does it break in.
    """

    def __init__(self) -> None:
        self.requested = Event()
        self._raising = False
        self._before: dict[int, signal.Handlers | Callable[[int, FrameType | None], object] | int | None] = {}

    def __enter__(self) -> StopSignals:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Within, a signal ends the work at hand; one that came before does so at once."""
        self._raising = True
        try:
            if self.requested.is_set():
                raise KeyboardInterrupt
            yield
        finally:
            self._raising = False

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.requested.set()
        if self._raising:
            self._raising = False
            raise KeyboardInterrupt


class Supervisor:
    """One run of ``up`` in one home, over the processes it is given."""

    def __init__(
        self, home: Home, server: ManagedNeo4j | None, neo4j_uri: str, services: Sequence[Service], say: Say
    ) -> None:
        self._home = home
        self._server = server
        self._neo4j_uri = neo4j_uri
        self._services = services
        self._say = say
        self._children: list[Child] = []
        self._state = "starting"

    def run(self, signals: StopSignals, on_up: Callable[[], None]) -> bool:
        """Start all, call ``on_up`` once all serve, watch until a signal asks to stop; was all up by then?

        CannotRun, after everything has been stopped, if a process ends by itself or does not come up.
        """
        try:
            self._start()
            up = self._wait_until_up(signals)
            if up:
                self._record("running")
                on_up()
                while not signals.requested.wait(_LOOK_EVERY):
                    self._require_all_alive()
            return up
        finally:
            self._stop()

    def _start(self) -> None:
        self._record("starting")
        if self._server is not None:
            self._server.launch()
            assert self._server.child is not None
            self._started(self._server.child)
        for service in self._services:
            log = self._home.logs / f"{service.name.split()[-1].lower()}.log"
            self._started(Child(service.name, service.command, {**os.environ, **service.environment}, log))

    def _started(self, child: Child) -> None:
        self._children.append(child)
        self._record("starting")

    def _wait_until_up(self, signals: StopSignals) -> bool:
        waiting: dict[str, Callable[[], bool]] = {service.name: service.ready for service in self._services}
        if self._server is not None:
            # That we are let in is shown by the API, which serves nothing before; so the driver, two seconds of
            # importing and 100 MB, stays out of this process.
            waiting = {"Neo4j": self._server.answers, **waiting}
        began = time.monotonic()
        reminded = began
        while waiting:
            for name, ready in list(waiting.items()):
                self._require_all_alive()
                if ready():
                    del waiting[name]
                    self._say(f"{name} answers after {time.monotonic() - began:.1f} s")
            if signals.requested.wait(_LOOK_EVERY if waiting else 0):
                return False
            now = time.monotonic()
            if now - began > START_PATIENCE:
                self._fail(
                    next(child for child in self._children if child.name in waiting), "does not answer"
                )
            if now - reminded > _REMIND_EVERY:
                reminded = now
                self._say(f"still waiting for {' and '.join(waiting)}")
        return True

    def _require_all_alive(self) -> None:
        for child in self._children:
            if child.exit_code() is not None:
                self._fail(child, child.ending())

    def _fail(self, child: Child, what: str) -> None:
        print(f"{child.name} {what}. Its log ends:\n{child.tail()}", file=sys.stderr, flush=True)  # noqa: T201
        raise CannotRun(f"{child.name} {what}; everything was stopped. Its whole log: {child.log}")

    def _stop(self) -> None:
        self._record("stopping")
        if self._children:
            self._say("stopping")
        # Those who ask come down before those who answer; Neo4j last, and cleanly.
        for child in reversed(self._children):
            if self._server is not None and child is self._server.child:
                self._server.stop()
            else:
                child.stop(STOP_PATIENCE)
        self._home.record(None)

    def _record(self, state: str) -> None:
        urls = {service.option: service.url for service in self._services}
        self._home.record(
            Running(
                up=ProcessMark.of("up", os.getpid()),
                state=state,
                api=urls.get("--api-port", ""),
                console=urls.get("--console-port"),
                neo4j=self._neo4j_uri,
                children=[child.mark for child in self._children],
            )
        )


def stop_orphans(home: Home, say: Say) -> int:
    """Stop what an ``up`` that was killed left running in this home (hold its lock); how many?"""
    left = home.running()
    stopped = [mark for mark in reversed(left.children if left else []) if stop_orphan(mark, STOP_PATIENCE)]
    for mark in stopped:
        say(f"stopped {mark.name} (process {mark.pid}), left over from an `up` that was killed")
    home.record(None)
    return len(stopped)


def bring_up(settings: Settings, *, console: bool, say: Say) -> bool:
    """``topicweave up``: runs until stopped; True if everything had come up by then."""
    if settings.demo is not None:
        check_demo(settings.demo)
    home = Home(settings.home)
    home.prepare()
    settings = settings.model_copy(update={"home": home.path})
    with home.locked(), StopSignals() as signals:
        stop_orphans(home, say)
        require_ports(settings, console=console)
        secret(settings.api_key_file)
        try:
            with signals.raising():
                server, neo4j = _neo4j(settings, say)
        except KeyboardInterrupt:
            return False
        services = [api_service(settings, neo4j)]
        if console:
            services.append(console_service(settings))
        say(
            f"starting {', '.join([*(['Neo4j'] if server else []), *(service.name for service in services)])}"
        )
        supervisor = Supervisor(home, server, neo4j["NEO4J_URI"], services, say)
        return supervisor.run(signals, lambda: _announce(settings, neo4j["NEO4J_URI"], services, server, say))


def require_ports(settings: Settings, *, console: bool) -> None:
    """CannotRun if a port we are about to use is taken."""
    require_port(settings.api_port, "the API", "--api-port", settings.api_host)
    if console:
        require_port(settings.console_port, "the console", "--console-port")
    if not settings.neo4j_uri:
        require_port(settings.bolt_port, "Neo4j (Bolt)", "--bolt-port")


def _neo4j(settings: Settings, say: Say) -> tuple[ManagedNeo4j | None, dict[str, str]]:
    """Our own server, not started yet, or None for the one of NEO4J_URI; and what the API must know of it."""
    if settings.neo4j_uri:
        from backend.managed.bolt import check_server

        version = check_server(settings)
        say(f"using the Neo4j {version} at {settings.neo4j_uri}")
        assert settings.neo4j_password is not None
        return None, _neo4j_environment(
            settings.neo4j_uri, settings.neo4j_user, settings.neo4j_password.get_secret_value()
        )
    jars = neo4j_jars(settings, say)
    java = find_java(say)
    say(f"using {'the bundled ' if java.bundled else ''}Java {java.version} ({java.executable})")
    server = ManagedNeo4j(
        settings.home, settings.bolt_port, java, jars, settings.neo4j_heap_mb, settings.neo4j_page_cache_mb
    )
    return server, _neo4j_environment(server.uri, server.user, server.password)


def _neo4j_environment(uri: str, user: str, password: str) -> dict[str, str]:
    return {"NEO4J_URI": uri, "NEO4J_USER": user, "NEO4J_PASSWORD": password}


def _announce(
    settings: Settings, neo4j_uri: str, services: Sequence[Service], server: ManagedNeo4j | None, say: Say
) -> None:
    urls = {service.option: service.url for service in services}
    say("")
    say("TopicWeave is up.")
    if console := urls.get("--console-port"):
        say(f"  console  {console}")
    say(f"  API      {urls['--api-port']}  (its key is in {settings.api_key_file})")
    if not settings.is_loopback:
        say(f"  careful  {beyond_loopback(settings)}")
    password = f"  (user neo4j, password in {settings.neo4j_password_file})" if server else ""
    say(f"  Neo4j    {neo4j_uri}{password}")
    say(f"  logs     {settings.home / 'logs'}")
    say("Ctrl-C stops all of it.")
