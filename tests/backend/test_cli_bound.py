"""``topicweave bound``: what it prints, and how it exits."""

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


def test_bound_beside_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = tmp_path / "links.csv"
    assert run(capsys, "build", "gm", DEMO, "--out", links)[0] == 0
    code, out, err = run(capsys, "bound", DEMO, "--seconds", 1, "--links", links)
    assert (code, err) == (0, "")
    first, second = out.splitlines()
    assert first.startswith("every overlay has at least ")
    assert second.startswith(f"{links}: ")
    assert second.endswith("above the optimum")


def test_bound_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    interests, links = tmp_path / "interests.csv", tmp_path / "links.csv"
    interests.write_text("broker,topic\na,x\nb,x\nc,x\n")
    links.write_text("broker_a,broker_b\na,b\nb,c\na,c\n")
    code, out, _ = run(capsys, "bound", interests, "--links", links, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["links"], found["kind"], found["topics_left_out"]) == (2, "lagrangian", 0)
    assert (found["links_present"], found["gap"]) == (3, 0.5)
    assert "gap" not in json.loads(run(capsys, "bound", interests, "--json")[1])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--seconds", "-1"], "seconds: must be a number, at least 0 (got -1.0)"),
        (["--seconds", "nan"], "seconds: must be a number, at least 0 (got nan)"),
        (["--seconds", "soon"], "'soon' is not a valid float"),
        (["--memory-mb", "0"], "0 is not in the range x>=1"),
        (["--links", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    code, _, err = run(capsys, "bound", DEMO, *arguments)
    assert code == 2
    assert told in err
    assert len(err.splitlines()) == 1


def test_measure_shows_the_gap(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    interests, links = tmp_path / "interests.csv", tmp_path / "links.csv"
    interests.write_text("broker,topic\na,x\nb,x\nc,x\n")
    links.write_text("broker_a,broker_b\na,b\nb,c\na,c\n")
    code, out, _ = run(capsys, "measure", interests, links, "--bound", 2, "--json")
    found = json.loads(out)
    assert (code, found["bound"]["links"], found["gap"]) == (0, 2, 0.5)
    code, out, _ = run(capsys, "measure", interests, links)
    assert code == 0
    assert "at most 50.0% above it; at least 2 links" in " ".join(out.split())
    code, out, _ = run(capsys, "measure", interests, links, "--bound", 0, "--json")
    assert not {"bound", "gap"} & set(json.loads(out))


def test_links_that_leave_topics_apart_have_no_gap(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interests, links = tmp_path / "interests.csv", tmp_path / "links.csv"
    interests.write_text("broker,topic\na,x\nb,x\nc,x\n")
    links.write_text("broker_a,broker_b\na,b\n")
    assert json.loads(run(capsys, "measure", interests, links, "--json")[1])["gap"] is None
    assert "these leave topics apart" in " ".join(run(capsys, "measure", interests, links)[1].split())
    code, _, err = run(capsys, "measure", interests, links, "--bound", "-1")
    assert (code, err) == (2, "topicweave: seconds: must be a number, at least 0 (got -1.0)\n")


def test_bound_says_so_of_links_that_leave_topics_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interests, links = tmp_path / "interests.csv", tmp_path / "links.csv"
    interests.write_text("broker,topic\na,x\nb,x\nc,x\n")
    links.write_text("broker_a,broker_b\na,b\n")
    code, out, _ = run(capsys, "bound", interests, "--links", links)
    assert code == 0
    assert out.splitlines()[1] == f"{links}: 1 links, they leave topics apart"
    assert json.loads(run(capsys, "bound", interests, "--links", links, "--json")[1])["gap"] is None
