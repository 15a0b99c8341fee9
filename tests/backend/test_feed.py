"""The feed keeps the newest records, by number and by what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from backend.api import events
from backend.live import feed as module
from backend.live.feed import Feed
from backend.record import ChangeRecord

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def records(first: int, last: int, topics: int = 0) -> Iterator[ChangeRecord]:
    for version in range(first, last + 1):
        at = BEGAN + timedelta(seconds=version)
        subscribed = tuple(("b", f"t{i}") for i in range(topics))
        yield ChangeRecord(version, "group", at, "tests", "join", "b", subscribed=subscribed)


def versions(found: list[ChangeRecord] | None) -> list[int] | None:
    return None if found is None else [record.version for record in found]


def test_it_keeps_so_many_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RECORDS_KEPT", 5)
    feed = Feed()
    assert (feed.first, feed.after(0)) == (None, [])
    feed.publish(records(1, 8))
    assert feed.first == 4
    assert versions(feed.after(5)) == [6, 7, 8]
    assert versions(feed.after(3, limit=2)) == [4, 5]
    assert versions(feed.after(2)) is None


def test_it_keeps_no_more_than_so_many_links_and_subscriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ENTRIES_KEPT", 10)
    feed = Feed()
    feed.publish(records(1, 4, topics=4))
    assert feed.first == 3
    feed.publish(records(5, 5, topics=1000))
    assert feed.first == 5, "the newest is kept however large it is"
    feed.publish(records(6, 8, topics=3))
    assert feed.first == 6
    feed.restart()
    feed.publish(records(9, 11, topics=3))
    assert feed.first == 9


def test_since_a_moment_the_newest_come_first() -> None:
    feed = Feed()
    feed.publish(records(1, 6))
    assert [record.version for record in feed.since(BEGAN + timedelta(seconds=4))] == [6, 5, 4]
    assert list(feed.since(BEGAN + timedelta(seconds=7))) == []


def test_the_events_of_large_changes_are_not_kept() -> None:
    events._kept_event.cache_clear()
    (small,), (large,) = (records(1, 1, topics=many) for many in (2, events.ENTRIES_KEPT + 1))
    for one in (small, large, small, large):
        assert events._event(one).startswith(b"event: change")
    assert events._kept_event.cache_info().currsize == 1
