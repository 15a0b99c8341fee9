"""``topicweave experiments``: a run, the same again, an interrupt, bad input; and the page in docs/."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from backend.cli import main
from backend.demos import DEMOS
from backend.experiments import origin
from backend.experiments.catalogue import CHAPTERS, SWEEPS
from backend.experiments.page import sources_of_page, write_page
from backend.experiments.results import Results
from backend.experiments.sources import SOURCES
from backend.experiments.sweep import Size
from tests.backend.experiments.tiny import TINY, measure_tiny

DATA = Path(__file__).parents[2] / "data"
DOCS = Path(__file__).parents[3] / "docs"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["experiments", *map(str, arguments)])
    printed = capsys.readouterr()
    return int(stop.value.code or 0), printed.out, printed.err


def test_a_run_and_the_same_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, page = tmp_path / "results", tmp_path / "site" / "papers.md"
    code, first, _ = run(capsys, "examples", "--quick", "--out", out, "--page", page)
    assert code == 0
    assert first.startswith("examples: 17 points in ")
    assert f"{page}: written" in first
    code, second, _ = run(capsys, "examples", "--quick", "--out", out, "--page", page)
    assert code == 0
    assert second == first[first.index("\n") + 1 :]
    assert (out / "quick" / "examples.jsonl").is_file()
    assert "| gm 6.3 | GM on the cuboid, k = 3, m = 4" in page.read_text()
    assert (
        f"```sh\ntopicweave experiments examples --quick --out {out} --page {page}\n```" in page.read_text()
    )
    assert (page.parent / "images" / "papers" / "examples.csv").is_file()
    code, listed, _ = run(capsys, "examples", "gm", "--list", "--quick", "--out", out)
    assert [line.split()[:4] for line in listed.splitlines()][-1] == ["examples", "17", "of", "17"]
    assert listed.startswith("gm-brokers")


def test_a_run_says_what_it_measures_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("examples", "--quick", "--out", tmp_path)
    assert "anew" not in run(capsys, *command)[1]
    monkeypatch.setattr(origin, "_algorithms", lambda: "an algorithm was changed")
    _, listed, _ = run(capsys, *command, "--list")
    assert listed.split()[:4] == ["examples", "0", "of", "17"]
    _, said, _ = run(capsys, *command)
    assert said.startswith(
        "17 points were measured by other code or from other data, and are measured anew\nexamples: 17"
    )
    assert "anew" not in run(capsys, *command)[1]


def test_a_page_of_other_code_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    command = ("examples", "--quick", "--out", tmp_path, "--page", page)
    run(capsys, *command)
    assert str(page) not in run(capsys, *command, "--list")[1]
    made = sources_of_page(page)
    monkeypatch.setattr(origin, "_algorithms", lambda: "an algorithm was changed")
    said = run(capsys, *command, "--list")[1]
    assert f"{page}: made by other sources ({made}) than today's (" in said
    _, said, _ = run(capsys, *command, "--no-run")
    assert said.startswith("17 points were measured by other code or from other data, and are left out\n")
    assert sources_of_page(page) != made
    page.write_text("by hand")
    assert "made by other sources (not named)" in run(capsys, *command, "--list")[1]


def test_no_run_makes_the_page_from_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--no-run", "--out", tmp_path)
    assert code == 0
    assert " 0 agree, 0 differ, " in out
    assert "not measured yet" in (tmp_path / "full" / "experiments.md").read_text()


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    command = ["dc-table-1", "--quick", "--out", str(tmp_path)]
    program = "import sys; from backend.cli import main; main(['experiments', *sys.argv[1:]])"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    kept = tmp_path / "quick" / "dc-table-1.jsonl"
    deadline = time.monotonic() + 200
    while not (kept.exists() and kept.read_bytes().endswith(b"\n")) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    found = re.search(r"(\d+) of 20 points are kept in ", err)
    assert found is not None
    assert int(found[1]) == len(kept.read_text().splitlines()) >= 1
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "sweep: no such sweep, there are gm-brokers"),
        (["--page", "page.html"], "page: must be a file that ends in .md (got 'page.html')"),
        (["--no-run", "--again"], "--no-run and --again exclude each other"),
        (["--unknown"], "No such option"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_results_need_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = run(capsys, "examples", "--out", tmp_path / "file")
    assert code == 2
    assert "is a file, results need a folder" in err
    out = tmp_path / "out"
    code, _, err = run(capsys, "examples", "--out", out, "--page", tmp_path / "file" / "page.md")
    assert code == 2
    assert f"page: the folder {tmp_path / 'file'} cannot be made" in err
    assert not list(out.rglob("*.jsonl")), "nothing was measured for it"


def test_a_folder_of_real_interests_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOPICWEAVE_DATA", str(tmp_path / "nowhere"))
    code, _, err = run(capsys, "beyond-real", "--quick", "--out", tmp_path)
    assert code == 2
    assert "TOPICWEAVE_DATA: must be a folder" in err


def check_page(page: Path, name: str) -> None:
    """What holds for the page of either size, whatever files of real interests there were when it was made."""
    text = page.read_text()
    quick = "**This is the quick size**" in text
    assert quick is not ("**This is the full size**" in text)
    assert f"```sh\ntopicweave experiments {'--quick ' if quick else ''}--page {name}\n```" in text
    with (page.parent / "images" / page.stem / "beyond-real.csv").open() as file:
        sources = {row["source"] for row in csv.DictReader(file)}
    assert set(DEMOS) <= sources
    for source in sources & set(SOURCES):
        assert f"| `{source}` | " in text, "a file whose source is not told"
    named = re.search(r", (?:with|without) `TOPICWEAVE_DATA`(?: naming the folder of (.*))?, by\n", text)
    assert named is not None
    assert set(re.findall(r"`([^`]+)`", named[1] or "")) == sources - set(DEMOS)
    assert sources_of_page(page) is not None
    links = re.findall(r"\]\((images/[^)]+)\)", text)
    assert len(links) > 40
    assert not [link for link in links if not (page.parent / link).is_file()]
    shown = {(page.parent / link).name for link in links}
    assert {path.name for path in (page.parent / "images" / page.stem).iterdir()} == shown


def test_the_page_in_docs_says_what_made_it_and_misses_nothing() -> None:
    check_page(DOCS / "experiments.md", "docs/experiments.md")


def test_a_faster_rebuild_is_a_reason_for_higher_ratios_only() -> None:
    text = (DOCS / "experiments.md").read_text()
    rows = re.findall(r"\| ([\d.]+)% \(±\d+%\) \| ([\d.]+)% \| \*\*differ\*\* \| our Low-ODA is lazy", text)
    assert [row for row in rows if float(row[1]) <= float(row[0])] == []


def test_what_differs_has_a_reason_or_it_is_not_known() -> None:
    text = (DOCS / "experiments.md").read_text()
    remarks = re.findall(r"\| \*\*differ\*\* \|(.*?) ?\|$", text, re.MULTILINE)
    assert len(remarks) > 50
    notes = {"", *(s.note for c in CHAPTERS for s in c.statements)}
    assert [remark for remark in remarks if remark.strip() in notes] == []


@pytest.mark.parametrize(("size", "files"), [("quick", []), ("full", ["ha_codeowners", "of-my-own"])])
def test_a_page_made_by_its_own_command_would_do_as_well(
    size: Size, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of either size, with any folder of real interests and with none: followed on a fresh clone, the tests still hold."""
    monkeypatch.delenv("TOPICWEAVE_DATA", raising=False)
    if files:
        monkeypatch.setenv("TOPICWEAVE_DATA", str(tmp_path))
        for name in files:
            (tmp_path / f"{name}.csv.gz").write_bytes((DATA / "ha_codeowners.csv.gz").read_bytes())
    real = [point for point in SWEEPS["beyond-real"].points(size) if point["interests"] == "real"]
    tiny = TINY | {"beyond-real": replace(SWEEPS["beyond-real"], points=lambda _: real)}
    chapters = [replace(c, sweeps=tuple(tiny[sweep.name] for sweep in c.sweeps)) for c in CHAPTERS]
    results = Results(tmp_path / "results", size)
    for sweep in tiny.values():
        measure_tiny(sweep, results)
    page = tmp_path / "docs" / "experiments.md"
    page.parent.mkdir()
    option = ["--quick"] if size == "quick" else []
    write_page(
        results, page, " ".join(["topicweave experiments", *option, "--page docs/experiments.md"]), chapters
    )
    check_page(page, "docs/experiments.md")


def test_the_decision_says_how_large_both_sizes_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOPICWEAVE_DATA", raising=False)
    quick, full = (sum(len(sweep.points(size)) for sweep in SWEEPS.values()) for size in ("quick", "full"))
    text = (DOCS / "decisions" / "0090-documents.md").read_text()
    assert f"{full:,} points instead of {quick:,}" in text
