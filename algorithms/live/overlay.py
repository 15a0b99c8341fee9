"""LiveOverlay: an overlay that changes, always a TCO (a 2TCO where asked), with plans, an undo log and backups.

A plan is found by doing: interests are changed, links opened and closed on the arrays themselves, the difference is
read off, and everything is rolled back. So a plan holds exactly what applying it will change, and planning leaves no
trace. It is not for several threads at once: whoever reads in another thread takes a :meth:`LiveOverlay.snapshot`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from algorithms.errors import BadInput
from algorithms.interests import Interests, Ints, Longs
from algorithms.live.alter import alter, swap_links
from algorithms.live.backups import rebuild_backups, stale_brokers, write_backups
from algorithms.live.changes import Change, Difference, difference
from algorithms.live.inspect import shared_topics, split_topics, topic_links
from algorithms.live.naming import named_plan
from algorithms.live.plan import LinkChange, Plan, Policy, Steps, Why
from algorithms.live.repair import NO_PAIRS, NOBODY, InterestSteps, repair
from algorithms.live.replay import replayed
from algorithms.live.rows import (
    BACKUPS,
    FLAG,
    KINDS,
    LENGTH,
    LOGGED,
    NEIGHBOURS,
    PRIMARIES,
    SUBSCRIBERS,
    TOPICS,
)
from algorithms.live.state import Slots, State
from algorithms.overlay import Overlay
from algorithms.prune import pruned

BROKERS_AT_ONCE = 256
UNDO_STEPS = 1024


@dataclass
class _Done:
    """What it takes to undo one applied plan."""

    plan: Plan
    noted: list[Longs]
    ended_topics: list[str]
    recycled: tuple[int, int]
    """How many of the newcomers' slots, and of the new topics', had been used before."""


class LiveOverlay:
    """A mutable overlay, loaded from an :class:`Overlay` that is a TCO (kTCO) already.

    The same overlay, policy, seed and changes give the same links. ``check=False`` trusts the caller that the overlay
    keeps what the policy promises. ``version`` is where its counter starts.

    >>> from algorithms import Interests, build
    >>> from algorithms.live import join, leave
    >>> live = LiveOverlay(build("gm", Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["y"]})))
    >>> live.change(join("d", ["x", "y"])).joined, live.version, live.degree_of("b")
    (('d',), 1, 2)
    >>> plan = live.plan(leave("b"))
    >>> live.apply(plan)
    >>> live.neighbours_of("d"), live.snapshot().is_tco()
    (['a', 'c'], True)
    >>> live.undo()
    >>> live.subscribers_of("y"), live.version
    (['b', 'c', 'd'], 1)
    """

    def __init__(
        self,
        overlay: Overlay,
        policy: Policy | None = None,
        *,
        seed: int = 0,
        check: bool = True,
        version: int = 0,
    ) -> None:
        self.policy = policy or Policy()
        self.seed = seed
        self.version = version
        if check:
            _check_promise(overlay, self.policy.k)
        self._state = State(overlay)
        self._state.rows[BACKUPS::KINDS, FLAG][: self.brokers] = 1
        self._done: deque[_Done] = deque(maxlen=UNDO_STEPS)
        self._max_degree: int | None = None
        """None: it is to be looked for."""

    @property
    def brokers(self) -> int:
        """How many brokers there are."""
        return len(self._state.brokers.of)

    @property
    def topics(self) -> int:
        """How many topics have subscribers."""
        return len(self._state.topics.of)

    @property
    def subscriptions(self) -> int:
        """How many (broker, topic) pairs there are."""
        return self._state.subscriptions

    @property
    def links(self) -> int:
        """How many links are open."""
        return self._state.links

    @property
    def average_degree(self) -> float:
        """Two ends a link, shared by all brokers; 0.0 without brokers."""
        return 2 * self.links / self.brokers if self.brokers else 0.0

    @property
    def max_degree(self) -> int:
        """The largest number of links of one broker."""
        if self._max_degree is None:
            self._max_degree = int(self._state.lengths(NEIGHBOURS).max(initial=0))
        return self._max_degree

    def __contains__(self, broker: object) -> bool:
        return broker in self._state.brokers.of

    def broker_names(self) -> list[str]:
        """Every broker, ascending."""
        return sorted(self._state.brokers.of)

    def topic_names(self) -> list[str]:
        """Every topic that has subscribers, ascending."""
        return sorted(self._state.topics.of)

    def topics_of(self, broker: str) -> list[str]:
        """The topics of a broker, ascending."""
        return self._names(TOPICS, broker)

    def neighbours_of(self, broker: str) -> list[str]:
        """The brokers it has links to, ascending."""
        return self._names(NEIGHBOURS, broker)

    def backups_of(self, broker: str) -> list[str]:
        """Its backups, ascending."""
        return self._names(BACKUPS, broker)

    def primaries_of(self, broker: str) -> list[str]:
        """The brokers it is a backup of, ascending."""
        return self._names(PRIMARIES, broker)

    def subscribers_of(self, topic: str) -> list[str]:
        """The subscribers of a topic, ascending."""
        return self._names(SUBSCRIBERS, topic)

    def degree_of(self, broker: str) -> int:
        """How many links a broker has."""
        return int(self._state.lengths(NEIGHBOURS)[self._slot("broker", self._state.brokers)(broker)])

    def topic_sizes(self) -> Longs:
        """How many subscribers each topic has, in the order of :meth:`topic_names`."""
        slot = self._state.topics.of
        return self._state.lengths(SUBSCRIBERS)[[slot[name] for name in sorted(slot)]]

    def topic_counts(self) -> Longs:
        """How many topics each broker has, in the order of :meth:`broker_names`."""
        return self._by_name(TOPICS)

    def degrees(self) -> Longs:
        """How many links each broker has, in the order of :meth:`broker_names`."""
        return self._by_name(NEIGHBOURS)

    def backup_counts(self) -> Longs:
        """How many backups each broker has, in the order of :meth:`broker_names`."""
        return self._by_name(BACKUPS)

    def primaries(self) -> Longs:
        """How many brokers each one is a backup of, in the order of :meth:`broker_names`."""
        return self._by_name(PRIMARIES)

    def snapshot(self) -> Overlay:
        """The overlay of this moment; it does not change with the live one."""
        return self._state.overlay()

    def freeze(self) -> Callable[[], Overlay]:
        """A quick copy of the arrays; calling it, in any thread and at any time, gives the overlay of this moment."""
        return self._state.frozen().overlay

    def copy(self) -> LiveOverlay:
        """A quick copy that goes its own way: what it plans is what this one would plan; it cannot undo what was before."""
        twin = LiveOverlay.__new__(LiveOverlay)
        twin.policy, twin.seed, twin.version = self.policy, self.seed, self.version
        twin._state = self._state.copy()
        twin._done = deque(maxlen=UNDO_STEPS)
        twin._max_degree = self._max_degree
        return twin

    def images(self) -> tuple[bytes, ...]:
        """Every array as bytes: what :meth:`undo` restores to the bit."""
        return (*self._state.images(), str(self.version).encode())

    # Plans

    def plan(self, change: Change | Iterable[Change]) -> Plan:
        """What a change, or a batch seen as one, would do; nothing is changed."""
        changes = (change,) if isinstance(change, Change) else tuple(change)
        state = self._state
        found = difference(
            changes,
            {c.broker: frozenset(self.topics_of(c.broker)) for c in changes if c.broker in self},
            state.topics.of,
        )
        new_topics = [t for t in dict.fromkeys(t for _, t in found.subscribed) if t not in state.topics.of]
        topic_slots = state.topics.next(len(new_topics))
        broker_slots = state.brokers.next(len(found.joined))
        state.make_room(
            len(state.brokers.name) + len(broker_slots), len(state.topics.name) + len(topic_slots)
        )
        broker_of = {**dict(zip(found.joined, broker_slots, strict=True))}
        topic_of = {**dict(zip(new_topics, topic_slots, strict=True))}
        steps = self._in_slots(found, broker_of, topic_of)
        state.begin()
        try:
            outcome = state.attempt(lambda: repair(state, self.policy, steps, self._draw()))
        finally:
            state.take_back()
        gone = [(b, t) for b in found.left for t in self.topics_of(b)]
        return named_plan(self.version, state, found, gone, steps, outcome, broker_of, topic_of)

    def _in_slots(
        self, found: Difference, broker_of: dict[str, int], topic_of: dict[str, int]
    ) -> InterestSteps:
        brokers, topics = self._state.brokers.of, self._state.topics.of

        def pairs(subscriptions: list[tuple[str, str]]) -> Ints:
            if not subscriptions:
                return NO_PAIRS
            return np.array(
                [
                    (
                        broker_of[b] if b in broker_of else brokers[b],
                        topic_of[t] if t in topic_of else topics[t],
                    )
                    for b, t in subscriptions
                ],
                np.int32,
            )

        return InterestSteps(
            np.array(list(broker_of.values()), np.int32),
            np.array([brokers[b] for b in found.left], np.int32),
            pairs(found.unsubscribed),
            pairs(found.subscribed),
        )

    def plan_links(self, target: Overlay) -> Plan:
        """The way from the live links to those of an overlay of the same interests, as after a rebuild."""
        if target.interests.brokers != tuple(self.broker_names()):
            raise BadInput("target", repr(target), "must have the brokers of the live overlay")
        _check_promise(target, self.policy.k)
        wanted = set(target.link_names())
        have = set(self.snapshot().link_names())
        return self._plan_of_links(sorted(wanted - have), sorted(have - wanted), "replaced")

    def replay(self, written: Plan) -> Plan:
        """The plan for a difference that was found elsewhere: exactly that one, in this overlay's slots."""
        return replayed(self._state, self.version, written)

    def plan_prune(self) -> Plan:
        """Close every link that no topic needs for its k; a repair by shadow or naive closes nothing like that."""
        overlay = self.snapshot()
        kept = Overlay.from_links(overlay.interests, pruned(overlay.interests, overlay.links, self.policy.k))
        closed = sorted(set(overlay.link_names()) - set(kept.link_names()))
        return self._plan_of_links([], closed, "redundant")

    def prune(self) -> Plan:
        """Plan and apply :meth:`plan_prune`."""
        plan = self.plan_prune()
        self.apply(plan)
        return plan

    def _plan_of_links(self, opened: list[tuple[str, str]], closed: list[tuple[str, str]], why: Why) -> Plan:
        slot = self._state.brokers.of

        def ends(links: list[tuple[str, str]]) -> Ints:
            return np.array([(slot[a], slot[b]) for a, b in links], np.int32).reshape(-1, 2)

        return Plan(
            self.version,
            opened=tuple(LinkChange(a, b, "rebuild") for a, b in opened),
            closed=tuple(LinkChange(a, b, why) for a, b in closed),
            steps=Steps(NOBODY, NO_PAIRS, NO_PAIRS, ends(opened), ends(closed), NO_PAIRS, ()),
        )

    # Changes

    def apply(self, plan: Plan) -> None:
        """Do what a plan says; it must have been made for this version, by this overlay or by a copy of it that has
        applied the same plans since. An empty plan changes nothing."""
        steps = plan.steps
        if plan.version != self.version or steps is None:
            raise BadInput("plan", plan.version, f"was made for another version than {self.version}")
        if plan.is_empty:
            return
        state = self._state
        state.make_room(
            len(state.brokers.name) + len(plan.joined), len(state.topics.name) + len(steps.new_topics)
        )
        state.begin()
        busiest = self._busiest_of(steps.closed)
        state.attempt(lambda: self._write(steps))
        if (
            self._max_degree is None
            or len(steps.leavers)
            or len(steps.removed)
            or busiest == self._max_degree
        ):
            self._max_degree = None  # looked for when it is asked for: the busiest may have lost links
        else:
            self._max_degree = max(self._max_degree, self._busiest_of(steps.opened))
        noted = state.log[: state.counts[LOGGED]].copy()
        recycled = (
            min(len(plan.joined), len(state.brokers.unused)),
            min(len(steps.new_topics), len(state.topics.unused)),
        )
        # Newcomers take the slots they were planned to have, so nobody's slot is given back before that.
        for broker in plan.joined:
            state.brokers.add(broker)
        for topic in steps.new_topics:
            state.topics.add(topic)
        for broker in plan.left:
            state.brokers.remove(broker)
        subscribers = state.lengths(SUBSCRIBERS)
        ended = [
            topic
            for topic in dict.fromkeys(topic for _, topic in plan.unsubscribed)
            if not subscribers[state.topics.of[topic]]
        ]
        for topic in ended:
            state.topics.remove(topic)
        state.links += len(plan.opened) - len(plan.closed)
        state.subscriptions += len(plan.subscribed) - len(plan.unsubscribed)
        self.version += 1
        self._done.append(_Done(plan, [noted], ended, recycled))

    def _write(self, steps: Steps) -> None:
        arrays = self._state.arrays
        alter(steps.leavers, steps.removed, steps.added, *arrays)
        swap_links(steps.opened, steps.closed, *arrays)
        write_backups(steps.backups, *arrays)

    def _busiest_of(self, links: Ints) -> int:
        """The largest degree at the ends of these links; -1 without any."""
        return int(self._state.rows[NEIGHBOURS::KINDS, LENGTH][links.ravel()].max(initial=-1))

    def change(self, change: Change | Iterable[Change]) -> Plan:
        """Plan and apply."""
        plan = self.plan(change)
        self.apply(plan)
        return plan

    def undo(self) -> None:
        """Take the last applied plan back, every array to the bit; up to ``UNDO_STEPS`` of them are remembered."""
        if not self._done:
            raise BadInput("undo", self.version, "no applied plan is remembered")
        done = self._done.pop()
        state, plan = self._state, done.plan
        assert plan.steps is not None
        for noted in reversed(done.noted):
            state.undo(noted)
        for topic in reversed(done.ended_topics):
            state.topics.unremove(topic)
        for broker in reversed(plan.left):
            state.brokers.unremove(broker)
        for slots, names, recycled in (
            (state.topics, plan.steps.new_topics, done.recycled[1]),
            (state.brokers, plan.joined, done.recycled[0]),
        ):
            for i in range(len(names) - 1, -1, -1):
                slots.unadd(names[i], i < recycled)
        state.links -= len(plan.opened) - len(plan.closed)
        state.subscriptions -= len(plan.subscribed) - len(plan.unsubscribed)
        self._max_degree = None
        self.version -= 1

    # Backups

    @property
    def stale_backups(self) -> int:
        """How many brokers wait for their backups to be built (anew)."""
        return int(np.count_nonzero(self._state.rows[BACKUPS::KINDS, FLAG]))

    def next_stale(self, limit: int) -> list[str]:
        """The brokers whose backups the next :meth:`refresh_backups` builds."""
        slots = stale_brokers(self._state.rows, len(self._state.brokers.name), limit)
        return [str(self._state.brokers.name[slot]) for slot in slots.tolist()]

    def enter_backups(self, backups: dict[str, list[str]]) -> None:
        """Backups that were built before, for brokers that have none here; those who went are left out."""
        slot = self._state.brokers.of
        pairs = [
            (slot[broker], slot[backup])
            for broker, its in backups.items()
            for backup in its
            if broker in slot and backup in slot and broker != backup and not self.backups_of(broker)
        ]
        entered = np.array(pairs, np.int32).reshape(-1, 2)
        self._state.begin()
        self._state.attempt(lambda: write_backups(entered, *self._state.arrays))
        self._note()

    def refresh_backups(self, limit: int | None = None) -> int:
        """Build the backups of brokers that want it, at most so many; how many were built (shadow Alg 6 and 8).

        Repairs do not wait for this: a service calls it when idle. Links and version stay; an undo takes it back too.
        """
        state, policy = self._state, self.policy
        built = 0
        while limit is None or built < limit:
            some = BROKERS_AT_ONCE if limit is None else min(BROKERS_AT_ONCE, limit - built)
            brokers = stale_brokers(state.rows, len(state.brokers.name), some)
            if not len(brokers):
                break
            seed = self._draw()
            state.begin()
            state.attempt(
                lambda brokers=brokers, seed=seed: rebuild_backups(  # type: ignore[misc]
                    brokers,
                    policy.lambda_,
                    policy.backups == "greedy",
                    seed,
                    *state.arrays,
                    state.scratch,
                    state.clock,
                )
            )
            self._note()
            built += len(brokers)
        return built

    def _note(self) -> None:
        """Let an undo of the last change take back what was just written beside it."""
        if self._done:
            state = self._state
            self._done[-1].noted.append(state.log[: state.counts[LOGGED]].copy())

    # Questions

    def shared_topics(self, a: str, b: str) -> list[str]:
        """The topics two brokers share, ascending; what a link between them serves."""
        slot = self._slot("broker", self._state.brokers)
        return self._topic_names(shared_topics(self._state, slot(a), slot(b)))

    def blast_radius(self, broker: str) -> list[str]:
        """The topics that would come apart if this broker failed, before any repair, ascending."""
        return self._topic_names(split_topics(self._state, self._slot("broker", self._state.brokers)(broker)))

    def topic_overlay(self, topic: str) -> Overlay:
        """One topic by itself: its subscribers and the links among them."""
        slot = self._slot("topic", self._state.topics)(topic)
        names = [str(self._state.brokers.name[v]) for v in self._state.row(SUBSCRIBERS, slot).tolist()]
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), np.int32)
        rank[order] = np.arange(len(names), dtype=np.int32)
        interests = Interests.from_dense(
            [names[i] for i in order],
            [topic],
            np.arange(len(names), dtype=np.int32),
            np.zeros(len(names), np.int32),
        )
        return Overlay.from_links(interests, rank[topic_links(self._state, slot)])

    # Names and numbers

    @staticmethod
    def _slot(field: str, slots: Slots) -> Callable[[str], int]:
        def find(name: str) -> int:
            if name not in slots.of:
                raise BadInput(field, name, f"no such {field}")
            return slots.of[name]

        return find

    def _topic_names(self, slots: Ints) -> list[str]:
        return sorted(str(self._state.topics.name[t]) for t in slots.tolist())

    def _draw(self) -> int:
        """The seed of whatever is random at this version."""
        return ((self.seed + 1) * 1_000_003 + self.version * 7919) % 2147483629

    def _names(self, kind: int, owner: str) -> list[str]:
        state = self._state
        field, slots = ("topic", state.topics) if kind == SUBSCRIBERS else ("broker", state.brokers)
        if owner not in slots.of:
            raise BadInput(field, owner, f"no such {field}")
        names = state.topics.name if kind == TOPICS else state.brokers.name
        return sorted(str(names[i]) for i in state.row(kind, slots.of[owner]).tolist())

    def _by_name(self, kind: int) -> Longs:
        slot = self._state.brokers.of
        return self._state.lengths(kind)[[slot[name] for name in sorted(slot)]]

    def __repr__(self) -> str:
        return f"<LiveOverlay: version {self.version}, {self.brokers} brokers, {self.links} links>"


def _check_promise(overlay: Overlay, k: int) -> None:
    if k == 1:
        apart = overlay.topics_apart()
        if apart:
            raise BadInput(
                "overlay", apart[0], f"must be topic-connected, but {len(apart)} topics are apart, one is"
            )
        return
    weak = overlay.topics_below(k)
    if weak:
        raise BadInput("overlay", weak[0].topic, f"must be {k}-connected in every topic, but {weak[0]}")
