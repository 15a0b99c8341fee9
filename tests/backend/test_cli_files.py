"""The commands on files, as a newcomer types them: what they print, and how they exit."""

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


def test_build_then_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = tmp_path / "links.csv"
    code, out, err = run(capsys, "build", "gm", DEMO, "--out", links)
    assert (code, err) == (0, "")
    assert "links for 94 brokers and 303 topics" in out
    code, out, _ = run(capsys, "verify", DEMO, links)
    assert code == 0
    assert out.startswith("yes: all 303 topics are connected")


def test_verify_names_the_topics_that_are_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = tmp_path / "links.csv"
    links.write_text("broker_a,broker_b\n")
    code, out, _ = run(capsys, "verify", DEMO, links)
    assert code == 1
    assert any(line.startswith("/diagnostics: ") for line in out.splitlines())
    code, out, _ = run(capsys, "verify", DEMO, links, "--json")
    report = json.loads(out)
    assert code == 1
    assert (report["tco"], report["k"], report["topics"], len(report["topics_below"])) == (False, 1, 303, 107)


def test_verify_names_the_brokers_that_cut_a_topic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interests, links = tmp_path / "interests.csv", tmp_path / "links.csv"
    interests.write_text("broker,topic\na,x\nb,x\nc,x\nd,x\n")
    links.write_text("broker_a,broker_b\na,b\nb,c\nc,d\n")
    assert run(capsys, "verify", interests, links)[0] == 0
    code, out, _ = run(capsys, "verify", interests, links, "--k", 2)
    assert code == 1
    first, second = out.splitlines()
    assert first == "no: 1 of 1 topics are not 2-connected"
    assert second.startswith(("x: without b, a and ", "x: without c, "))
    assert second.endswith(" are apart")
    code, _, err = run(capsys, "verify", interests, links, "--k", 0)
    assert code == 2
    assert err.startswith("topicweave: k: must be")
    code, _, err = run(capsys, "verify", interests, links, "--k", "two")
    assert code == 2
    assert "two" in err


def test_build_reports_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "build", "gm", DEMO, "--out", tmp_path / "links.parquet", "--seed", 7, "--json"
    )
    report = json.loads(out)
    assert code == 0
    assert list(report) == [
        "algorithm",
        "params",
        "brokers",
        "topics",
        "subscriptions",
        "links",
        "average_degree",
        "max_degree",
        "seconds",
        "peak_rss_mb",
        "k",
        "topic_diameter_mean",
        "topic_diameter_max",
        "topic_diameters_sampled",
    ]
    assert report["params"]["seed"] == 7
    assert report["average_degree"] == pytest.approx(2 * report["links"] / 94)


def test_the_registry_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "algorithms", "--json")
    registry = {algorithm["name"]: algorithm for algorithm in json.loads(out)}
    assert code == 0
    assert {"name", "summary", "guarantee", "paper", "parameters"} == set(registry["gm"])
    code, out, _ = run(capsys, "algorithms")
    assert code == 0
    assert all(name in out for name in registry)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["build", "gn", DEMO, "--out", "links.csv"],
            "algorithm: no such algorithm, did you mean 'gm'? (got 'gn')",
        ),
        (
            ["build", "gm", DEMO, "--out", "links.csv", "--sed", "1"],
            "No such option '--sed'. Did you mean '--seed'?",
        ),
        (
            ["build", "gm", DEMO, "--out", "links.csv", "--seed", "x"],
            "seed: must be a whole number (got 'x')",
        ),
        (["build", "gm", "gone.csv", "--out", "links.csv"], "gone.csv, file: there is no such file"),
        (["build", "gm", DEMO, "--out", "links.doc"], "links.doc, file: the name must end in"),
        (["build", "gm", DEMO], "Missing option '--out'"),
        (["verify", DEMO], "Missing argument 'LINKS'"),
        (["weave"], "No such command 'weave'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[object], message: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"topicweave: {message}")
    assert err.count("\n") == 1


def test_nothing_is_written_when_the_input_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "interests.csv"
    broken.write_text("broker,topic\na,x\nb\n")
    code, _, err = run(capsys, "build", "gm", broken, "--out", tmp_path / "links.csv")
    assert code == 2
    assert f"{broken}, line 3, topic: a row has 2 fields" in err
    assert [entry.name for entry in tmp_path.iterdir()] == ["interests.csv"]


@pytest.mark.parametrize("kind", [".csv", ".csv.gz", ".parquet"])
def test_generate_then_build(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    interests = tmp_path / f"interests{kind}"
    sizes = ["--brokers", 60, "--topics", 20, "--subscriptions", 4]
    code, out, _ = run(
        capsys, "generate", *sizes, "--distribution", "uniform", "--seed", 3, "--out", interests
    )
    assert code == 0
    assert out == f"{interests}: 60 brokers, 20 topics, 240 subscriptions\n"
    code, _, _ = run(capsys, "build", "gm", interests, "--out", tmp_path / "links.csv")
    assert code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--subscriptions", "1..2..3"],
            "subscriptions: must be a whole number, or two as in 10..90 (got '1..2..3')",
        ),
        (["--subscriptions", "many"], "subscriptions: must be a whole number"),
        (["--subscriptions", 30], "subscriptions: must be at least 1 and at most 20 (got 30)"),
        (
            ["--subscriptions", 3, "--distribution", "normal"],
            "distribution: must be one of uniform, zipf, exponential",
        ),
        (["--subscriptions", 3, "--sizes", "odd"], "sizes: must be one of"),
        (["--subscriptions", 3, "--seed", "x"], "Invalid value for '--seed'"),
    ],
)
def test_generate_refuses_what_it_cannot_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[object], message: str
) -> None:
    out = tmp_path / "interests.csv"
    code, _, err = run(capsys, "generate", "--brokers", 60, "--topics", 20, *options, "--out", out)
    assert code == 2
    assert err.startswith(f"topicweave: {message}")
    assert not out.exists()


def test_measure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    interests, links = tmp_path / "interests.csv", tmp_path / "links.csv"
    interests.write_text("broker,topic\na,x\nb,x\nc,x\nc,y\nd,y\n")
    links.write_text("broker_a,broker_b\na,b\nb,c\n")
    code, out, _ = run(capsys, "measure", interests, links, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["links"], found["max_degree"], found["forced_max_degree"]) == (2, 2, 1)
    assert (found["topics_apart"], found["topic_diameter_max"], found["articulation_brokers"]) == (1, 2, 1)
    code, out, _ = run(capsys, "measure", interests, links)
    assert code == 0
    assert "1 apart" in out
    assert "0: 1 topics, 1: 1 topics" in out
    assert "articulation brokers: 1, in 1 of 2 topics" in out


def test_a_build_tells_degree_k_and_diameters_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "build", "gm2", DEMO, "--out", tmp_path / "links.csv")
    assert code == 0
    assert "topics 2-connected, their diameters " in out
    found = json.loads(run(capsys, "build", "gm", DEMO, "--out", tmp_path / "one.csv", "--json")[1])
    measured = json.loads(run(capsys, "measure", DEMO, tmp_path / "one.csv", "--json")[1])
    assert found["k"] == 1
    for name in ("topic_diameter_mean", "topic_diameter_max", "topic_diameters_sampled"):
        assert found[name] == measured[name]


def test_an_odd_k_that_is_dearer_than_the_next_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interests, links = tmp_path / "interests.csv", tmp_path / "links.csv"
    assert (
        run(capsys, "generate", "--brokers", 200, "--topics", 40, "--subscriptions", 12, "--out", interests)[
            0
        ]
        == 0
    )
    code, out, _ = run(capsys, "build", "hararypt", interests, "--k", 3, "--out", links)
    assert code == 0
    assert "topics 4-connected (fewer links than for k = 3)" in out
    assert run(capsys, "verify", interests, links, "--k", 4)[0] == 0
    plain = run(
        capsys, "build", "hararypt", interests, "--k", 3, "--no-even-if-cheaper", "--out", links, "--json"
    )
    assert json.loads(plain[1])["k"] == 3


def test_connectivity_is_measured_topic_by_topic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    interests, links = tmp_path / "interests.csv", tmp_path / "links.csv"
    interests.write_text("broker,topic\na,x\nb,x\nc,x\nd,x\na,y\nb,y\nc,y\nd,z\na,z\nb,z\n")
    links.write_text("broker_a,broker_b\na,b\nb,c\nc,d\na,c\na,d\nb,d\n")
    code, out, _ = run(capsys, "measure", interests, links, "--json")
    found = json.loads(out)
    assert (code, found["max_k"]) == (0, 4)
    assert found["connectivity_by_topic"] == {"x": 3, "y": 2, "z": 2}
    two = json.loads(run(capsys, "measure", interests, links, "--max-k", 2, "--json")[1])
    assert two["connectivity_by_topic"] == {"x": 2, "y": 2, "z": 2}
    assert "at least 2: 3 topics" in run(capsys, "measure", interests, links, "--max-k", 2)[1]
    assert run(capsys, "measure", interests, links, "--max-k", 0)[0] == 2
