"""Words and numbers as the console writes them."""

from __future__ import annotations

import pytest

from tests.ui.processes import ROOT
from ui.wording import against_fresh, ending, share, since_midnight


@pytest.mark.parametrize(
    ("drift", "sign", "words"),
    [
        (0.083, "+8.3%", "8.3% above a fresh build's"),
        (-0.253, "−25.3%", "25.3% below a fresh build's"),
        (0.0, "+0.0%", "the same as a fresh build's"),
    ],
)
def test_drift_is_said(drift: float, sign: str, words: str) -> None:
    assert share(drift) == sign
    assert against_fresh(drift) == words


@pytest.mark.parametrize(
    ("identity", "shown"),
    [
        ("/control/gate", "/control/gate"),
        ("/planning/lane_driving/planner", "…/lane_driving/planner"),
        ("/planning/a_very_long/planner_of_lanes", "…/planner_of_lanes"),
        ("x" * 40, "…" + "x" * 23),
    ],
)
def test_a_long_id_keeps_its_end(identity: str, shown: str) -> None:
    assert ending(identity, 24) == shown
    assert len(ending(identity, 24)) <= 24


def test_a_degree_has_a_maximum() -> None:
    """One word for one thing, the documents' own."""
    for path in (ROOT / "ui").rglob("*.py"):
        assert "largest degree" not in path.read_text().casefold(), path


def test_a_change_of_another_day_has_its_date() -> None:
    assert since_midnight("2026-03-01T22:07:00.000Z", "2026-03-01") == "22:07:00"
    assert since_midnight("2026-03-01T22:07:00.000Z", "2026-03-02") == "2026-03-01 22:07:00"
