"""In headless Chromium on the stand-in API: refusals, failures and files, which AppTest does not see."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Download, Page, expect

from tests.ui import fake_api, fake_overlay
from tests.ui.browser import opened, settled
from tests.ui.fake_api import FakeApi
from tests.ui.fake_jobs import FakeRebuild, FakeSimulation
from tests.ui.processes import free_port
from tests.ui.system import console_on
from ui import states

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class StandIn:
    """A console on a stand-in API."""

    api: FakeApi
    console: str


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    folder = tmp_path_factory.mktemp("stand-in")
    key_file = folder / "api-key"
    key_file.write_text(fake_api.KEY)
    port = free_port()
    with fake_api.serve(fake_api.small()) as api, console_on(api.url, key_file, port, folder):
        yield StandIn(api, f"http://127.0.0.1:{port}")


@pytest.fixture
def stand_in(console: StandIn) -> Iterator[StandIn]:
    """The same console for all, the overlay and its jobs anew for each."""
    api = console.api
    api.overlay, api.trouble, api.trouble_with_sending = fake_api.small(), None, None
    api.rebuilds.clear()
    api.simulations.clear()
    leaves = api.overlay.plan([{"op": "leave", "broker": "/region/5/broker-20"}])
    api.overlay.apply(leaves, "leave", "/region/5/broker-20", "nightshift")
    yield console
    api.trouble = api.trouble_with_sending = None


def rows(download: Download) -> list[dict[str, str]]:
    with Path(download.path()).open() as file:
        return list(csv.DictReader(file))


FILES = {
    "topics": ("All topics as CSV", "name", 65),
    "brokers": ("All brokers as CSV", "id", 21),
    "history": ("All of these as CSV", "version", 1),
    "topic?topic=%2Fcrowd": ("Links as CSV", "broker_a", 600),
}


def test_files_of_all_rows_come_and_say_so_when_they_cannot(stand_in: StandIn, browser: Browser) -> None:
    with opened(browser) as first:
        pages = [first, *(first.context.new_page() for _ in range(len(FILES) - 1))]
        for page, (path, (label, column, lines)) in zip(pages, FILES.items(), strict=True):
            if "crowd" in path:
                # Now, for the stand-in takes long over lists with so many brokers.
                crowd = [f"/crowd/broker-{number}" for number in range(600)]
                stand_in.api.overlay.graphs["/crowd"] = fake_overlay.star("/region/0/broker-0", *crowd)
            page.goto(f"{stand_in.console}/{path}")
            wanted = page.get_by_role("button", name=label)
            wanted.wait_for()
            settled(page)
            with page.expect_download() as coming:
                wanted.click()
            assert len({row[column] for row in rows(coming.value)}) == lines
        # Longer than an answer is remembered.
        first.wait_for_timeout(2200)
        stand_in.api.trouble = (503, "Not ready", "Starting")
        for page, (label, _, _) in zip(pages, FILES.values(), strict=True):
            page.get_by_role("button", name=label).click()
            expect(page.get_by_test_id("stDownloadButtonError")).to_be_visible()


def refused(page: Page, label: str) -> None:
    page.get_by_test_id("stMain").get_by_role("button", name=label, exact=True).click()
    expect(page.get_by_text("Conflict", exact=True)).to_be_visible()
    # The part is drawn again every 0.7 s: what is said has to stay.
    page.wait_for_timeout(1500)
    expect(page.get_by_text("Conflict", exact=True)).to_be_visible()


def test_a_stop_and_a_cancel_that_are_refused_say_so(stand_in: StandIn, browser: Browser) -> None:
    api = stand_in.api
    request = {"source": "live", "rounds": 200, "join_share": 0.5, "strategy": "weave", "k": 1, "seed": 1}
    run = api.simulations["1"] = FakeSimulation("1", request, api.overlay, api.actor, 60_000.0)
    run.began = time.monotonic() - 30_000
    asked = {"algorithm": "weave", "params": {}, "engine": "local"}
    api.rebuilds["r1"] = FakeRebuild("r1", asked, api.overlay, api.actor, 600.0)
    api.trouble_with_sending = (409, "Conflict", "it is over")
    with opened(browser) as page:
        page.goto(f"{stand_in.console}/simulator?runs=1")
        refused(page, "Stop")
        page.goto(f"{stand_in.console}/rebuilds")
        refused(page, "Cancel")


def test_a_page_that_failed_comes_back_by_itself(stand_in: StandIn, browser: Browser) -> None:
    """Not ``opened``: the mistake is meant."""
    stand_in.api.overlay.alarms = [{"kind": "an answer without its other fields"}]
    page = browser.new_page()
    try:
        page.goto(stand_in.console)
        expect(page.get_by_text(states.FAILED)).to_be_visible()
        stand_in.api.overlay.alarms = []
        expect(page.get_by_text("Largest blast radius")).to_be_visible()
        expect(page.get_by_text(states.FAILED)).to_have_count(0)
    finally:
        page.close()


def test_what_happens_in_another_window_is_noticed(stand_in: StandIn, browser: Browser) -> None:
    api = stand_in.api
    asked = {"algorithm": "weave", "params": {}, "engine": "local"}
    rebuild = api.rebuilds["r1"] = FakeRebuild("r1", asked, api.overlay, api.actor, 1000.0)
    rebuild.activated = time.monotonic()
    with opened(browser) as page:
        page.goto(f"{stand_in.console}/rebuild?rebuild=r1")
        expect(page.get_by_role("button", name="Roll back …")).to_be_visible()
        # Neither the state nor the pause moves with it.
        rebuild.rolled_back = time.monotonic()
        expect(page.get_by_role("button", name="Roll back …")).to_have_count(0)
        page.goto(f"{stand_in.console}/rebuilds")
        links = api.overlay.figures()["links"]
        expect(page.get_by_text(f"The live overlay has {links} links")).to_be_visible()
        leaves = api.overlay.plan([{"op": "leave", "broker": "/region/0/broker-0"}])
        api.overlay.apply(leaves, "leave", "/region/0/broker-0", "another person")
        assert api.overlay.figures()["links"] != links
        expect(
            page.get_by_text(f"The live overlay has {api.overlay.figures()['links']} links")
        ).to_be_visible()
