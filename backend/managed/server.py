"""The Neo4j server we run ourselves: Community edition, from its published jars, on loopback, for one home.

Usable on its own, for a test or a script::

    with ManagedNeo4j(home, bolt_port, find_java(), neo4j_jars(settings, print)) as server:
        GraphDatabase.driver(server.uri, auth=(server.user, server.password))
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from backend.errors import CannotRun
from backend.managed.home import secret
from backend.managed.java import Java
from backend.managed.processes import Child, listens, read_marks, stop_orphan, tail, write_marks, write_whole

START_PATIENCE = 120.0
STOP_PATIENCE = 30.0

# The last four make the JVM's optimising compiler wait four times longer: coming up, most of its work is for code
# that runs for a second and never again. Measured until Bolt answers: 11 s of processor time instead of 14; imports
# and small transactions after it take no more than before.
_JVM = """\
--add-opens=java.base/java.nio=ALL-UNNAMED
--add-opens=java.base/java.io=ALL-UNNAMED
--add-opens=java.base/sun.nio.ch=ALL-UNNAMED
-XX:+UseG1GC
-XX:+ExitOnOutOfMemoryError
-Dlog4j2.disable.jmx=true
-Dio.netty.tryReflectionSetAccessible=true
-XX:Tier4InvocationThreshold=20000
-XX:Tier4MinInvocationThreshold=2400
-XX:Tier4CompileThreshold=60000
-XX:Tier4BackEdgeThreshold=160000
"""

_CONF = """\
# Written anew at every start: changes made here are lost.
server.default_listen_address=127.0.0.1
server.bolt.enabled=true
server.bolt.listen_address=127.0.0.1:{bolt_port}
server.bolt.advertised_address=127.0.0.1:{bolt_port}
# Everything we do goes through Bolt.
server.http.enabled=false
server.https.enabled=false
# A server that stands still is noticed: drivers give a connection up that says nothing for two of these.
server.bolt.connection_keep_alive=10s
server.bolt.connection_keep_alive_probes=2
server.memory.pagecache.size={page_cache_mb}m
dbms.usage_report.enabled=false
# The log of a database is preallocated: 256 MB each, times two, is much for an overlay of a few thousand brokers.
db.tx_log.rotation.size=64m
# The databases are closed in a third of a second; without this the network layer then idles for ten.
internal.dbms.bolt.netty_server_shutdown_quiet_period=0
"""


class ManagedNeo4j:
    """A Neo4j server with its configuration, data and logs in ``home/neo4j``.

    ``short_lived`` is for tests: the JVM compiles with its first compiler only, which saves a third of the work
    of coming up and costs speed later.
    """

    user = "neo4j"

    def __init__(
        self,
        home: Path,
        bolt_port: int,
        java: Java,
        jars: Sequence[Path],
        heap_mb: int = 1024,
        page_cache_mb: int = 256,
        *,
        short_lived: bool = False,
    ) -> None:
        self.directory = home.absolute() / "neo4j"
        self.bolt_port = bolt_port
        self.uri = f"bolt://127.0.0.1:{bolt_port}"
        self.child: Child | None = None
        self._password_file = home / "neo4j-password"
        self._java = java
        self._jars = jars
        self._heap_mb = heap_mb
        self._page_cache_mb = page_cache_mb
        self._short_lived = short_lived

    @property
    def password(self) -> str:
        """The password of ``user``, kept in the home."""
        return secret(self._password_file)

    def __enter__(self) -> ManagedNeo4j:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, patience: float = START_PATIENCE) -> None:
        """Start it and wait until it lets us in; CannotRun with the end of its log if it does not."""
        self.launch()
        deadline = time.monotonic() + patience
        try:
            while not self.ready():
                if self.child is not None and self.child.exit_code() is not None:
                    raise CannotRun(
                        f"Neo4j {self.child.ending()} while starting; its log ends:\n{self.log_tail()}"
                    )
                if time.monotonic() > deadline:
                    raise CannotRun(
                        f"Neo4j does not answer after {patience:.0f} s; its log ends:\n{self.log_tail()}"
                    )
                time.sleep(0.05)
        except BaseException:
            self.stop()
            raise

    def launch(self) -> None:
        """Write its configuration and start its process, without waiting.

        A server left over from an owner that was killed is stopped first: it holds the data's lock.
        """
        for name in ("conf", "logs"):
            (self.directory / name).mkdir(parents=True, exist_ok=True)
        self.stop_orphan()
        self._hand_over_password()
        conf = _CONF.format(bolt_port=self.bolt_port, page_cache_mb=self._page_cache_mb)
        (self.directory / "conf" / "neo4j.conf").write_text(conf, encoding="utf-8")
        self.child = Child("Neo4j", self._command(), os.environ, self.directory / "logs" / "console.log")
        write_marks(self._pid_file, [self.child.mark])

    def answers(self) -> bool:
        """One look: does it take connections? It does so last of all, once its databases serve."""
        return listens(self.bolt_port)

    def ready(self) -> bool:
        """One look: is it up, and are we let in?"""
        # The driver takes a second to import; Neo4j boots meanwhile.
        from backend.managed.bolt import lets_in

        return self.answers() and lets_in(self.uri, self.user, self.password)

    def stop(self) -> None:
        """Stop it cleanly; it is gone when this returns. Stopping what does not run does nothing."""
        if self.child is not None:
            self.child.stop(STOP_PATIENCE)
            self.child = None
            self._pid_file.unlink(missing_ok=True)

    def stop_orphan(self) -> bool:
        """Stop a server this home has from an owner that is gone; was there one?"""
        found = any(stop_orphan(mark, STOP_PATIENCE) for mark in read_marks(self._pid_file))
        self._pid_file.unlink(missing_ok=True)
        return found

    def log_tail(self, lines: int = 40) -> str:
        """The end of Neo4j's own log, which with ``--console-mode`` holds what the JVM says too."""
        return tail(self.directory / "logs" / "console.log", lines)

    def _hand_over_password(self) -> None:
        """Tell a server that has no data yet its user's password, the way ``neo4j-admin`` does: by a file.

        So the very first login works. Changing the initial password through Bolt instead makes the first start
        load all of Cypher for one statement (2 to 15 s, as the machine is busy), and shows whoever logs in at
        that moment the door. Nothing is lost by a crash either: the file stays, and Neo4j reads it when it makes
        its first user.
        """
        password = self.password
        if not (self.directory / "data" / "databases" / "system").exists():
            auth = self.directory / "data" / "dbms" / "auth.ini"
            auth.parent.mkdir(parents=True, exist_ok=True)
            write_whole(auth, f"{self.user}:{_credential(password)}:\n", mode=0o600)

    @property
    def _pid_file(self) -> Path:
        return self.directory / "pid"

    def _command(self) -> list[str]:
        # The class path has 213 entries, so it goes by a file: the process list stays readable.
        options = self.directory / "conf" / "java.options"
        # One compiler alone reserves 48 MB for its code, and stops compiling for good when they are full.
        quick = "-XX:TieredStopAtLevel=1\n-XX:ReservedCodeCacheSize=240m\n" if self._short_lived else ""
        class_path = os.pathsep.join(map(str, self._jars))
        options.write_text(f"{_JVM}{quick}-cp\n{_quoted(class_path)}\n", encoding="utf-8")
        return [
            str(self._java.executable),
            f"-Xms{self._heap_mb // 2}m",
            f"-Xmx{self._heap_mb}m",
            f"-XX:ErrorFile={self.directory / 'logs' / 'crash.log'}",
            f"@{options}",
            "org.neo4j.server.CommunityEntryPoint",
            f"--home-dir={self.directory}",
            f"--config-dir={self.directory / 'conf'}",
            "--console-mode",
        ]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _credential(password: str) -> str:
    """A password as Neo4j stores it: SHA-256 of salt and password, hashed 1024 times in all."""
    salt = secrets.token_bytes(32)
    digest = hashlib.sha256(salt + password.encode()).digest()
    for _ in range(1023):
        digest = hashlib.sha256(digest).digest()
    return f"SHA-256,{digest.hex()},{salt.hex()},1024"
