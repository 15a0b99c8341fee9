"""LiveOverlay at its edges: what it refuses, the last ones of a kind, hubs, growth, reasons."""

from __future__ import annotations

import random

import pytest

from algorithms import BadInput, Interests, Overlay, build, workloads
from algorithms.live import (
    Change,
    LiveOverlay,
    Policy,
    join,
    leave,
    set_topics,
    subscribe,
    unsubscribe,
)
from algorithms.live import repair as repair_module

SQUARE = {"a": ["x", "y"], "b": ["x", "y"], "c": ["x"], "d": ["y"]}


def live_square(policy: Policy | None = None) -> LiveOverlay:
    k = policy.k if policy else 1
    return LiveOverlay(build("gm" if k == 1 else "gm2", Interests.from_mapping(SQUARE)), policy)


@pytest.mark.parametrize(
    ("changes", "field", "told"),
    [
        ([leave("nobody")], "broker", "no such broker (got 'nobody')"),
        ([join("a", ["x"])], "broker", "has joined already (got 'a')"),
        ([], "changes", "at least one change"),
        ([join("n", ["x"]), leave("n")], "changes", "it joins and it leaves (got 'n')"),
        ([leave("a"), leave("a")], "changes", "it leaves and it leaves (got 'a')"),
        ([subscribe("c", ["y"]), leave("c")], "changes", "it subscribes and it leaves (got 'c')"),
        ([leave("c"), subscribe("c", ["y"])], "changes", "it leaves and it subscribes (got 'c')"),
        (
            [subscribe("c", ["y"]), unsubscribe("c", ["y"])],
            "changes",
            "it subscribes to 'y' and unsubscribes from it (got 'c')",
        ),
        ([set_topics("c", ["y"]), set_topics("c", ["x"])], "changes", "its topics are set and its topics"),
        ([subscribe("nobody", ["x"])], "broker", "no such broker"),
        ([unsubscribe("c", ["nothing"])], "topic", "no such topic (got 'nothing')"),
        ([join("", ["x"])], "broker", "cannot be empty"),
        ([join("n", ["bad\n"])], "topic", "control characters"),
        ([Change("explode", "a")], "op", "must be join"),  # type: ignore[arg-type]
    ],
)
def test_refused_changes_leave_no_trace(changes: list[Change], field: str, told: str) -> None:
    live = live_square()
    before = live.images()
    with pytest.raises(BadInput) as refusal:
        live.plan(changes)
    assert refusal.value.field == field
    assert told in str(refusal.value)
    assert live.images() == before


def test_topics_given_as_one_text_are_refused() -> None:
    with pytest.raises(BadInput, match="topics: must be a list"):
        join("n", "xyz")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"strategy": "hope"}, "strategy"),
        ({"k": 3}, "k"),
        ({"k": True}, "k"),
        ({"rho": 0.5}, "rho"),
        ({"rho": float("nan")}, "rho"),
        ({"lambda_": 0}, "lambda"),
        ({"lambda_": 1, "k": 2}, "lambda"),
        ({"backups": "magic"}, "backups"),
        ({"draws": -1}, "draws"),
    ],
)
def test_refused_policies(given: dict[str, object], field: str) -> None:
    with pytest.raises(BadInput) as refusal:
        Policy(**given)  # type: ignore[arg-type]
    assert refusal.value.field == field


def test_an_overlay_that_is_apart_is_refused() -> None:
    interests = Interests.from_mapping(SQUARE)
    with pytest.raises(BadInput, match="must be topic-connected"):
        LiveOverlay(Overlay.from_names(interests, [("a", "c")]))
    with pytest.raises(BadInput, match="2-connected"):
        LiveOverlay(build("gm", interests), Policy(k=2))


def test_changes_that_change_nothing() -> None:
    live = live_square()
    for change in (
        subscribe("a", ["x"]),
        unsubscribe("c", ["y"]),
        set_topics("d", ["y"]),
        subscribe("a", []),
    ):
        plan = live.plan(change)
        assert plan.is_empty
        live.apply(plan)
    assert live.version == 0
    with pytest.raises(BadInput, match="undo"):
        live.undo()


def test_a_plan_fits_one_version_only() -> None:
    live = live_square()
    stale = live.plan(leave("a"))
    live.change(join("n", ["x"]))
    with pytest.raises(BadInput, match="another version"):
        live.apply(stale)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("strategy", ["shadow", "naive", "weave"])
def test_the_last_broker_of_a_topic_and_of_all(strategy: str, k: int) -> None:
    live = live_square(Policy(strategy, k=k))  # type: ignore[arg-type]
    images = [live.images()]
    for broker in ("a", "b", "c", "d"):
        live.change(leave(broker))
        assert live.snapshot().is_ktco(k)
        images.append(live.images())
    assert (live.brokers, live.topics, live.links, live.subscriptions) == (0, 0, 0, 0)
    assert live.average_degree == 0.0
    live.change(join("first", ["x", "z"]))
    live.change([join("second", ["z"]), join("third", ["z"])])
    assert live.snapshot().is_ktco(k)
    live.undo()
    live.undo()
    for image in reversed(images):
        assert live.images() == image
        if live.version:
            live.undo()


def test_a_batch_is_one_change() -> None:
    live = live_square(Policy("shadow"))
    plan = live.change([join("m", ["new"]), join("n", ["new"]), leave("c"), set_topics("d", ["x"])])
    assert (plan.joined, plan.left) == (("m", "n"), ("c",))
    assert live.version == 1
    assert plan.subscribed == (("d", "x"), ("m", "new"), ("n", "new"))
    assert plan.unsubscribed == (("c", "x"), ("d", "y"))
    assert ("m", "n") in {link.ends for link in plan.opened}
    assert live.snapshot().is_tco()


def test_reasons() -> None:
    interests = Interests.from_mapping({"a": ["x", "y"], "b": ["x"], "c": ["x", "y"], "d": ["y"]})
    live = LiveOverlay(
        Overlay.from_names(interests, [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]), Policy("shadow")
    )
    plan = live.plan(leave("c"))
    assert {(link.ends, link.reason) for link in plan.closed} == {
        (("a", "c"), "an end has left"),
        (("b", "c"), "an end has left"),
        (("c", "d"), "an end has left"),
    }
    assert [(link.ends, link.reason) for link in plan.opened] == [(("a", "d"), "connects y")]
    plan = live.plan(set_topics("b", ["z"]))
    assert {link.reason for link in plan.closed} == {"its ends share no topic any more"}
    assert [link.ends for link in live.plan_prune().closed] != []
    assert {link.reason for link in live.plan_prune().closed} == {"no topic needs it"}


def test_prune_is_asked_for() -> None:
    interests = Interests.from_mapping({name: ["x"] for name in "abcd"})
    complete = [(a, b) for a in "abcd" for b in "abcd" if a < b]
    live = LiveOverlay(Overlay.from_names(interests, complete), Policy("shadow"))
    live.change(join("e", ["x"]))
    assert live.links == 7
    before = live.images()
    assert len(live.prune().closed) == 3
    assert live.snapshot().is_tco()
    live.undo()
    assert live.images() == before


def test_going_over_to_other_links() -> None:
    interests = Interests.from_mapping({name: ["x"] for name in "abcd"})
    live = LiveOverlay(Overlay.from_names(interests, [("a", "b"), ("b", "c"), ("c", "d")]))
    plan = live.plan_links(Overlay.from_names(interests, [("a", "b"), ("a", "c"), ("a", "d")]))
    assert [link.ends for link in plan.opened] == [("a", "c"), ("a", "d")]
    assert [link.ends for link in plan.closed] == [("b", "c"), ("c", "d")]
    live.apply(plan)
    assert live.neighbours_of("a") == ["b", "c", "d"]
    with pytest.raises(BadInput, match="topic-connected"):
        live.plan_links(Overlay.from_names(interests, []))


@pytest.mark.parametrize("k", [1, 2])
def test_a_topic_that_shrinks_becomes_a_clique(k: int) -> None:
    interests = Interests.from_mapping({f"b{i}": ["x"] for i in range(6)})
    live = LiveOverlay(build("gm" if k == 1 else "gm2", interests), Policy("shadow", k=k))
    for i in range(5):
        live.change(leave(f"b{i}"))
        left = 5 - i
        assert live.snapshot().is_ktco(k)
        if left <= k + 1:
            assert live.links == left * (left - 1) // 2


@pytest.mark.parametrize("few", [2, 30, 1000])
@pytest.mark.parametrize("k", [1, 2])
def test_the_leave_of_a_hub_with_more_neighbours_than_candidates(
    k: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spokes = {f"b{i:03d}": [f"t{i % 50}", f"u{i % 7}", "all"] for i in range(150)}
    hub = {"hub": sorted({t for topics in spokes.values() for t in topics})}
    interests = Interests.from_mapping({**spokes, **hub})
    links = [(name, "hub") for name in spokes]
    if k == 2:
        links += [(a, b) for a, b in build("gm2", interests).link_names() if "hub" not in (a, b)]
        links += [link for link in build("gm2", interests).link_names() if "hub" in link]
    monkeypatch.setattr(repair_module, "PAIRS_TIMES_TOPICS", 1)
    monkeypatch.setattr(repair_module, "FEWEST_CANDIDATES", few)
    monkeypatch.setattr(repair_module, "TOPICS_AT_ONCE", 20)
    live = LiveOverlay(Overlay.from_names(interests, links), Policy("shadow", k=k))
    live.change(leave("hub"))
    assert live.snapshot().is_ktco(k)


@pytest.mark.parametrize("strategy", ["shadow", "naive", "weave"])
def test_a_hub_is_replaced_by_about_the_links_that_greedy_merge_would_add(strategy: str) -> None:
    spokes = workloads.generate(brokers=600, topics=300, subscriptions=5, seed=1)
    topics = {name: spokes.topics_of(name) for name in spokes.brokers}
    interests = Interests.from_mapping({**topics, "hub": spokes.topics})
    star = Overlay.from_names(interests, [(name, "hub") for name in spokes.brokers])
    live = LiveOverlay(star, Policy(strategy))  # type: ignore[arg-type]
    before = live.images()
    plan = live.change(leave("hub"))
    assert live.snapshot().is_tco()
    # All links were the hub's, so what greedy merge would add is a fresh overlay.
    assert len(plan.opened) < 1.03 * len(build("gm", spokes).links)
    for opened in plan.opened:
        assert set(opened.topics) <= set(topics[opened.a]) & set(topics[opened.b])
    served = sum(len(opened.topics) for opened in plan.opened)
    assert served == spokes.subscriptions - len(spokes.topics)
    live.undo()
    assert live.images() == before


def test_a_batch_of_joins_opens_fewer_links_than_one_by_one() -> None:
    whole = workloads.generate(brokers=500, topics=150, subscriptions=10, seed=2)
    first = {name: whole.topics_of(name) for name in whole.brokers[:440]}
    start = build("weave", Interests.from_mapping(first))
    changes = [join(name, whole.topics_of(name)) for name in whole.brokers[440:]]
    together, apart = LiveOverlay(start), LiveOverlay(start)
    together.change(changes)
    for change in changes:
        apart.change(change)
    assert together.snapshot().is_tco()
    assert together.links < apart.links


def test_arrays_grow_and_slots_are_used_again() -> None:
    live = LiveOverlay(Overlay.from_names(Interests.from_mapping({}), []), Policy("weave"))
    images = []
    for i in range(60):
        images.append(live.images())
        live.change(join(f"b{i}", [f"t{i % 5}", f"t{i % 7}", f"own{i}"]))
    slots = len(live._state.brokers.name)
    for i in range(0, 60, 2):
        live.change([leave(f"b{i}"), join(f"again{i}", ["t1", "t2"])])
    assert len(live._state.brokers.name) == slots + 1
    assert live.snapshot().is_tco()
    while live.version:
        live.undo()
        if live.version < 60:
            assert live.images()[:-1] == images[live.version][:-1]


@pytest.mark.parametrize("strategy", ["shadow", "weave"])
def test_long_churn_keeps_the_promise_and_the_arrays_small(strategy: str) -> None:
    interests = workloads.generate(brokers=120, topics=25, subscriptions=(3, 9), sizes="power-law", seed=2)
    live = LiveOverlay(build("gm", interests), Policy(strategy), seed=1)  # type: ignore[arg-type]
    live.refresh_backups()
    pool = len(live._state.pool)
    chance = random.Random(4)
    departed: list[tuple[str, list[str]]] = []
    for _ in range(400):
        if departed and chance.random() < 0.5:
            live.change(join(*departed.pop(chance.randrange(len(departed)))))
        else:
            broker = chance.choice(live.broker_names())
            departed.append((broker, live.topics_of(broker)))
            live.change(leave(broker))
        live.refresh_backups()
    assert live.snapshot().is_tco()
    assert len(live._state.pool) < 3 * pool + 4096


def test_a_copy_plans_the_same_and_goes_its_own_way() -> None:
    interests = workloads.generate(brokers=80, topics=12, subscriptions=3, seed=2)
    live = LiveOverlay(build("weave", interests))
    live.refresh_backups()
    live.change(leave(interests.brokers[0]))
    twin, before = live.copy(), live.images()
    assert twin.images() == before
    changes = [leave(broker) for broker in interests.brokers[1:9]] + [join("new", ["t1", "another"])]
    assert twin.plan(changes) == live.plan(changes)
    twin.change(changes)
    assert live.images() == before
    assert twin.images() != before
    twin.undo()
    assert twin.images() == before
