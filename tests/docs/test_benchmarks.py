"""The benchmarks: which real interests they want, and what they do without them; no file leans on what is outside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backend.experiments.sources import data_file, data_files, left_out
from benchmarks import engine, files, ktco, weave
from tests.docs.pages import ROOT

README = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
PROGRAMS = sorted((ROOT / "benchmarks").glob("*.py"))
CASES = [*(row.source for row in engine.ROWS), *(row.source for row in ktco.ROWS), *weave.WANTED]
WANTED = {case for case in CASES if "/" not in case}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of real interests with one file of the names that are wanted."""
    monkeypatch.setenv("TOPICWEAVE_DATA", str(tmp_path))
    for name in ("ha_git_authors.csv.gz", "ha_git_authors_named.csv.gz", "README.md"):
        (tmp_path / name).write_bytes(b"")
    return tmp_path


def test_the_folder_holds_what_is_found(folder: Path) -> None:
    assert data_file("ha_git_authors") == folder / "ha_git_authors.csv.gz"
    assert data_file("deezer_hu_genres") is None
    assert data_files() == ["ha_git_authors"]
    assert left_out(["deezer_hu_genres"]) == "left out, TOPICWEAVE_DATA has no such file: deezer_hu_genres"


@pytest.mark.parametrize("program", [engine, ktco, weave])
def test_rows_without_a_file_are_left_out_in_one_line(
    program: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOPICWEAVE_DATA", raising=False)
    real = ["lastfm_asia_mutual_follow", "github_mutual_follow"]
    if program is weave:
        monkeypatch.setattr(weave, "WANTED", dict.fromkeys(real, 0.0))
        said = list(weave._links(0.0))[2:]
    else:
        monkeypatch.setattr(engine, "timed", lambda _: 0.0)  # nothing is built for the compile time
        rows = [row for row in program.ROWS if row.source in real]  # type: ignore[attr-defined]
        said = [line for line in program.lines(rows) if line.startswith("left") or "_follow" in line]  # type: ignore[attr-defined]
        real.sort()
    assert said == [f"left out, TOPICWEAVE_DATA names no folder: {', '.join(real)}"]


def test_no_file_at_all_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TOPICWEAVE_DATA", raising=False)
    monkeypatch.setattr("sys.argv", ["benchmarks.files"])
    assert files.main() == 0
    assert capsys.readouterr().out == "left out, TOPICWEAVE_DATA names no folder: every file\n"


def test_the_readme_names_every_file_and_its_licence() -> None:
    rows = dict(re.findall(r"^\| `(\w+)\.csv\.gz` \|.*\| ([^|]+) \|$", README, re.MULTILINE))
    assert set(rows) == WANTED
    assert all(re.match(r"MIT|Apache-2\.0", licence) for licence in rows.values())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_variable_is_read_in_one_place_and_no_path_leaves_the_tree(program: Path) -> None:
    text = program.read_text(encoding="utf-8")
    assert not re.search(r"environ.*TOPICWEAVE_DATA|parents\[[2-9]\]", text)


OURS = [
    path
    for folder in ("algorithms", "backend", "benchmarks", "cypher", "docs", "tests")
    for kind in ("*.py", "*.md", "*.cypher")
    for path in sorted((ROOT / folder).rglob(kind))
    if path != Path(__file__)
]


def test_files_speak_of_what_is_here() -> None:
    """A document that is named exists; figures are held against figures; no list of elsewhere is counted on."""
    known = {path.name for path in [*ROOT.glob("*.md"), *OURS]}
    for path in OURS:
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"(?i)\bprototypes?\b|\byardsticks?\b|\btrap \d", text), path
        assert set(re.findall(r"\b[A-Z]{4,}\.md\b", text)) <= known, path
