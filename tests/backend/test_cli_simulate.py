"""``topicweave simulate`` as a newcomer types it."""

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


@pytest.mark.parametrize("strategy", ["shadow", "weave", "rebuild"])
def test_json(strategy: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--rounds", 12, "--strategy", strategy, "--rho", 2, "--lambda", 2, "--seed", 5]
    code, out, err = run(capsys, "simulate", DEMO, *options, "--drift-every", 6, "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert len(report["rounds"]) == 12
    assert (
        report["parameters"] | {"strategy": strategy, "rho": 2.0, "lambda_": 2, "seed": 5}
        == report["parameters"]
    )
    assert {"average_degree", "max_degree", "opened", "closed", "plan_ms", "fairness", "drift"} <= set(
        report["rounds"][0]
    )
    assert report["summary"]["rounds"] == 12


def test_table_and_csv(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "simulate", DEMO, "--rounds", 10, "--k", 2, "--drift-every", 10)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split()[:4] == ["round", "change", "brokers", "links"]
    assert "against a fresh gm2" in out
    code, out, _ = run(capsys, "simulate", DEMO, "--rounds", 4, "--csv")
    assert code == 0
    assert len(out.splitlines()) == 5


def test_sticky_rebuilds(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--rounds", 12, "--rebuild", "sticky", "--rebuild-every", 4, "--keep", 0.3]
    code, out, err = run(capsys, "simulate", DEMO, *options, "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert (report["parameters"]["strategy"], report["parameters"]["keep"]) == ("weave", 0.3)
    assert report["summary"]["rebuilds"] == 3
    assert "3, sticky" in run(capsys, "simulate", DEMO, *options)[1]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--rounds", 0], "rounds: must be a whole number"),
        (["--rounds", 3, "--strategy", "hope"], "strategy: must be one of shadow, naive, weave, rebuild"),
        (["--rounds", 3, "--k", 3], "k: must be a whole number"),
        (["--rounds", 3, "--csv", "--json"], "exclude each other"),
        (["--rounds", 3, "--rebuild", "often"], "rebuild: must be one of fresh, sticky"),
        (["--rounds", 3, "--keep", -1], "keep: must be a number, at least 0"),
        ([], "--rounds"),
    ],
)
def test_bad_input(options: list[object], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "simulate", DEMO, *options)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1


def test_without_a_broker_or_a_topic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nobody = tmp_path / "interests.csv"
    nobody.write_text("broker,topic\n")
    code, out, err = run(
        capsys, "simulate", nobody, "--rounds", 9, "--subscription-churn", 0.5, "--seed", 2, "--json"
    )
    assert (code, err) == (0, "")
    assert all(row["links"] == 0 for row in json.loads(out)["rounds"])
