"""A change carried out on the arrays: interests altered, backups of newcomers built, topics mended, links thinned.

This is one repair by the policy's strategy; who calls it reads the outcome and rolls back (a plan).

========  ==========================================================  =======================================
strategy  candidates beside former neighbours and newcomers           rule
========  ==========================================================  =======================================
shadow    backups of who came or went (shadow Alg 7, 9, 10)           low degree with rho
naive     every subscriber of the topics (shadow Alg 3, 4)            low degree with rho
weave     a few random subscribers of the topics                      low degree with rho, rare topics worth
                                                                      more, high degrees marked down; then
                                                                      links made redundant are closed
========  ==========================================================  =======================================

Who changes alone is mended pair by pair, in less than a millisecond; where several change at once (weave), or the
candidates are too many for that, the engine mends.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np

from algorithms.interests import Ints
from algorithms.live.alter import alter
from algorithms.live.backups import rebuild_backups
from algorithms.live.candidates import gather
from algorithms.live.crowd import NOTES_A_LINK, mend_crowd
from algorithms.live.mend import mend
from algorithms.live.plan import STRATEGIES, Policy
from algorithms.live.rows import BACKUPS, KINDS, LENGTH
from algorithms.live.state import State
from algorithms.live.thin import thin

TOPICS_AT_ONCE = 256
"""A repair looks at so many topics together; a broker with thousands is repaired in several goes, each seeing the links
of those before, so that no table of all its topics by all candidates is ever made."""
PAIRS_TIMES_TOPICS = 1 << 23
"""Bound on what a repair weighs: the leave of a hub with thousands of neighbours must not take seconds."""
FEWEST_CANDIDATES = 64
NOBODY = np.empty(0, np.int32)
NO_PAIRS = np.empty((0, 2), np.int32)
DRAWS_OF_A_JOIN = 4
"""A join weighs one pair a candidate, not all pairs of them, and so may look at more."""
DRAWS_OF_A_CROWD = 20
"""The engine takes candidates by the thousand: 100 joins at 2,000 brokers open 840 links so, 1,123 with as many draws as
one join, 971 one after the other."""


@dataclass(frozen=True)
class InterestSteps:
    """A change of interests in slots: brokers, and rows (broker, topic)."""

    newcomers: Ints
    leavers: Ints
    removed: Ints
    added: Ints

    @property
    def several(self) -> bool:
        """Whether more than one broker changes."""
        if len(self.newcomers) + len(self.leavers) > 1:
            return True
        changed = np.concatenate([self.newcomers, self.leavers, self.removed[:, 0], self.added[:, 0]])
        return len(changed) > 1 and bool((changed != changed[0]).any())


@dataclass(frozen=True)
class Outcome:
    """What a repair did, in slots."""

    lost: Ints
    """Links the change itself closed, rows (end, end, why)."""
    opened: Ints
    served: Ints
    """Rows (link opened, topic it connects)."""
    thinned: Ints
    backups: Ints
    """Rows (newcomer, backup)."""


def repair(state: State, policy: Policy, steps: InterestSteps, seed: int) -> Outcome:
    """Carry a change out and repair what it broke."""
    random = np.array([seed % 2147483646 + 1], np.int64)
    shadow = policy.strategy == "shadow"
    touched = NOBODY
    if shadow:
        touched = np.unique(np.concatenate([steps.leavers, steps.removed[:, 0], steps.added[:, 0]]))
    extras = [state.row(BACKUPS, v) for v in touched.tolist()]
    for v in steps.leavers.tolist():
        state.make_log_room(NOTES_A_LINK * int(state.rows[KINDS * v : KINDS * v + BACKUPS, LENGTH].sum()))
    former, lost = alter(steps.leavers, steps.removed, steps.added, *state.arrays)
    backups = NO_PAIRS
    if shadow and len(steps.newcomers):
        rebuild_backups(
            steps.newcomers,
            policy.lambda_,
            policy.backups == "greedy",
            seed,
            *state.arrays,
            state.scratch,
            state.clock,
        )
        found = [state.row(BACKUPS, v) for v in steps.newcomers.tolist()]
        extras += found
        backups = np.column_stack(
            [np.repeat(steps.newcomers, [len(row) for row in found]), np.concatenate(found)]
        )
    extra = np.concatenate(extras) if extras else NOBODY
    if len(steps.leavers):
        extra = extra[~np.isin(extra, steps.leavers)]
    opened, served = _mended(state, policy, former, steps.added, extra, random, several=steps.several)
    thinned = NO_PAIRS
    if policy.strategy == "weave" and len(opened):
        thinned = thin(policy.k, policy.tries, opened, *state.arrays, state.scratch, state.clock)
    return Outcome(lost, opened, served, thinned, backups)


def _mended(
    state: State,
    policy: Policy,
    former: Ints,
    added: Ints,
    extra: Ints,
    random: np.ndarray[tuple[int], np.dtype[np.int64]],
    *,
    several: bool,
) -> tuple[Ints, Ints]:
    topics, starts, seeds, newcomers = gather(former, added, state.rows, state.scratch)
    grew = not len(former)
    weave = policy.strategy == "weave"
    draws = policy.draws * (DRAWS_OF_A_JOIN if grew else 1)
    most = _most_candidates(min(len(topics), TOPICS_AT_ONCE))
    crowded = len(seeds) > most and len(np.unique(seeds)) > most
    if policy.k == 1 and (crowded or (several and weave)):
        return mend_crowd(
            state, policy, topics, starts, seeds, newcomers, extra, draws * DRAWS_OF_A_CROWD, random
        )
    links, served = [NO_PAIRS], [NO_PAIRS]
    for first in range(0, len(topics), TOPICS_AT_ONCE):
        last = min(first + TOPICS_AT_ONCE, len(topics))
        some, these = mend(
            STRATEGIES[policy.strategy],
            policy.k,
            policy.lambda_,
            float(policy.rho),
            float(policy.alpha) if weave else 0.0,
            float(policy.delta) if weave else 0.0,
            draws,
            _most_candidates(last - first),
            grew,
            topics[first:last],
            starts[first : last + 1] - starts[first],
            seeds[starts[first] : starts[last]],
            newcomers[first:last],
            extra,
            *state.arrays,
            state.scratch,
            state.clock,
            random,
        )
        these[:, 0] += sum(len(group) for group in links)
        links.append(some)
        served.append(these)
    return np.concatenate(links), np.concatenate(served)


def _most_candidates(topics: int) -> int:
    """So many candidates may be weighed pair by pair for so many topics."""
    return max(FEWEST_CANDIDATES, isqrt(2 * PAIRS_TIMES_TOPICS // max(topics, 1)))
