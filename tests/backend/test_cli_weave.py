"""``build weave`` with the links of before: what is kept, opened and closed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.cli import main

DEMO = Path(__file__).parents[2] / "backend" / "demos" / "autoware.csv.gz"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return int(stop.value.code or 0), printed.out, printed.err


def test_a_sticky_rebuild(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    assert run(capsys, "build", "treept", DEMO, "--out", old)[0] == 0
    code, out, err = run(capsys, "build", "weave", DEMO, "--out", new, "--keep", 0.5, "--from", old)
    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith(f"against {old}: ")
    code, out, _ = run(capsys, "build", "weave", DEMO, "--out", new, "--keep", 0.5, "--from", old, "--json")
    report = json.loads(out)
    assert report["kept"] + report["opened"] == report["links"]
    assert report["closed"] == len(old.read_text().splitlines()) - 1 - report["kept"]
    assert run(capsys, "verify", DEMO, new)[0] == 0


def test_links_of_another_federation_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.csv"
    old.write_text("broker_a,broker_b\nsomebody,else\n")
    code, _, err = run(capsys, "build", "weave", DEMO, "--out", tmp_path / "new.csv", "--from", old)
    assert code == 2
    assert f"{old}, line 2, broker_a: no broker of this id in the interests (got 'somebody')" in err


def test_other_algorithms_take_no_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "build", "gm", DEMO, "--out", tmp_path / "new.csv", "--from", DEMO)
    assert code == 2
    assert "--from" in err
