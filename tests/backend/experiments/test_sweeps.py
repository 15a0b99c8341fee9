"""Every sweep of the catalogue, run for real on tiny interests; its statements and its place on the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from algorithms import Interests, Overlay, build
from backend.demos import DEMOS
from backend.experiments import churn, examples
from backend.experiments.beyond import forced_degree
from backend.experiments.catalogue import CHAPTERS, SWEEPS, choose
from backend.experiments.page import write_page
from backend.experiments.results import Results
from backend.experiments.sources import SOURCES
from backend.experiments.sweep import Size, Table
from tests.backend.experiments.tiny import TINY, TINY_CHAPTERS, measure_tiny


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """One tiny point of every sweep."""
    kept = Results(tmp_path_factory.mktemp("results"), "quick")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TOPICWEAVE_DATA", raising=False)
        for sweep in TINY.values():
            measure_tiny(sweep, kept)
    return kept


@pytest.mark.parametrize("name", SWEEPS)
def test_a_point_has_a_record_of_every_series(name: str, results: Results) -> None:
    sweep = TINY[name]
    (found,) = results.read(sweep).values()
    assert {record["series"] for record in found.records} >= set(sweep.series)


@pytest.mark.parametrize("name", SWEEPS)
def test_every_chart_and_column_has_something_to_show(name: str, results: Results) -> None:
    sweep = TINY[name]
    table = results.table(sweep)
    for chart in sweep.charts:
        assert table.column(chart.x), chart.name
        assert table.column(chart.y), chart.name
        assert set(chart.series) <= {row["series"] for row in table.rows} | {"GM2"}
    for column in (*sweep.shown, *sweep.rows_by):
        assert table.column(column)


@pytest.mark.parametrize("size", ["quick", "full"])
def test_points_are_told_apart_and_full_has_no_fewer(size: Size, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOPICWEAVE_DATA", raising=False)
    for sweep in SWEEPS.values():
        points = sweep.points(size)
        assert len({str(point) for point in points}) == len(points) > 0
        assert len(sweep.points("full")) >= len(points)


def test_names_are_used_once() -> None:
    names = [sweep.name for chapter in CHAPTERS for sweep in chapter.sweeps]
    charts = [chart.name for sweep in SWEEPS.values() for chart in sweep.charts]
    assert len(set(names)) == len(names)
    assert len(set(charts)) == len(charts)


def test_statements_and_findings_name_sweeps_and_bear_a_run_that_was_cut_short(results: Results) -> None:
    """One point is far too little for most of them: they say so, and nothing breaks."""
    tables = {name: results.table(sweep) for name, sweep in TINY.items()}
    for chapter in CHAPTERS:
        for statement in chapter.statements:
            assert statement.sweep in SWEEPS
            value = statement.measured(tables)
            assert (statement.verdict(value) == "not measured") is (value is None)
            assert statement.measured({}) is None
        for finding in chapter.findings:
            assert finding.sweep in SWEEPS
            assert finding.sentence({}) is None
            finding.sentence(tables)


def test_the_page_is_made_from_results_alone_and_misses_no_image(results: Results, tmp_path: Path) -> None:
    page = tmp_path / "record.md"
    stale = tmp_path / "images" / "record" / "of-an-earlier-page.svg"
    stale.parent.mkdir(parents=True)
    stale.write_text("<svg/>")
    command = "topicweave experiments --quick --page record.md"
    written = write_page(results, page, command, TINY_CHAPTERS)
    text = page.read_text()
    linked = re.findall(r"\]\(([^)#]+)\)", text)
    assert len(linked) == len(set(linked)) == len(written) - 1
    assert {tmp_path / link for link in linked} | {page} == set(written)
    assert all(path.stat().st_size for path in written)
    assert not stale.exists()
    assert sum(link.endswith(".svg") for link in linked) == sum(len(s.charts) for s in SWEEPS.values())
    for chapter in CHAPTERS:
        assert f"## {chapter.title}\n" in text
        for statement in chapter.statements:
            assert statement.text in text
    assert f"```sh\n{command}\n```" in text
    assert "**This is the quick size**" in text
    assert f"A figure is the mean of one run (one seed) in {len(SWEEPS) - 1} sweeps." in text
    again = write_page(results, page, command, TINY_CHAPTERS)
    assert page.read_text() == text
    assert again == written


def test_sweeps_are_chosen_by_name_or_by_the_beginning_of_names() -> None:
    assert [sweep.name for sweep in choose(("gm",))] == ["gm-brokers", "gm-subscriptions", "gm-rounds"]
    assert [sweep.name for sweep in choose(("dc-parts", "examples"))] == ["dc-parts", "examples"]
    assert len(choose(())) == len(SWEEPS)


def test_the_best_of_the_hand_made_instances_is_what_the_papers_say() -> None:
    """The printed optima, checked as overlays: the planes to all slabs and layers; the broker with everything to all."""
    cuboid = Interests.from_mapping(examples.cuboid(3, 4))
    others = [broker for broker in cuboid.brokers if not broker.startswith("plane")]
    best = [(plane, other) for plane in ("plane0", "plane1") for other in others]
    assert len(best) == 14
    assert Overlay.from_names(cuboid, best).is_tco()
    every = Interests.from_mapping(examples.with_everything(examples.topic_a_pair(6)))
    star = [(broker, "v_all") for broker in every.brokers if broker != "v_all"]
    assert Overlay.from_names(every, star).is_tco()


def test_the_instance_of_lemma_1_is_the_printed_one() -> None:
    """low 2.1: n^2 topics (i, j), all of them v1's, and v_i's those with i in either place, its own (i, i) too."""
    topics = examples.lemma_1(4)
    assert len(topics["v01"]) == 4 * 4
    assert topics["v03"] == ["1-3", "2-3", "3-1", "3-2", "3-3", "3-4", "4-3"]
    best = [("v01", broker) for broker in topics if broker != "v01"]
    assert Overlay.from_names(Interests.from_mapping(topics), best).is_tco()


def test_repairs_are_told_round_by_round(results: Results) -> None:
    """Joins and leaves by themselves, for every strategy and for Low-ODA from scratch."""
    table = results.table(TINY["shadow-churn"])
    (joins, leaves) = (table.where(kind=kind) for kind in ("join", "leave"))
    assert joins
    assert leaves
    for row in (*joins.rows, *leaves.rows):
        assert row["changed"] >= 0
        assert row["seconds"] > 0
    for series in ("Shadow", "Naive"):
        rounds = [row for row in (*joins.rows, *leaves.rows) if row["series"] == series]
        assert {row["round"] for row in rounds} == {3, 6}


def test_a_round_of_naive_stands_at_the_shadow_set_of_the_other() -> None:
    note = churn._Note("leave", changed=6, shadows=40, seconds=0.5, subscriptions=12, ratio=0.003)
    assert churn._round("Naive", 25, note, {"seconds": 2.0}, shadows=30) == {
        "series": "Naive",
        "round": 25,
        "churn": "leave",
        "shadow_set": 30,
        "churned_subscriptions": 12,
        "repair_ratio": 0.003,
        "time_by_low_oda": 0.25,
    }


def test_every_file_of_real_interests_on_the_page_has_its_source() -> None:
    told = SWEEPS["beyond-real"].remark(Table.of([({"source": "ha_codeowners"}, [{"series": "GM"}])]))
    assert "TOPICWEAVE_DATA" in told
    assert "| `ha_codeowners` | " in told
    assert "home-assistant/core" in told
    assert "Apache-2.0 |" in told
    assert "| `autoware` |" not in told
    assert set(DEMOS) <= set(SOURCES)


def test_forced_degree() -> None:
    interests = Interests.from_mapping(
        {"hub": ["1", "2", "3", "wide"], "a": ["1", "2", "wide"], "b": ["3"], "c": ["wide"]}
    )
    assert forced_degree(interests) == 2
    assert build("gm", interests).max_degree >= 2
    assert forced_degree(Interests.from_mapping({"a": ["x"]})) == 0


def test_a_round_is_told_with_what_its_figures_are_drawn_against(results: Results) -> None:
    """The shadow set beside the time, the churned broker's topics beside the repair ratio; naive at the same shadow set."""
    table = results.table(TINY["shadow-churn"])
    rounds = {
        series: {row["round"]: row for row in table.where(series=series).rows if row.get("churn")}
        for series in ("Shadow", "Naive", "Low-ODA")
    }
    assert rounds["Shadow"].keys() == rounds["Naive"].keys() == rounds["Low-ODA"].keys() == {3, 6}
    for number, row in rounds["Shadow"].items():
        same = rounds["Naive"][number]
        assert row["shadow_set"] == same["shadow_set"] > 0
        assert row["churn"] == same["churn"] == rounds["Low-ODA"][number]["kind"]
        assert row["time_by_low_oda"] > 0
        assert row["time_by_low_oda"] != same["time_by_low_oda"]
        assert 10 <= row["churned_subscriptions"] <= 18
        assert row["churned_subscriptions"] == rounds["Low-ODA"][number]["churned_subscriptions"]
    drawn = {chart.name: (chart.x, chart.y) for chart in TINY["shadow-churn"].charts if chart.dots}
    assert drawn == {
        "shadow-churn-set": ("shadow_set", "time_by_low_oda"),
        "shadow-churn-size": ("churned_subscriptions", "repair_ratio"),
    }
