"""Around a failed link: the promise holds without it, whatever link it is; what cannot do without it is named."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import BadInput, Interests, build
from algorithms.live import LiveOverlay, Policy, plan_around
from tests.algorithms.strategies import any_interests


@settings(max_examples=60, deadline=None)
@given(any_interests(), st.sampled_from([1, 2]), st.data())
def test_the_promise_holds_without_the_link(interests: Interests, k: int, data: st.DataObject) -> None:
    live = LiveOverlay(build("gm" if k == 1 else "gm2", interests), Policy(k=k))
    links = live.snapshot().link_names()
    if not links:
        return
    a, b = data.draw(st.sampled_from(links))
    try:
        plan = plan_around(live, a, b)
    except BadInput as error:
        smallest = min(len(live.subscribers_of(topic)) for topic in live.shared_topics(a, b))
        assert smallest <= k + 1, str(error)  # noqa: PT017
        return
    live.apply(plan)
    after = live.snapshot()
    assert (a, b) not in after.link_names()
    assert after.is_ktco(k)
    assert {link.ends for link in plan.opened} == set(after.link_names()) - set(links)


def test_what_is_no_link_or_cannot_be_missed_is_named() -> None:
    live = LiveOverlay(build("gm", Interests.from_mapping({"a": ["x"], "b": ["x"], "c": []})))
    with pytest.raises(BadInput, match="no such link"):
        plan_around(live, "a", "c")
    with pytest.raises(BadInput, match="only these two"):
        plan_around(live, "b", "a")


@pytest.mark.parametrize("k", [1, 2])
def test_what_failed_lately_too_comes_last(k: int) -> None:
    live = LiveOverlay(
        build("gm" if k == 1 else "gm2", Interests.from_mapping({v: ["x"] for v in "abcdef"})), Policy(k=k)
    )
    a, b = live.snapshot().link_names()[0]
    failed: set[tuple[str, str]] = set()
    for _ in range(3):
        plan = plan_around(live, a, b, failed)
        opened = {link.ends for link in plan.opened}
        assert opened
        assert opened.isdisjoint(failed)
        failed |= opened
    everybody = {(v, w) for v in "abcdef" for w in "abcdef" if v < w}
    assert plan_around(live, a, b, everybody).opened, "better one that failed than none"
