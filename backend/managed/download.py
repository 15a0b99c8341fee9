"""Fetching jars: sixteen at a time, resumed where a fetch was cut off, verified before they get their name."""

from __future__ import annotations

import ssl
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread

import httpx2

from backend.errors import CannotRun
from backend.managed.jars import Jar, Say, sha256_of

AT_A_TIME = 16
_TRIES = 3
_TIMEOUT = httpx2.Timeout(30, connect=10)


class Progress:
    """What is told while jars come in: a bar on a terminal, a line every few seconds in a pipe."""

    def __init__(self, jars: int) -> None:
        self.jars = jars
        self.done = 0
        self.bytes = 0
        self._lock = Lock()

    def received(self, count: int) -> None:
        """So many bytes more have come in."""
        with self._lock:
            self.bytes += count

    def finished(self) -> None:
        """One jar more is there and verified."""
        with self._lock:
            self.done += 1


def download(jars: Sequence[Jar], directory: Path, base_url: str, say: Say) -> None:
    """Fetch every jar into ``directory``; the first that cannot be had ends it with an error that names it.

    A file is written as ``NAME.part`` and renamed once its checksum is right, so a file with its real name is
    whole whatever happens; a later run asks for the rest of a ``.part`` only.
    """
    say(f"fetching {_count(len(jars))} into {directory}")
    stop = Event()
    progress = Progress(len(jars))
    # The machine's own trust store, not one shipped with a library: companies add their own authority there.
    client = httpx2.Client(
        verify=ssl.create_default_context(),
        timeout=_TIMEOUT,
        follow_redirects=True,
        limits=httpx2.Limits(max_connections=AT_A_TIME, max_keepalive_connections=AT_A_TIME),
    )
    with client, ThreadPoolExecutor(AT_A_TIME) as threads, _shown(progress, say):
        tasks = [threads.submit(_fetch, client, jar, directory, base_url, progress, stop) for jar in jars]
        try:
            wait(tasks, return_when=FIRST_EXCEPTION)
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            stop.set()
            threads.shutdown(cancel_futures=True)
    say(f"fetched {_count(progress.done)}, {progress.bytes / 1e6:.0f} MB, checksums right")


def _fetch(
    client: httpx2.Client, jar: Jar, directory: Path, base_url: str, progress: Progress, stop: Event
) -> None:
    url = f"{base_url.rstrip('/')}/{jar.repository_path}"
    target = directory / jar.file_name
    part = directory / f"{jar.file_name}.part"
    for last in (False, True):
        try:
            _receive(client, url, part, progress, stop)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise CannotRun(
                f"cannot fetch {jar.file_name} from {url} ({_reason(error)}). "
                f"Without a network, bring {jar.coordinate} by other means and put it at {target}; "
                "a mirror's address goes into TOPICWEAVE_MAVEN_URL"
            ) from error
        if stop.is_set():
            return
        if sha256_of(part) == jar.sha256:
            part.replace(target)
            progress.finished()
            return
        part.unlink()
        if last:
            raise CannotRun(
                f"{jar.file_name} from {url} has a wrong checksum, twice: "
                f"it is not the {jar.coordinate} this version of TopicWeave was tested with. "
                f"Ask whoever runs that repository, or put the right file at {target}"
            )


def _receive(client: httpx2.Client, url: str, part: Path, progress: Progress, stop: Event) -> None:
    """Bring ``part`` to its full length, going on where it ends; a cut connection is taken up again."""
    for attempt in range(1, _TRIES + 1):
        try:
            _receive_once(client, url, part, progress, stop)
            return
        except httpx2.HTTPError as error:
            gone = isinstance(error, httpx2.HTTPStatusError) and error.response.status_code < 500
            if gone or attempt == _TRIES or stop.is_set():
                raise
            time.sleep(0.2 * attempt)


def _receive_once(client: httpx2.Client, url: str, part: Path, progress: Progress, stop: Event) -> None:
    have = part.stat().st_size if part.exists() else 0
    with client.stream("GET", url, headers={"Range": f"bytes={have}-"} if have else {}) as response:
        if response.status_code == httpx2.codes.RANGE_NOT_SATISFIABLE:
            # Nothing is left to ask for: whole already, or longer than the real one. The checksum tells.
            return
        response.raise_for_status()
        resumed = response.status_code == httpx2.codes.PARTIAL_CONTENT
        with part.open("ab" if resumed else "wb") as file:
            for block in response.iter_bytes():
                if stop.is_set():
                    return
                file.write(block)
                progress.received(len(block))


def _count(jars: int) -> str:
    return "1 jar" if jars == 1 else f"{jars} jars"


def _reason(error: Exception) -> str:
    if isinstance(error, httpx2.HTTPStatusError):
        return f"HTTP status {error.response.status_code}"
    return str(error) or type(error).__name__


@contextmanager
def _shown(progress: Progress, say: Say) -> Iterator[None]:
    if sys.stderr.isatty():
        with _bar(progress):
            yield
    else:
        with _words(progress, say):
            yield


@contextmanager
def _bar(progress: Progress) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[megabytes]:.0f} MB"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("jars", total=progress.jars, megabytes=0.0)
        with _every(0.1, lambda: bar.update(task, completed=progress.done, megabytes=progress.bytes / 1e6)):
            yield


@contextmanager
def _words(progress: Progress, say: Say) -> Iterator[None]:
    with _every(
        5, lambda: say(f"fetched {progress.done} of {progress.jars} jars, {progress.bytes / 1e6:.0f} MB")
    ):
        yield


@contextmanager
def _every(seconds: float, tell: Callable[[], None]) -> Iterator[None]:
    over = Event()

    def run() -> None:
        while not over.wait(seconds):
            tell()

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        if seconds < 1:
            tell()
