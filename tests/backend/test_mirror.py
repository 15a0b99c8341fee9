"""What is worked out from a whole overlay: once a version for all who ask, and of each kind one at a time."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

from algorithms import Interests, Overlay, build
from algorithms.live import join
from backend.live.mirror import Mirror
from backend.policy import Policy
from backend.store import StoredOverlay


def mirror_of(interests: Interests) -> Mirror:
    overlay = build("gm", interests)
    links = dict.fromkeys(overlay.link_names(), (0, "demo"))
    return Mirror(StoredOverlay(overlay=overlay, version=0, policy=Policy(), links=links, facts={}))


async def change(mirror: Mirror) -> None:
    await asyncio.sleep(0)  # whoever was to ask has asked by then
    mirror.live.apply(mirror.live.plan(join(f"n{mirror.version}", ["x"])))


async def asked_while_changes_come() -> None:
    mirror = mirror_of(Interests.from_mapping({"a": ["x"], "b": ["x"]}))
    goes_on, works = threading.Event(), []

    def work(overlay: Overlay, _: Policy) -> int:
        works.append(len(overlay.interests.brokers))
        assert goes_on.wait(30)
        return len(overlay.interests.brokers)

    ask = partial(mirror.derived, "brokers", work)
    first = [asyncio.create_task(ask()) for _ in range(3)]
    await change(mirror)
    later = [asyncio.create_task(ask())]
    await change(mirror)
    later += [asyncio.create_task(ask()) for _ in range(3)]
    await change(mirror)
    while not works:
        await asyncio.sleep(0.01)
    goes_on.set()
    assert await asyncio.gather(*first) == [(0, 2)] * 3
    # Those who asked at versions 1 and 2 get what was begun when the first was done.
    assert await asyncio.gather(*later) == [(3, 5)] * 4
    assert works == [2, 5]
    assert await ask() == (3, 5)


def test_those_who_ask_while_changes_come_share_one_answer() -> None:
    asyncio.run(asked_while_changes_come())


async def failing() -> None:
    mirror = mirror_of(Interests.from_mapping({"a": ["x"]}))
    tried: list[int] = []

    def work(overlay: Overlay, _: Policy) -> str:
        tried.append(1)
        if len(tried) == 1:
            raise ValueError("the first time")
        return "done"

    first = asyncio.create_task(mirror.derived("work", work))
    await asyncio.wait([first])
    assert isinstance(first.exception(), ValueError)
    assert await mirror.derived("work", work) == (0, "done")


def test_what_failed_is_tried_again_for_who_asks_next() -> None:
    asyncio.run(failing())
