"""The API away, slow or answering an error: pages say so, and come back by themselves.

On the stand-in: the real API does not come and go within a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.ui import fake_api
from tests.ui.browser import opened
from tests.ui.fake_api import FakeApi
from tests.ui.fake_jobs import FakeRebuild
from tests.ui.fake_overlay import FakeOverlay
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


# The library of queries is remembered for a minute: its page does without the API so long.
ASKING = [path for path in PAGES if path != "/queries"]


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


@dataclass(frozen=True)
class Tabs:
    """Every page in a tab of one window: they share what they have fetched."""

    console: str
    api_port: int
    overlay: FakeOverlay
    pages: dict[str, Page]

    @contextmanager
    def api(self) -> Iterator[FakeApi]:
        """The API is there."""
        with fake_api.serve(self.overlay, self.api_port) as api:
            asked = {"algorithm": "weave", "params": {}, "engine": "local"}
            api.rebuilds["r1"] = FakeRebuild("r1", asked, self.overlay, api.actor, 0.0)
            yield api

    def of(self, paths: Iterable[str]) -> list[tuple[Page, str]]:
        """These pages, each with what it shows when all is well."""
        return [(self.pages[path], PAGES[path]) for path in paths]

    def go(self) -> None:
        """Open them one after the other: together they would wait for each other's connections."""
        for path, page in self.pages.items():
            page.goto(f"{self.console}{path}", timeout=ALL_TABS_MS)


@pytest.fixture
def tabs(browser: Browser, tmp_path: Path) -> Iterator[Tabs]:
    key_file = tmp_path / "api-key"
    key_file.write_text(fake_api.KEY)
    api_port, console_port = free_port(), free_port()
    overlay = fake_api.small()
    leaves = overlay.plan([{"op": "leave", "broker": "/region/5/broker-20"}])
    overlay.apply(leaves, "leave", "/region/5/broker-20", "nightshift")
    with (
        console_on(f"http://127.0.0.1:{api_port}", key_file, console_port, tmp_path),
        opened(browser) as first,
    ):
        pages = [first, *(first.context.new_page() for _ in range(len(PAGES) - 1))]
        yield Tabs(
            f"http://127.0.0.1:{console_port}", api_port, overlay, dict(zip(PAGES, pages, strict=True))
        )


def slow_and_quick_again(tabs: Tabs, api: FakeApi, paths: Iterable[str]) -> None:
    """Opened while the API is slower than the console waits, and left alone when it is quick again."""
    asking = tabs.of(paths)
    api.delay = 5.5
    opened_anew(page for page, _ in asking)
    in_trouble((page for page, _ in asking), "The API is slow")
    api.delay = 0.0
    well_again(asking, "The API is slow")


def test_pages_say_that_the_api_is_away_slow_or_failing_and_come_back(tabs: Tabs) -> None:
    tabs.go()
    in_trouble(tabs.pages.values(), "The API does not answer")
    with tabs.api() as api:
        well_again(tabs.of(PAGES), "The API does not answer")
        slow_and_quick_again(tabs, api, ("", "/history"))
        asking = tabs.of(ASKING)
        api.trouble = (500, "The API failed", "Its log has the reason.")
        opened_anew(page for page, _ in asking)
        in_trouble((page for page, _ in asking), "The API failed")
        api.trouble = None
        well_again(asking, "The API failed")


@pytest.mark.long
def test_every_page_says_that_the_api_is_slow_and_comes_back(tabs: Tabs) -> None:
    """All at once: each waits for its answer while the clocks of the others ask."""
    with tabs.api() as api:
        api.delay = 5.5
        tabs.go()
        in_trouble(tabs.pages.values(), "The API is slow")
        api.delay = 0.0
        well_again(tabs.of(PAGES), "The API is slow")
        # And a second time, when the key's owner and whatever else is remembered is known.
        slow_and_quick_again(tabs, api, ASKING)
