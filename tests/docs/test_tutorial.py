"""The guides as a reader follows them: the tutorial on one running system, the others' commands on the same one.

What is printed is run as it is, in a shell. Only where the system listens differs, and who keeps `topicweave up` in a terminal.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import zipfile
from pathlib import Path

import httpx2
import pytest
from platformdirs import user_cache_path

from tests.docs.pages import GUIDES, ROOT, blocks, code, name_of, text_of
from tests.system.installation import PATIENCE, Installation, api_key

pytestmark = [pytest.mark.system, pytest.mark.timeout(720)]

OTHERS = {"docs/index.md", "docs/algorithms.md", "docs/experiments.md", "docs/spark.md"}
"""Pages whose commands other tests run, or that only name `make up`; the papers' sweeps take minutes, Spark has tests of its own."""
FOLLOWED = {
    "README.md",
    "docs/tutorial.md",
    "docs/cypher.md",
    "docs/api.md",
    "docs/operating.md",
    "docs/backup.md",
}
INTERESTS = {
    "interests.csv": [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("d", "x")],
    "others.csv": [("e", "y"), ("f", "y"), ("f", "z"), ("g", "z")],
}
LINKS = {"links.csv": [("a", "b"), ("b", "c")], "theirs.csv": [("e", "f"), ("f", "g")]}


class Reader:
    """Somebody in the project's directory, with a terminal of their own."""

    def __init__(self, checkout: Path, system: Installation, *, names_the_home: bool = False) -> None:
        self.checkout, self.system, self.names_the_home = checkout, system, names_the_home
        checkout.mkdir()
        for name in (".venv", "backend"):
            (checkout / name).symlink_to(ROOT / name)

    def type(self, *lines: str) -> str:
        """What one shell says to these lines; every one of them succeeds."""
        ours = {"PATH": f".venv/bin:{os.environ['PATH']}"}
        if self.names_the_home:
            ours |= {"HOME": str(self.checkout.parent), "XDG_CACHE_HOME": str(user_cache_path())}
        else:
            ours["TOPICWEAVE_HOME"] = str(self.system.home)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
            cwd=self.checkout,
            env={**os.environ, **ours},
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
            check=False,
        )
        assert done.returncode == 0, (lines, done.stdout, done.stderr, self.system.output)
        return done.stdout


def says(said: str, *expressions: str) -> None:
    for expression in expressions:
        assert re.search(expression, said, re.MULTILINE), (expression, said)


def test_no_page_has_commands_that_nobody_follows() -> None:
    with_commands = {name_of(page) for page in GUIDES if blocks(page.read_text(encoding="utf-8"), "sh")}
    assert FOLLOWED <= with_commands <= FOLLOWED | OTHERS


def test_the_guides_run_as_printed(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "checkout", Installation(tmp_path / "home"))
    systems = [reader.system]
    try:
        # What `make up` runs, but for the console, which has tests of its own.
        reader.system.start("--demo", "autoware", "--no-console")
        reader.system.wait_until_up()
        follow_the_tutorial(reader)
        ask_in_cypher(reader)
        make_keys(reader)
        overlay = take_backups(reader)
        assert reader.system.wait_until_ended() == 0
        reader.system = Installation(reader.checkout / "NEW")
        systems.append(reader.system)
        reader.system.start("--no-console")  # the printed `topicweave up --home NEW`, on ports that are free
        reader.system.wait_until_up()
        restore_into_the_new_home(reader, overlay)
        import_first_interests(reader)
    finally:
        for system in systems:
            system.clean()


def test_the_readme_runs_as_printed(tmp_path: Path) -> None:
    """From the files of its first commands to a backup, on the empty overlay that it starts beside the demo's."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    two, found, files, start, rest = blocks(text, "sh")
    assert [line.split("#")[0].strip() for line in two.splitlines()] == ["make up", "make test"]
    assert found == ". .venv/bin/activate\n"
    export, up = start.splitlines()
    assert up == "topicweave up"
    assert rest.startswith(f"{found}{export}\n")
    reader = Reader(tmp_path / "checkout", Installation(tmp_path / "my-overlay"), names_the_home=True)
    assert reader.type(export, "echo $TOPICWEAVE_HOME") == f"{reader.system.home}\n"
    try:
        reader.system.start("--no-console")
        reader.type(found, files)
        reader.system.wait_until_up()
        says(
            reader.type(rest),
            r"^running \(home",
            r"\b500 brokers\b",
            r"weave \(local\), planned$",
            r"dc \(spark\), planned$",
            r"^good: version \d+: 500 brokers",
        )
        assert zipfile.is_zipfile(reader.checkout / "overlay.zip")
    finally:
        reader.system.clean()


def follow_the_tutorial(reader: Reader) -> None:
    """From top to bottom in one shell, up to the last block, which stops the system."""
    start, *rest, stop = blocks(text_of("tutorial.md"), "sh")
    assert (start, stop) == ("make up\n", "topicweave down\n")
    said = reader.type(*rest)
    says(
        said,
        r"^running \(home",
        r"^good: version 1: 94 brokers",
        r'"opened":\[\["[^]]*"my-broker"\]',  # the join, by the API
        r'"closed_reasons":\["an end has left"',  # and the leave
        r"\bjoin\b.*my-broker",  # and the history that tells of them
        r"\bleave\b.*my-broker",
        r"opened and .* closed in 200 rounds",
        r"weave \(local\), planned$",
        r"weave \(local\), active$",
        r"^good: version (?!1:)",
    )
    assert zipfile.is_zipfile(reader.checkout / "tutorial.zip")


def ask_in_cypher(reader: Reader) -> None:
    """Five ways to ask by the command line, and two calls of the API at its default address."""
    asked, called = blocks(text_of("cypher.md"), "sh")
    said = reader.type(asked)
    says(said, r"^.*\bhubs\b.*Which brokers keep the most links\?", r"^day,", r"^\s*[{\[]$", r"^MATCH ")
    assert "127.0.0.1:8080/" in called
    said = reader.type(called.replace("127.0.0.1:8080", f"127.0.0.1:{reader.system.api_port}"))
    found = [json.loads(answer) for answer in re.findall(r"[\[{].*?(?=[\[{]\"columns|\Z)", said, re.DOTALL)]
    assert "hubs" in str(found[0])
    assert len(found[-1]["rows"]) == 5


def make_keys(reader: Reader) -> None:
    (block,) = blocks(text_of("api.md"), "sh")
    add, rest = block.split("\n", 1)
    said = reader.type(add)
    key = max(re.findall(r"\S+", said), key=len)
    says(reader.type(rest), r"\bagent-7\b.*\boperate\b")
    url = f"http://127.0.0.1:{reader.system.api_port}/v1"
    assert httpx2.get(f"{url}/me", headers={"X-API-Key": key}, trust_env=False).json()["scope"] == "operate"


def take_backups(reader: Reader) -> dict[str, object]:
    """By both pages; what is in the file can be read and proven without the system. Ends as the tutorial does."""
    (copy, up, restore), (down, *again) = (
        blocks(text_of("backup.md"), "sh"),
        blocks(text_of("operating.md"), "sh")[1:],
    )
    assert [text.replace("overlay.zip", "FILE.zip").split("#")[0].split() for text in again] == [
        restore.split()
    ]
    reader.type(copy)
    (unzip, verify) = code(next(line for line in text_of("backup.md").splitlines() if "`unzip" in line))
    assert unzip == "unzip FILE.zip"
    with zipfile.ZipFile(reader.checkout / "FILE.zip") as file:
        file.extractall(reader.checkout)
    says(reader.type(verify), r"^yes: all \d+ topics are connected")
    overlay = overlay_of(reader.system)
    first, second, third = down.splitlines()
    assert (second, third.split("#")[0].split()) == ("topicweave down", up.split("#")[0].split())
    says(reader.type(first, second), r"^all stopped$")
    return overlay


def restore_into_the_new_home(reader: Reader, overlay: dict[str, object]) -> None:
    restore = blocks(text_of("operating.md"), "sh")[2]
    assert restore == "topicweave restore overlay.zip --home NEW\n"
    says(reader.type(restore), r"\b94 brokers\b")
    assert overlay_of(reader.system) == overlay


def import_first_interests(reader: Reader) -> None:
    """Into the new system, once its brokers have left: links are adopted where no broker is."""
    for name, header, table in (
        *((name, "broker,topic", rows) for name, rows in INTERESTS.items()),
        *((name, "broker_a,broker_b", rows) for name, rows in LINKS.items()),
    ):
        (reader.checkout / name).write_text("\n".join([header, *map(",".join, table)]) + "\n")
    url, key = f"http://127.0.0.1:{reader.system.api_port}/v1", api_key(reader.system.home)
    pages = httpx2.get(f"{url}/brokers", params={"limit": 500}, headers=key, trust_env=False).json()["items"]
    leaves = [{"op": "leave", "broker": broker["id"]} for broker in pages]
    assert httpx2.post(f"{url}/changes", json=leaves, headers=key, trust_env=False).is_success
    said = reader.type(blocks(text_of("operating.md"), "sh")[0])
    says(said, r"^nothing was stored$", r"^kept 2 links, 1 are missing")
    found = overlay_of(reader.system)
    assert (found["brokers"], found["topics_apart"]) == (7, 0)


def overlay_of(system: Installation) -> dict[str, object]:
    """How large the overlay is, and whether any topic is apart."""
    url = f"http://127.0.0.1:{system.api_port}/v1/overlay"
    told = httpx2.get(url, headers=api_key(system.home), trust_env=False).json()
    return {name: told[name] for name in ("version", "brokers", "topics", "links", "topics_apart")}
