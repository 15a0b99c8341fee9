"""Changes of all kinds in any order: after each one the promise holds, and the plan said exactly what changed."""

from __future__ import annotations

import igraph
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from algorithms import Overlay, build
from algorithms.live import (
    Change,
    LiveOverlay,
    Plan,
    Policy,
    join,
    leave,
    set_topics,
    subscribe,
    unsubscribe,
)
from tests.algorithms.strategies import any_interests

NAMES = [f"t{n:04d}" for n in range(6)] + ["new/one", "new two"]
TOPICS = st.sets(st.sampled_from(NAMES), max_size=5)


def is_kept(overlay: Overlay, k: int) -> bool:
    """Whether every topic is k-connected, or a clique where it has at most k subscribers, by igraph alone."""
    graph = overlay.to_igraph()
    for topic in overlay.interests.topics:
        part: igraph.Graph = graph.induced_subgraph(overlay.interests.subscribers_of(topic))
        n = part.vcount()
        if n > 1 and part.vertex_connectivity() < min(k, n - 1):
            return False
    return True


class Churn(RuleBasedStateMachine):
    """A live overlay, and a second one that gets the same changes."""

    @initialize(
        interests=any_interests(),
        strategy=st.sampled_from(["shadow", "naive", "weave"]),
        k=st.sampled_from([1, 2]),
        seed=st.integers(0, 3),
        rule=st.sampled_from(["primal-dual", "greedy"]),
    )
    def load(self, interests, strategy, k, seed, rule) -> None:  # type: ignore[no-untyped-def]
        start = build("gm" if k == 1 else "gm2", interests)
        policy = Policy(strategy, k=k, backups=rule)
        self.k = k
        self.live, self.again = LiveOverlay(start, policy, seed=seed), LiveOverlay(start, policy, seed=seed)
        self.joined = 0
        self.topics = {b: set(interests.topics_of(b)) for b in interests.brokers}

    def some_broker(self, data: st.DataObject) -> str:
        broker: str = data.draw(st.sampled_from(sorted(self.topics)))
        return broker

    def happen(self, change: Change | list[Change]) -> None:
        before = self.live.images()
        links = set(self.live.snapshot().link_names())
        plan = self.live.plan(change)
        assert self.live.images() == before, "planning leaves no trace"
        assert self.live.plan(change) == plan
        self.live.apply(plan)
        self.check_difference(plan, links)
        if not plan.is_empty:
            self.live.undo()
            assert self.live.images() == before, "undo restores every array"
            self.live.apply(plan)
        assert self.again.change(change) == plan, "the same seed gives the same links"

    def check_difference(self, plan: Plan, links: set[tuple[str, str]]) -> None:
        after = self.live.snapshot()
        now = set(after.link_names())
        assert [link.ends for link in plan.opened] == list(dict.fromkeys(link.ends for link in plan.opened))
        assert {link.ends for link in plan.opened} == now - links
        assert {link.ends for link in plan.closed} == links - now
        assert all(link.reason for link in (*plan.opened, *plan.closed))
        assert all(link.topics for link in plan.opened)
        had = {(b, t) for b, topics in self.topics.items() for t in topics}
        self.topics = {b: set(after.interests.topics_of(b)) for b in after.interests.brokers}
        have = {(b, t) for b, topics in self.topics.items() for t in topics}
        assert set(plan.subscribed) == have - had
        assert set(plan.unsubscribed) == had - have

    def newcomer(self) -> str:
        self.joined += 1
        return f"n{self.joined}"

    @rule(topics=TOPICS)
    def join_one(self, topics: set[str]) -> None:
        self.happen(join(self.newcomer(), topics))

    @precondition(lambda self: self.topics)
    @rule(data=st.data())
    def leave_one(self, data: st.DataObject) -> None:
        self.happen(leave(self.some_broker(data)))

    @precondition(lambda self: self.topics)
    @rule(data=st.data(), topics=TOPICS)
    def subscribe_one(self, data: st.DataObject, topics: set[str]) -> None:
        self.happen(subscribe(self.some_broker(data), topics))

    @precondition(lambda self: any(self.topics.values()))
    @rule(data=st.data())
    def unsubscribe_one(self, data: st.DataObject) -> None:
        broker = data.draw(st.sampled_from(sorted(b for b, topics in self.topics.items() if topics)))
        self.happen(unsubscribe(broker, data.draw(st.sets(st.sampled_from(sorted(self.topics[broker]))))))

    @precondition(lambda self: self.topics)
    @rule(data=st.data(), topics=TOPICS)
    def set_one(self, data: st.DataObject, topics: set[str]) -> None:
        self.happen(set_topics(self.some_broker(data), topics))

    @precondition(lambda self: len(self.topics) > 2)
    @rule(data=st.data(), newcomers=st.lists(TOPICS, max_size=3), changed=TOPICS)
    def batch(self, data: st.DataObject, newcomers: list[set[str]], changed: set[str]) -> None:
        brokers = data.draw(
            st.lists(st.sampled_from(sorted(self.topics)), min_size=2, unique=True, max_size=5)
        )
        changes = [join(self.newcomer(), topics) for topics in newcomers]
        changes += [leave(broker) for broker in brokers[:-1]] + [set_topics(brokers[-1], changed)]
        self.happen(data.draw(st.permutations(changes)))

    @rule(limit=st.integers(1, 5))
    def refresh(self, limit: int) -> None:
        assert self.live.refresh_backups(limit) == self.again.refresh_backups(limit)

    @rule()
    def prune(self) -> None:
        links = set(self.live.snapshot().link_names())
        plan = self.live.prune()
        assert {link.ends for link in plan.closed} == links - set(self.live.snapshot().link_names())
        assert not plan.opened
        self.again.prune()

    @invariant()
    def the_promise_holds(self) -> None:
        if not hasattr(self, "live"):
            return
        overlay = self.live.snapshot()
        assert is_kept(overlay, self.k)
        assert overlay.is_ktco(self.k)
        assert (self.live.links, self.live.subscriptions) == (
            len(overlay.links),
            overlay.interests.subscriptions,
        )
        assert self.live.max_degree == self.again.max_degree == overlay.max_degree
        assert all(
            set(overlay.interests.topics_of(a)) & set(overlay.interests.topics_of(b))
            for a, b in overlay.link_names()
        ), "the ends of every link share a topic"


TestChurn = Churn.TestCase
TestChurn.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
