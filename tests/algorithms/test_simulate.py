"""The simulator: every strategy keeps its promise, the same seed gives the same links, and it can be stopped."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from algorithms import BadInput, Cancelled, Interests, Overlay, build, workloads
from algorithms.churn import Simulation, simulate
from algorithms.live.drift import drift

# The package has a function of the module's name.
simulator = sys.modules["algorithms.churn.simulate"]
INTERESTS = workloads.generate(brokers=80, topics=20, subscriptions=(3, 8), sizes="power-law", seed=1)


def untimed(done: Simulation) -> list[dict[str, Any]]:
    return [{**row, "plan_ms": 0} for row in done.describe()["rounds"]]


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("strategy", ["shadow", "naive", "weave", "rebuild"])
def test_every_strategy(strategy: str, k: int) -> None:
    given: dict[str, Any] = {
        "rounds": 40,
        "strategy": strategy,
        "k": k,
        "subscription_churn": 0.2,
        "failures": 0.1,
        "failure_every": 15,
        "rebuild_every": 10,
        "drift_every": 20,
        "seed": 3,
    }
    done = simulate(INTERESTS, **given)
    assert done.end.is_ktco(k)
    assert [row.round for row in done.rounds] == list(range(1, 41))
    assert {row.change for row in done.rounds} >= {"join", "leave", "subscriptions"}
    assert done.rounds[14].change.startswith("failure")
    assert [row.round for row in done.rounds if row.drift is not None] == [20, 40]
    opened, closed = (sum(getattr(row, name) for row in done.rounds) for name in ("opened", "closed"))
    assert len(done.start.links) + opened - closed == len(done.end.links)
    assert untimed(simulate(INTERESTS, **given)) == untimed(done)
    if strategy == "rebuild":
        rebuilt = [row for row in done.rounds if row.change.endswith("+ rebuild")]
        assert [row.round for row in rebuilt] == [10, 20, 30, 40]
        assert rebuilt[-1].drift == 0.0


def test_a_rebuild_is_part_of_the_time_that_its_round_takes_to_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(*given: Any, **more: Any) -> Overlay:
        time.sleep(0.2)
        return build(*given, **more)

    monkeypatch.setattr(simulator, "build", slowly)
    done = simulate(INTERESTS, rounds=6, strategy="rebuild", rebuild_every=3, drift_every=0)
    assert [row.round for row in done.rounds if row.plan_ms >= 200] == [3, 6]


@pytest.mark.parametrize(("strategy", "k"), [("shadow", 1), ("weave", 1), ("rebuild", 1), ("weave", 2)])
def test_sticky_rebuilds_change_less_than_fresh_ones(strategy: str, k: int) -> None:
    given: dict[str, Any] = {
        "rounds": 60,
        "strategy": strategy,
        "k": k,
        "rebuild_every": 20,
        "algorithm": "weave",
    }
    fresh = simulate(INTERESTS, rebuild="fresh", **given)
    sticky = simulate(INTERESTS, rebuild="sticky", keep=0.5, **given)
    all_new = simulate(INTERESTS, rebuild="sticky", keep=0.0, **given)
    assert [row.round for row in sticky.rounds if row.change.endswith("+ rebuild")] == [20, 40, 60]
    assert sticky.end.is_ktco(k)
    assert sticky.summary()["rebuilds"] == 3
    assert len(fresh.end.links) <= len(sticky.end.links)
    assert sum(row.opened for row in sticky.rounds) < sum(row.opened for row in fresh.rounds)
    assert untimed(all_new) == untimed(fresh)


def test_repairs_alone_rebuild_nothing() -> None:
    done = simulate(INTERESTS, rounds=60, strategy="weave", drift_every=0)
    assert done.summary()["rebuilds"] == 0


def test_departed_brokers_come_back() -> None:
    done = simulate(INTERESTS, rounds=60, newcomers="departed", join_share=0.4, drift_every=0)
    assert set(done.end.interests.brokers) <= set(INTERESTS.brokers) | {"newcomer-1", "newcomer-2"}
    for broker in set(done.end.interests.brokers) & set(INTERESTS.brokers):
        assert done.end.interests.topics_of(broker) == INTERESTS.topics_of(broker)


def test_leaves_alone_end_with_one_broker() -> None:
    few = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x", "y"]})
    done = simulate(few, rounds=10, join_share=0.0, drift_every=0)
    assert min(row.brokers for row in done.rounds) == 1


def test_it_reports_and_can_be_cancelled() -> None:
    shares: list[float] = []

    def stop_halfway(share: float, _stage: str) -> None:
        shares.append(share)
        if share >= 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        simulate(INTERESTS, rounds=10, drift_every=0, progress=stop_halfway)
    assert shares == sorted(shares)
    assert shares[-1] == 0.5


def test_csv_has_a_line_a_round() -> None:
    lines = simulate(INTERESTS, rounds=5, drift_every=5).csv().splitlines()
    assert lines[0].startswith("round,change,brokers,links,average_degree,max_degree,opened,closed,plan_ms")
    assert len(lines) == 6


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"rounds": 0}, "rounds"),
        ({"strategy": "hope"}, "strategy"),
        ({"newcomers": "aliens"}, "newcomers"),
        ({"join_share": 1.5}, "join_share"),
        ({"failures": -0.1}, "failures"),
        ({"k": 3}, "k"),
        ({"rho": 0.0}, "rho"),
        ({"lambda_": 0}, "lambda"),
        ({"rebuild_every": -1}, "rebuild_every"),
        ({"strategy": "rebuild", "rebuild_every": 0}, "rebuild_every"),
        ({"rebuild": "sometimes"}, "rebuild"),
        ({"keep": -0.1}, "keep"),
        ({"keep": float("nan")}, "keep"),
        ({"algorithm": "nonsense"}, "algorithm"),
    ],
)
def test_bad_input(given: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput) as refusal:
        simulate(INTERESTS, **{"rounds": 3, **given})
    assert refusal.value.field == field


def test_drift_is_exact_on_few_brokers_and_estimated_on_many() -> None:
    exact = drift(build("gm", INTERESTS), algorithm="gm")
    assert (exact.share, exact.exact, exact.rebuild_due, exact.sampled) == (0.0, True, False, 80)
    many = workloads.generate(brokers=1200, topics=60, subscriptions=12, seed=1)
    overlay = build("gm", many)
    estimate = drift(overlay, algorithm="gm", sample=400)
    assert not estimate.exact
    assert abs(estimate.share) < 0.1
    with pytest.raises(BadInput, match="sample"):
        drift(overlay, sample=3)


def test_an_algorithm_that_takes_k_is_told_it() -> None:
    done = simulate(INTERESTS, rounds=6, k=2, algorithm="weave", rebuild_every=3, drift_every=3)
    assert done.start.is_ktco(2)
    assert done.end.is_ktco(2)
    assert done.summary()["rebuild_due"] is False


@pytest.mark.parametrize("stage", ["building the first overlay", "greedy"])
def test_it_can_be_stopped_before_the_first_round(stage: str) -> None:
    seen = []

    def stop(done: float, told: str) -> None:
        seen.append(told)
        if stage == told or (stage == "greedy" and len(seen) > 2):
            assert done == 0
            raise Cancelled

    with pytest.raises(Cancelled):
        simulate(INTERESTS, rounds=5, progress=stop)
    assert "round 1" not in seen
