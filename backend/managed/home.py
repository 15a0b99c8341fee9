"""One home directory is one installation: what lies where, its secrets, its lock, its record of what runs."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from backend.errors import BadValue, CannotRun
from backend.managed.processes import ProcessMark, write_whole


def secret(path: Path) -> str:
    """The secret kept in ``path`` (mode 600), made the first time it is asked for."""
    try:
        kept = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        kept = ""
    if not kept:
        kept = secrets.token_urlsafe(24)
        write_whole(path, f"{kept}\n", mode=0o600)
    path.chmod(0o600)
    return kept


@dataclass(frozen=True)
class Running:
    """What ``up`` writes down while it runs, for ``status``, ``down`` and the next ``up``."""

    up: ProcessMark
    state: str
    api: str
    console: str | None
    neo4j: str
    children: list[ProcessMark] = field(default_factory=list)

    def to_json(self) -> str:
        """As it stands in the file."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Running:
        """From the file's text; ValueError, KeyError or TypeError if it is none of ours."""
        record = json.loads(text)
        children = [ProcessMark(**child) for child in record.pop("children")]
        return cls(**{**record, "up": ProcessMark(**record["up"]), "children": children})

    def alive(self) -> bool:
        """Does that ``up`` still run?"""
        return self.up.find() is not None


class Home:
    """The directory of an installation."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.logs = self.path / "logs"
        self._record = self.path / "running.json"

    def prepare(self) -> None:
        """Make the directory, for its owner alone; CannotRun if that is not possible."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.logs.mkdir(exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise BadValue(f"home: must be a folder (got {str(self.path)!r})", field="home") from error
        except OSError as error:
            raise CannotRun(f"the home {self.path} cannot be made or written: {error.strerror}") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the home for this process; the system lets go of it however the process ends."""
        lock = FileLock(self.path / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            running = self.running()
            by = f"process {running.up.pid}" if running and running.alive() else "another process"
            raise CannotRun(
                f"the home {self.path} is in use by {by}: stop it with `topicweave down`, or choose another --home"
            ) from None
        except OSError as error:
            raise CannotRun(f"the home {self.path} cannot be locked: {error.strerror}") from error
        try:
            yield
        finally:
            lock.release()

    def running(self) -> Running | None:
        """What the last ``up`` wrote down, whether it still lives or was killed; None after a clean end."""
        try:
            return Running.from_json(self._record.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
            return None

    def record(self, running: Running | None) -> None:
        """Write down what runs; None: nothing does."""
        if running is None:
            self._record.unlink(missing_ok=True)
        else:
            write_whole(self._record, running.to_json())
