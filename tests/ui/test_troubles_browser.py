"""The API away or answering an error, and slow on the overview: pages say so, and come back by themselves.

On the stand-in: the real API does not come and go within a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.ui import fake_api
from tests.ui.browser import opened
from tests.ui.fake_jobs import FakeRebuild
from tests.ui.processes import free_port
from tests.ui.system import console_on

pytestmark = pytest.mark.browser

# All pages at once on two cores that others use too.
ALL_TABS_MS = 120_000
PAGES = {
    "": "stMetric",
    "/topics": "stDataFrame",
    "/topic?topic=%2Forders%2Fpaid": "stMetric",
    "/brokers": "stDataFrame",
    "/broker?broker=%2Fregion%2F0%2Fbroker-0": "stMetric",
    "/history": "stDataFrame",
    "/what-if?leave=%2Fregion%2F0%2Fbroker-0": "stMetric",
    "/simulator": "stExpander",
    "/rebuilds": "stSlider",
    "/rebuild?rebuild=r1": "stMetric",
    "/queries": "stSelectbox",
}


def in_trouble(pages: Iterable[Page], title: str) -> None:
    """Every page says it."""
    for page in pages:
        told = page.get_by_test_id("stMain").get_by_text(title).first
        expect(told, page.url).to_be_visible(timeout=ALL_TABS_MS)


def well_again(pages: Iterable[tuple[Page, str]], title: str) -> None:
    """Every page shows its subject, and says it no more; nobody has touched it."""
    for page, shown in pages:
        main = page.get_by_test_id("stMain")
        expect(main.get_by_test_id(shown).first, page.url).to_be_visible(timeout=ALL_TABS_MS)
        expect(main.get_by_text(title), page.url).to_have_count(0, timeout=ALL_TABS_MS)


def opened_anew(pages: Iterable[Page]) -> None:
    """Each without what it showed before."""
    for page in pages:
        page.reload(timeout=ALL_TABS_MS)


def test_pages_say_that_the_api_is_away_slow_or_failing_and_come_back(
    browser: Browser, tmp_path: Path
) -> None:
    key_file = tmp_path / "api-key"
    key_file.write_text(fake_api.KEY)
    api_port, console_port = free_port(), free_port()
    overlay = fake_api.small()
    leaves = overlay.plan([{"op": "leave", "broker": "/region/5/broker-20"}])
    overlay.apply(leaves, "leave", "/region/5/broker-20", "nightshift")
    with ExitStack() as running:
        running.enter_context(console_on(f"http://127.0.0.1:{api_port}", key_file, console_port, tmp_path))
        first = running.enter_context(opened(browser))
        # Tabs of one window: they share what they have fetched.
        pages = [first, *(first.context.new_page() for _ in range(len(PAGES) - 1))]
        for page, path in zip(pages, PAGES, strict=True):
            # One after the other: together they would wait for each other's connections.
            page.goto(f"http://127.0.0.1:{console_port}{path}", timeout=ALL_TABS_MS)
        in_trouble(pages, "The API does not answer")
        with fake_api.serve(overlay, api_port) as api:
            asked = {"algorithm": "weave", "params": {}, "engine": "local"}
            api.rebuilds["r1"] = FakeRebuild("r1", asked, overlay, api.actor, 0.0)
            well_again(zip(pages, PAGES.values(), strict=True), "The API does not answer")
            # The library of queries is remembered for a minute: the last page does without the API so long.
            asking = dict(list(zip(pages, PAGES.values(), strict=True))[:-1])
            overview = list(asking.items())[:1]
            api.delay = 5.5
            opened_anew([first])
            in_trouble([first], "The API is slow")
            api.delay = 0.0
            well_again(overview, "The API is slow")
            api.trouble = (500, "The API failed", "Its log has the reason.")
            opened_anew(asking)
            in_trouble(asking, "The API failed")
            api.trouble = None
            well_again(asking.items(), "The API failed")
