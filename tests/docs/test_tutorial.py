"""The tutorial as a reader follows it: one running system, every command from top to bottom in one shell."""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, text_of
from tests.system.installation import PATIENCE, Installation

pytestmark = [pytest.mark.system, pytest.mark.timeout(720)]


def test_the_tutorial_runs_from_top_to_bottom(tmp_path: Path) -> None:
    start, *rest = blocks(text_of("tutorial.md"), "sh")
    assert start == "make up\n"
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in (".venv", "backend"):
        (checkout / name).symlink_to(ROOT / name)
    system = Installation(tmp_path / "home")
    try:
        # What `make up` runs, but for the console, which has tests of its own.
        system.start("--demo", "autoware", "--no-console")
        system.wait_until_up()
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join(rest)],
            cwd=checkout,
            env={**os.environ, "TOPICWEAVE_HOME": str(system.home)},
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
            check=False,
        )
        assert done.returncode == 0, (done.stdout, done.stderr, system.output)
        said = done.stdout
        for words in (
            r"^running \(home",
            r"^good: version 1: 94 brokers",
            r'"opened":\[\["[^]]*"my-broker"\]',  # curl: the join
            r'"closed_reasons":\["an end has left"',  # curl: the leave
            r"\bjoin\b.*my-broker",  # and the history that tells of them
            r"\bleave\b.*my-broker",
            r"opened and .* closed in 200 rounds",
            r"weave \(local\), planned$",
            r"weave \(local\), active$",
            r"^good: version (?!1:)",
            r"^all stopped$",
        ):
            assert re.search(words, said, re.MULTILINE), (words, said)
        assert zipfile.is_zipfile(checkout / "tutorial.zip")
        assert system.wait_until_ended() == 0
    finally:
        system.clean()
