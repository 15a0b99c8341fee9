"""Activation: from the live links to a target, make-before-break, in bounded batches, while churn goes on.

Live changes are planned on the live links alone, by any process, so the live overlay is a (k)TCO at every version. The
target is a second overlay beside it, which follows every change with a repair of its own and so is a (k)TCO of the same
interests at every version too. A batch opens links of the target that are not open, and where none is left after it, it
closes links that are not of the target: what stays open then contains the target. Each batch is planned under the lock
of its commit, so nothing comes between the look and the step. It ends with the batch that makes both the same: with
clients that never rest, a moment later they differ again.

Nothing but the candidates and the state is kept in Neo4j: a process that resumes fits the candidates to the interests
of that moment and goes on. Rolling back is the same with the links of before as candidates.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice, takewhile

import structlog
from neo4j.exceptions import DriverError, Neo4jError

from algorithms import BadInput, LiveOverlay
from algorithms.live import LinkChange, Plan, plan_around
from backend.errors import NotReady, Problem
from backend.failures import LATELY, failed_since
from backend.imports.merge import brought_since
from backend.live import Mirror, Proposal
from backend.manager import Manager
from backend.rebuilds.build import fitted
from backend.rebuilds.rebuild import NO_WISHES, Activation, Rebuild, State, links_before
from backend.rebuilds.settling import Settling
from backend.record import ChangeRecord, Pair
from backend.store import rebuilds as store
from backend.store.commit import Statement

log = structlog.get_logger(__name__)

LINKS_A_BATCH = 250
LARGEST_BATCH = 4
"""Times that: a batch grows while churn brings more to open than batches open, or as much."""
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_BETWEEN_BEATS = 2.0
SECONDS_AFTER_TROUBLE = 1.0
SECONDS_OF_FOLLOWING = 0.01
"""The target follows for so long at a time, then lets others have the event loop."""
RECORDS_AT_ONCE = 8
SUBSCRIPTIONS_FOLLOWED = 2000
"""A change of more subscriptions is not followed, nor is a merge: the target is made anew, in a thread."""


class _Lost(Exception):
    """Another process goes on with this activation, or it is over."""


class Activator:
    """The task that activates one rebuild."""

    def __init__(self, manager: Manager, rebuild: Rebuild, owner: str) -> None:
        self.rebuild = rebuild
        self.wishes = asyncio.Event()
        """Set when somebody wants it paused, resumed or rolled back."""
        self._manager = manager
        self._owner = owner
        self._mirror: Mirror | None = None
        self._target: LiveOverlay | None = None
        self._wanted: set[Pair] = set()
        self._to_open: dict[Pair, None] = {}
        self._to_close: dict[Pair, int] = {}
        """Since which version of the target, the oldest first."""
        self._given_up: dict[str, int] = {}
        self._settling = Settling({}, self._given_up)
        self._after_batch = Activation()
        self._left = (0, 0)
        """To open and to close, after the batch that was planned last."""
        self._left_before = (1 << 62, 0)
        self._growth = 1

    @property
    def _activation(self) -> Activation:
        assert self.rebuild.activation is not None
        return self.rebuild.activation

    async def run(self) -> None:
        """Until the live links are those of the target, or somebody else goes on with it."""
        beats = asyncio.create_task(self._beat())
        try:
            while not await self._tried():
                pass
        except _Lost:
            log.warning("an activation is no longer ours", id=self.rebuild.id)
        finally:
            beats.cancel()

    async def _tried(self) -> bool:
        """One step; what keeps it from being done is told with the rebuild, and tried again."""
        try:
            return await self._step()
        except (NotReady, Neo4jError, DriverError, OSError) as error:
            log.warning("an activation waits", id=self.rebuild.id, reason=str(error))
            reason = str(error)
        except _Lost:
            raise
        except Exception as error:
            log.exception("an activation met an error; its target is made anew", id=self.rebuild.id)
            reason = f"{type(error).__name__}: {error}"
            self._target = None
        with suppress(Neo4jError, DriverError, OSError):
            await self._write(error=f"waiting: {reason}")
        await asyncio.sleep(SECONDS_AFTER_TROUBLE)
        return False

    async def _step(self) -> bool:
        """One batch, or one moment of waiting; whether all is done."""
        if await self._heed_wishes():
            await self._pause(SECONDS_BETWEEN_LOOKS)
            return False
        if self._target is None or self._manager.mirror is not self._mirror:
            await self._prepare()
            return False  # that may have taken long: wishes first
        await self._catch_up()
        activation = self._activation
        if not self._to_open and not self._to_close:
            return await self._finish(self._target.version)
        if not self._may_go_on():
            activation.phase = "settling"
            await self._write(error=None)
            await self._pause(SECONDS_BETWEEN_LOOKS)
            return False
        proposal = Proposal(
            "rollback" if activation.rollback else "activate",
            activation.actor or self.rebuild.actor,
            self._plan_batch,
            also=self._progress,
            committed=self._note,
            alone=True,
        )
        try:
            answer = await self._manager.writer.submit(proposal)
        except NotReady:
            await self._heed_wishes()  # where it was refused because it is not ours any more, this says so
            raise
        grows = self._left >= self._left_before
        self._growth = min(2 * self._growth, LARGEST_BATCH) if grows else max(self._growth // 2, 1)
        self._left_before = self._left
        to_open, to_close = self._left
        if not to_open:
            self._settling.is_whole(answer.version)
        return not (to_open or to_close) and await self._finish(answer.version)

    async def _heed_wishes(self) -> bool:
        """Read what operators want meanwhile; whether it is to be paused."""
        self.wishes.clear()
        found = await store.read_one(self._manager.database, self.rebuild.id)
        if found is None or found[0]["state"] != "activating" or found[0].get("owner") != self._owner:
            raise _Lost
        activation = self._activation
        if found[0].get("returning") and not activation.rollback:
            self.rebuild.activation = activation = Activation(
                rollback=True,
                before_kept=activation.before_kept,
                actor=found[0].get("returned_by") or activation.actor,
            )
            self._target = None
        activation.paused = bool(found[0].get("paused"))
        return activation.paused

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.wishes.wait(), seconds)

    # The target

    async def _prepare(self) -> None:
        """The target for the interests of now: the candidates that still make sense, and what they lack."""
        rebuild, database, activation = self.rebuild, self._manager.database, self._activation
        if not activation.before_kept:
            await store.clear_candidates(database, rebuild.id, self._owner, under=rebuild.before)
            await store.write_candidates(
                database,
                rebuild.id,
                list(self._manager.mirror.links),
                ["activating"],
                self._owner,
                under=rebuild.before,
            )
            activation.before_kept = True
            await self._write()
        links = set(
            await store.read_candidates(database, rebuild.before if activation.rollback else rebuild.id)
        )
        mirror = self._manager.mirror
        # No await between these copies: they are one version.
        freeze, version, policy, live = (
            mirror.live.freeze(),
            mirror.version,
            mirror.policy,
            dict(mirror.links),
        )
        failed = failed_since(mirror, rebuild.created_at - LATELY)
        # A federation that was merged since the plan was made keeps its links: the plan knew nothing of them.
        links |= brought_since(live, rebuild.base_version)

        def make() -> tuple[LiveOverlay, set[Pair]]:
            overlay = fitted(freeze(), list(links), policy.k)
            target = LiveOverlay(overlay, policy.repairs(), check=False, version=version)
            for a, b in sorted(failed.intersection(overlay.link_names())):
                with suppress(BadInput):  # its topics have nobody else
                    target.apply(plan_around(target, a, b, failed))
            target.version = version
            wanted = set(target.snapshot().link_names())
            self._compare(wanted, live, version)
            return target, wanted

        self._target, self._wanted = await asyncio.to_thread(make)
        self._mirror = mirror

    def _compare(self, wanted: set[Pair], live: dict[Pair, tuple[int, str]], version: int) -> None:
        """What is left to open and to close, and what agents have to open, from scratch."""
        self._to_open = dict.fromkeys(sorted(wanted - live.keys()))
        self._to_close = dict.fromkeys(sorted(live.keys() - wanted), version)
        self._settling = Settling(self._manager.mirror.facts, self._given_up)
        for link in wanted & live.keys():
            self._settling.opened(link, live[link][0])

    def _compare_again(self, touched: set[Pair], version: int) -> None:
        """The same for the links that something happened to at a version of the target."""
        live = self._manager.mirror.links
        for link in sorted(touched):
            is_open, is_wanted = link in live, link in self._wanted
            if is_wanted and not is_open:
                self._to_open[link] = None
            else:
                self._to_open.pop(link, None)
            if is_open and not is_wanted:
                self._to_close.setdefault(link, version)
            else:
                self._to_close.pop(link, None)
            if is_wanted and is_open:
                self._settling.opened(link, live[link][0])

    async def _catch_up(self) -> None:
        """Let the target follow all that happened since the last look, a moment at a time."""
        while not self._follow(SECONDS_OF_FOLLOWING):
            await asyncio.sleep(0)

    def _follow(self, seconds: float = float("inf")) -> bool:
        """Let the target follow what happened to the live overlay, for so long; whether it is at the same version."""
        target, mirror = self._target, self._manager.mirror
        if target is None or mirror is not self._mirror:
            raise NotReady("the overlay was loaded anew")
        ending = time.monotonic() + seconds
        while target.version != mirror.version or target.policy != mirror.live.policy:
            records = self._manager.feed.after(target.version, RECORDS_AT_ONCE)
            if (
                not records
                or target.policy != mirror.live.policy
                or any(
                    record.kind == "merge"
                    or len(record.subscribed) + len(record.unsubscribed) > SUBSCRIPTIONS_FOLLOWED
                    for record in records
                )
            ):
                self._target = None
                raise NotReady("the target is made anew for what happened meanwhile")
            for record in records:
                self._follow_one(target, record)
            if time.monotonic() > ending:
                return False
        return True

    def _follow_one(self, target: LiveOverlay, record: ChangeRecord) -> None:
        touched = {*record.opened, *record.closed}
        for plan in self._target_plans(target, record):
            target.apply(plan)
            opened, closed = ({link.ends for link in links} for links in (plan.opened, plan.closed))
            self._wanted -= closed
            self._wanted |= opened
            touched |= opened | closed
        target.version = record.version
        self._compare_again(touched, record.version)

    def _target_plans(self, target: LiveOverlay, record: ChangeRecord) -> Iterator[Plan]:
        """What a change of the live overlay means for the target."""
        changes = record.changes()
        if changes:
            yield target.plan(changes)
        if record.kind == "failure":
            failed = failed_since(self._manager.mirror, self.rebuild.created_at - LATELY)
            for a, b in record.closed:
                if (a, b) in self._wanted:
                    yield plan_around(target, a, b, failed)

    # Batches

    def _plan_batch(self, live: LiveOverlay) -> Plan:
        """The next links to open, and where that is all of the target, to close; called under the lock of the commit."""
        self._follow()
        most = LINKS_A_BATCH * self._growth
        opened, closed = list(islice(self._to_open, most)), []
        if len(opened) == len(self._to_open):
            until = self._settling.may_close(self._manager.mirror.policy.settle_seconds, opened)
            ready = takewhile(lambda link: self._to_close[link] <= until, self._to_close)
            # Under churn there is always something to open.
            closed = list(islice(ready, max(most - len(opened), 1 + most // 5)))
        self._left = len(self._to_open) - len(opened), len(self._to_close) - len(closed)
        now = self._activation
        self._after_batch = replace(
            now,
            phase="closing" if closed else "opening",
            opened=now.opened + len(opened),
            to_open=now.opened + len(self._to_open),
            closed=now.closed + len(closed),
            to_close=now.closed + len(self._to_close),
        )
        try:
            return live.replay(
                Plan(
                    live.version,
                    opened=tuple(LinkChange(a, b, "rebuild") for a, b in opened),
                    closed=tuple(LinkChange(a, b, "replaced") for a, b in closed),
                )
            )
        except BadInput as error:
            self._target = None
            raise Problem(f"a batch does not fit: {error}") from None

    def _progress(self, _: int) -> tuple[Statement, ...]:
        """Told in the batch's own transaction, which fails where another process has the activation by then."""
        properties = {"activation": json.dumps(self._after_batch.as_json()), "error": None}
        return (store.batch_statement(self.rebuild.id, properties, self._owner),)

    def _note(self) -> None:
        self.rebuild.activation = self._after_batch

    def _may_go_on(self) -> bool:
        """Whether there is something to open, or something to close whose replacements have settled."""
        assert self._target is not None
        # The policy is asked at each look: an operator may shorten the time while it runs.
        seconds = self._manager.mirror.policy.settle_seconds
        oldest = next(iter(self._to_close.values()), None)
        if not self._to_open:
            self._settling.is_whole(self._target.version)
        self._settling.look(seconds, oldest)
        return bool(self._to_open) or (oldest is not None and oldest <= self._settling.may_close(seconds, ()))

    # Its record

    async def _beat(self) -> None:
        """Say that somebody works on it, however long a step takes."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_BEATS)
            with suppress(Neo4jError, DriverError, OSError):
                await store.change(
                    self._manager.database, self.rebuild.id, {}, ["activating"], owner=self._owner
                )

    async def _write(self, **more: str | None) -> None:
        properties = {"activation": self.rebuild.properties()["activation"], **more}
        found = await store.change(
            self._manager.database, self.rebuild.id, properties, ["activating"], owner=self._owner
        )
        if found is None:
            raise _Lost

    async def _finish(self, version: int) -> bool:
        """All was as planned at a version: the rebuild is active, or planned again; what was active before is history.

        False where an operator wants it back meanwhile, or another process has it: the next step looks.
        """
        database, back = self._manager.database, self._activation.rollback
        ended = replace(
            self.rebuild,
            state="planned" if back else "active",
            error=None,
            activation=replace(self._activation, phase="done"),
        )
        properties = {**ended.properties(), **NO_WISHES, "owner": None}
        replaced = await store.end_activation(database, ended.id, self._owner, properties, heed=not back)
        if replaced is None:
            return False
        self.rebuild = ended
        log.info("activation ends", id=ended.id, state=ended.state, version=version)
        for other in replaced:
            await delete_links(self._manager, other)
        return True


async def drop_links(manager: Manager, rebuild: Rebuild, *states: State) -> bool:
    """Make history of a rebuild that is (still) in one of the states; whether it was."""
    database = manager.database
    if await store.change(database, rebuild.id, {"state": "dropped"}, states, beats=False) is None:
        return False
    await delete_links(manager, rebuild.id)
    return True


async def delete_links(manager: Manager, rebuild: str) -> None:
    """Remove all links that are stored for a rebuild: its own, and those of before its activation."""
    for links in (rebuild, links_before(rebuild)):
        await store.delete_candidates(manager.database, links)
