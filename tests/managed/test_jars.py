"""Jars: the lock files, and the download against a real HTTP server that misbehaves on demand."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread

import pytest

from backend.errors import CannotRun
from backend.managed.jars import Jar, fetch_jars, parse_lock, read_lock
from backend.managed.lock_jars import LOCKS, lock_text
from backend.managed.processes import free_port


@dataclass
class Repository:
    """A Maven repository on loopback; ``spoilt`` says how often a file is served with wrong content first."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    spoilt: dict[str, int] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def publish(self, artifact: str, content: bytes) -> Jar:
        jar = Jar("org.example.some", artifact, "1.0", "", hashlib.sha256(content).hexdigest())
        self.files[f"/{jar.repository_path}"] = content
        return jar

    def answer(self, path: str, wanted: str | None) -> tuple[int, bytes]:
        with self.lock:
            self.requests.append((path, wanted))
            if path not in self.files:
                return 404, b""
            content = self.files[path]
            if self.spoilt.get(path, 0) > 0:
                self.spoilt[path] -= 1
                return 200, b"x" * len(content)
            if wanted:
                begin = int(wanted.removeprefix("bytes=").removesuffix("-"))
                return (206, content[begin:]) if begin < len(content) else (416, b"")
            return 200, content


@pytest.fixture
def repository() -> Iterator[Repository]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = shelf.answer(self.path, self.headers.get("Range"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    shelf = Repository(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield shelf
    server.shutdown()
    thread.join()
    server.server_close()


def quiet(line: str) -> None:
    pass


def test_locks_name_every_jar_once_and_no_address() -> None:
    for name, (coordinate, _) in LOCKS.items():
        jars = read_lock(name)
        text = lock_text(coordinate, jars)
        assert list(parse_lock(text)) == jars
        assert coordinate in {jar.coordinate for jar in jars}
        assert len({jar.file_name for jar in jars}) == len(jars)
        assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) for jar in jars)
        assert "://" not in text


def test_classifiers_are_part_of_name_and_path() -> None:
    (jar,) = parse_lock(f"io.netty:netty-epoll:4.1:linux-x86_64  {'0' * 64}\n")
    assert jar.repository_path == "io/netty/netty-epoll/4.1/netty-epoll-4.1-linux-x86_64.jar"


def test_jars_that_would_share_a_file_are_not_locked() -> None:
    twins = [Jar(group, "same", "1", "", "0" * 64) for group in ("a", "b")]
    with pytest.raises(CannotRun, match="one file name"):
        lock_text("a:same:1", twins)


def test_fetches_all_and_a_second_run_asks_for_nothing(repository: Repository, tmp_path: Path) -> None:
    jars = [repository.publish(f"part{i}", f"content {i}".encode()) for i in range(40)]
    said: list[str] = []
    paths = fetch_jars(jars, tmp_path, repository.url, said.append)
    assert [path.read_bytes() for path in paths] == [f"content {i}".encode() for i in range(40)]
    assert said[0].startswith("fetching 40 jars")
    assert not list(tmp_path.glob("*.part"))
    repository.requests.clear()
    said.clear()
    assert fetch_jars(jars, tmp_path, repository.url, said.append) == paths
    assert repository.requests == []
    assert said == []


def test_a_damaged_or_missing_file_is_fetched_again_alone(repository: Repository, tmp_path: Path) -> None:
    jars = [repository.publish(f"part{i}", f"content {i}".encode()) for i in range(4)]
    paths = fetch_jars(jars, tmp_path, repository.url, quiet)
    repository.requests.clear()
    paths[1].write_bytes(b"cut")
    paths[2].unlink()
    fetch_jars(jars, tmp_path, repository.url, quiet)
    assert sorted(path for path, _ in repository.requests) == [f"/{jar.repository_path}" for jar in jars[1:3]]
    assert [path.read_bytes() for path in paths] == [f"content {i}".encode() for i in range(4)]


def test_a_file_brought_by_hand_is_taken(repository: Repository, tmp_path: Path) -> None:
    jar = repository.publish("part", b"content")
    (tmp_path / jar.file_name).write_bytes(b"content")
    fetch_jars([jar], tmp_path, "http://127.0.0.1:1", quiet)
    assert repository.requests == []


def test_a_cut_fetch_is_resumed(repository: Repository, tmp_path: Path) -> None:
    jar = repository.publish("part", b"0123456789")
    (tmp_path / f"{jar.file_name}.part").write_bytes(b"01234")
    (path,) = fetch_jars([jar], tmp_path, repository.url, quiet)
    assert path.read_bytes() == b"0123456789"
    assert repository.requests == [(f"/{jar.repository_path}", "bytes=5-")]


def test_a_wrong_beginning_is_thrown_away(repository: Repository, tmp_path: Path) -> None:
    jar = repository.publish("part", b"0123456789")
    (tmp_path / f"{jar.file_name}.part").write_bytes(b"something else and longer")
    (path,) = fetch_jars([jar], tmp_path, repository.url, quiet)
    assert path.read_bytes() == b"0123456789"


def test_a_wrong_checksum_once_is_made_good(repository: Repository, tmp_path: Path) -> None:
    jar = repository.publish("part", b"content")
    repository.spoilt[f"/{jar.repository_path}"] = 1
    (path,) = fetch_jars([jar], tmp_path, repository.url, quiet)
    assert path.read_bytes() == b"content"
    assert len(repository.requests) == 2


def test_a_wrong_checksum_twice_names_the_jar(repository: Repository, tmp_path: Path) -> None:
    good = repository.publish("good", b"good")
    bad = repository.publish("bad", b"content")
    repository.spoilt[f"/{bad.repository_path}"] = 5
    with pytest.raises(CannotRun, match=r"bad-1\.0\.jar .*wrong checksum, twice") as caught:
        fetch_jars([good, bad], tmp_path, repository.url, quiet)
    assert "org.example.some:bad:1.0" in caught.value.detail
    assert not (tmp_path / bad.file_name).exists()
    assert [path for path, _ in repository.requests].count(f"/{bad.repository_path}") == 2


def test_no_network_names_the_file_and_its_place(tmp_path: Path) -> None:
    jar = Jar("org.example.some", "part", "1.0", "", "0" * 64)
    with pytest.raises(CannotRun) as caught:
        fetch_jars([jar], tmp_path, f"http://127.0.0.1:{free_port()}", quiet)
    assert "cannot fetch part-1.0.jar" in caught.value.detail
    assert f"put it at {tmp_path / 'part-1.0.jar'}" in caught.value.detail
    assert "TOPICWEAVE_MAVEN_URL" in caught.value.detail


def test_a_jar_the_repository_lacks_is_not_asked_for_again(repository: Repository, tmp_path: Path) -> None:
    jar = Jar("org.example.some", "absent", "1.0", "", "0" * 64)
    with pytest.raises(CannotRun, match=r"absent-1\.0\.jar .*HTTP status 404"):
        fetch_jars([jar], tmp_path, repository.url, quiet)
    assert len(repository.requests) == 1
