"""What agents have not opened yet holds up what it replaces, and nothing else, and not for ever."""

from __future__ import annotations

from backend.rebuilds.settling import ALL, Settling
from backend.store import BrokerFacts

SETTLE = 30.0


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def agents(**acked: int | None) -> dict[str, BrokerFacts]:
    """What each has acknowledged; None: a broker without an agent."""
    return {broker: BrokerFacts(acked=version) for broker, version in acked.items()}


def test_nothing_is_closed_before_all_of_the_target_was_open() -> None:
    settling = Settling({}, {}, Clock())
    settling.look(SETTLE, 4)
    assert settling.may_close(SETTLE, [("a", "b")]) < 0
    settling.is_whole(5)
    settling.look(SETTLE, 4)
    assert settling.may_close(SETTLE, [("a", "b")]) == ALL, "nobody has an agent"


def test_what_is_replaced_later_waits_for_its_own_replacements() -> None:
    clock, facts, given_up = Clock(), agents(dead=0, quick=9, none=None), dict[str, int]()
    settling = Settling(facts, given_up, clock)
    settling.opened(("dead", "none"), 10)
    settling.is_whole(10)
    settling.look(SETTLE, 9)
    clock.seconds += SETTLE - 1
    settling.look(SETTLE, 9)
    assert settling.may_close(SETTLE, ()) < 0
    clock.seconds += 1
    settling.look(SETTLE, 9)
    assert settling.may_close(SETTLE, ()) == ALL
    assert given_up == {"dead": 0}

    for version in (20, 21):  # now for one who answers, while the dead one is not waited for again
        settling.opened(("dead", "quick"), version)
    settling.is_whole(21)
    settling.look(SETTLE, 9)
    assert settling.may_close(SETTLE, ()) == 10, (
        "what was to be closed before may be, what came since may not"
    )
    facts["quick"].acked = 20
    settling.look(SETTLE, 9)
    assert settling.may_close(SETTLE, ()) == 10
    facts["quick"].acked = 21
    settling.look(SETTLE, 9)
    assert settling.may_close(SETTLE, ()) == ALL
    assert settling.may_close(SETTLE, [("none", "quick")]) == 21, "its agent has to open that one first"

    facts["dead"].acked = 15  # it is back, and waited for as any other
    settling.opened(("dead", "none"), 30)
    settling.is_whole(30)
    settling.look(SETTLE, 9)
    assert settling.may_close(SETTLE, ()) == 21


def test_agents_that_are_always_a_moment_behind_hold_up_the_last_moments_only() -> None:
    clock, facts = Clock(), agents(quick=0)
    settling = Settling(facts, {}, clock)
    bulk = 1
    for version in range(10, 100):  # its agent is always one version behind
        settling.opened(("none", "quick"), version)
        settling.is_whole(version)
        settling.look(SETTLE, bulk)
        facts["quick"].acked = version - 1
        settling.look(SETTLE, bulk)
        assert settling.may_close(SETTLE, ()) <= version - 1
    assert settling.may_close(SETTLE, ()) >= 98 - 1
    settling.look(SETTLE, 99)  # the bulk is closed
    assert settling.may_close(SETTLE, ()) < ALL
    clock.seconds += SETTLE
    assert settling.may_close(SETTLE, [("none", "quick")]) == ALL, "the end"
