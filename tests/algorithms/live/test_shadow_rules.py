"""Repairs and backups beside the literal twins of the shadows paper."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import Interests, build
from algorithms.live import LiveOverlay, Policy, join, leave
from algorithms.live.rows import SUBSCRIBERS
from tests.algorithms.live import twins
from tests.algorithms.strategies import any_interests

RHOS = st.sampled_from([1.0, 2.0, 3.0])


def started(interests: Interests, policy: Policy) -> LiveOverlay:
    live = LiveOverlay(build("gm", interests), policy)
    live.refresh_backups()
    return live


def links_of(live: LiveOverlay) -> twins.Links:
    return {frozenset(link) for link in live.snapshot().link_names()}


def topics_of(live: LiveOverlay) -> twins.Topics:
    return {v: set(live.topics_of(v)) for v in live.broker_names()}


@given(any_interests(), RHOS, st.sampled_from(["shadow", "naive"]), st.data())
@settings(max_examples=60, deadline=None)
def test_a_leave_obeys_the_rule_within_its_shadow_set(
    interests: Interests, rho: float, strategy: str, data: st.DataObject
) -> None:
    live = started(interests, Policy(strategy, rho=rho))  # type: ignore[arg-type]
    leaver = data.draw(st.sampled_from(interests.brokers))
    topics, links = topics_of(live), links_of(live)
    shadow = set(live.neighbours_of(leaver)) | set(live.backups_of(leaver))
    plan = live.plan(leave(leaver))
    counted = topics.pop(leaver)
    links = {link for link in links if leaver not in link}
    if strategy == "naive":
        # Pairs that share no split topic contribute nothing; the maximum degree is over those that do.
        split = {t for t in counted if len(set(twins.components(t, topics, links).values())) > 1}
        former = set(live.neighbours_of(leaver))
        shadow = former | {v for v in topics if topics[v] & split}
        maybe = {t for t in counted if len([u for u in former if t in topics[u]]) > 1}
        shadow |= {v for v in topics if topics[v] & maybe}
    opened = [frozenset(link.ends) for link in plan.opened]
    assert {v for link in opened for v in link} <= shadow, "a leave needs nobody outside the shadow set"
    reason = twins.obeys_low_edge_rule(opened, twins.potential_on_leave(shadow), counted, topics, links, rho)
    assert reason is None


@given(any_interests(), RHOS, st.sampled_from(["shadow", "naive"]), st.data())
@settings(max_examples=60, deadline=None)
def test_a_join_obeys_the_rule(interests: Interests, rho: float, strategy: str, data: st.DataObject) -> None:
    live = started(interests, Policy(strategy, rho=rho))  # type: ignore[arg-type]
    wanted = data.draw(st.sets(st.sampled_from(interests.topics))) if interests.topics else set()
    topics, links = topics_of(live), links_of(live)
    plan = live.plan(join("newcomer", wanted))
    topics["newcomer"] = wanted
    shadow = set(plan.backups.get("newcomer", ()))
    if strategy == "naive":
        shadow = {v for v in topics if topics[v] & wanted}
    opened = [frozenset(link.ends) for link in plan.opened]
    potential = twins.potential_on_join("newcomer", shadow)
    uncovered = {t for t in wanted if not any(t in topics[u] for u in plan.backups.get("newcomer", ()))}
    if strategy == "naive" or not uncovered:
        assert twins.obeys_low_edge_rule(opened, potential, wanted, topics, links, rho) is None
    else:
        # Topics that backups leave out get light subscribers of theirs instead, and no one else is linked.
        stand_ins = {v for v in topics if topics[v] & uncovered}
        assert all("newcomer" in link and link - {"newcomer"} <= shadow | stand_ins for link in opened)


def lehmer(seed: int) -> Callable[[int], int]:
    state = [seed]

    def draw(below: int) -> int:
        state[0] = state[0] * 48271 % 2147483647
        return state[0] % below

    return draw


@pytest.mark.parametrize("rule", ["primal-dual", "greedy"])
@given(interests=any_interests(), cover=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_backups_are_the_twins(rule: str, interests: Interests, cover: int) -> None:
    live = LiveOverlay(build("gm", interests), Policy(lambda_=cover, backups=rule))  # type: ignore[arg-type]
    state = live._state
    subscribers = {
        t: [str(state.brokers.name[v]) for v in state.row(SUBSCRIBERS, state.topics.of[t]).tolist()]
        for t in interests.topics
    }
    topics = topics_of(live)
    primaries: dict[str, set[str]] = {v: set() for v in interests.brokers}
    twin = twins.primal_dual_backups if rule == "primal-dual" else twins.greedy_backups
    seed = live._draw()
    live.refresh_backups()
    for slot, v in enumerate(interests.brokers):

        def weigh(u: str, backups: list[str], v: str = v) -> int:
            return len(live.neighbours_of(u)) + len(primaries[u]) + (u in backups)

        expected = twin(v, cover, topics, subscribers, weigh, lehmer((seed * 69621 + slot) % 2147483646 + 1))
        assert live.backups_of(v) == sorted(expected)
        for w in expected:
            primaries[w].add(v)
    assert {v: set(live.primaries_of(v)) for v in interests.brokers} == primaries


def test_backups_follow_a_leaver_and_are_refreshed() -> None:
    interests = Interests.from_mapping({f"b{i}": ["x", "y"] for i in range(8)})
    live = started(interests, Policy("shadow"))
    assert live.stale_backups == 0
    primaries = live.primaries_of("b3")
    live.change(leave("b3"))
    assert live.stale_backups == len(primaries)
    assert all("b3" not in live.backups_of(v) + live.primaries_of(v) for v in live.broker_names())
    image = live.images()
    assert live.refresh_backups(1) == 1
    assert live.refresh_backups() == len(primaries) - 1
    assert live.images() != image
    for v in live.broker_names():
        assert len(live.backups_of(v)) == 3
        assert all(v in live.primaries_of(w) for w in live.backups_of(v))
    live.undo()
    assert sorted(live.primaries_of("b3")) == primaries


def test_backups_that_are_entered_are_taken_back_by_an_undo() -> None:
    interests = Interests.from_mapping({f"b{i}": ["x", "y"] for i in range(6)})
    live = LiveOverlay(build("gm", interests), Policy("shadow"))
    image = live.images()
    live.change(join("newcomer", ["x"]))
    live.enter_backups({"b1": ["b2", "b3"], "b4": ["gone", "b4", "b5"]})
    assert (live.backups_of("b1"), live.backups_of("b4")) == (["b2", "b3"], ["b5"])
    live.enter_backups({"b1": ["b0"]})
    assert live.backups_of("b1") == ["b2", "b3"], "who has some keeps them"
    live.undo()
    assert live.images() == image
