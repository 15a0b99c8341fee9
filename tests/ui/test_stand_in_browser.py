"""In headless Chromium on the stand-in API: refusals, failures and files, which AppTest does not see."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Download, Page, expect

from tests.ui import fake_api, fake_overlay
from tests.ui.browser import PATIENCE_MS, cell, figure, opened, settled
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


@pytest.mark.parametrize(
    ("word", "typed", "name"),
    [("topic", "stock/lev", "/stock/levels"), ("broker", "0/broker-0", "/region/0/broker-0")],
)
def test_a_row_is_opened_without_a_mouse(
    stand_in: StandIn, browser: Browser, word: str, typed: str, name: str
) -> None:
    with opened(browser) as page:
        page.goto(f"{stand_in.console}/{word}s")
        page.get_by_test_id("stDataFrame").wait_for()
        settled(page)
        page.get_by_role("searchbox").focus()
        box = page.get_by_role("combobox", name=f"Open a {word}")
        for _ in range(10):
            page.keyboard.press("Tab")
            if box.evaluate("element => element === document.activeElement"):
                break
        expect(box).to_be_focused()
        page.keyboard.type(typed)
        page.get_by_role("option", name=name).first.wait_for()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        # Back shows the list, and does not open the same again.
        page.go_back()
        expect(page.get_by_role("heading", name=f"{word.capitalize()}s", exact=True)).to_be_visible()
        page.wait_for_timeout(1500)
        expect(page.get_by_role("heading", name=f"{word.capitalize()}s", exact=True)).to_be_visible()


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


ODD = (
    "orders.*.eu.*",
    "$SYS/_hid_/$y",
    "#",
    "1. ~~gone~~ <b>x</b>",
    "[link](http://127.0.0.1/)",
    ":red[y] :material/home: :smile: -> `tick`",
)
LINK = ("/region/0/broker-0", "/region/0/broker-1")


def shown(page: Page, test_id: str) -> str:
    """What is read there; a sign without a width keeps others from being taken for an icon."""
    return page.get_by_test_id(test_id).first.inner_text().replace("\N{WORD JOINER}", "")


@pytest.mark.parametrize("name", ODD)
def test_a_name_and_a_reason_are_shown_as_they_are(stand_in: StandIn, browser: Browser, name: str) -> None:
    overlay, broker = stand_in.api.overlay, f"{name}/broker"
    overlay.graphs[name] = fake_overlay.star(broker, "/region/0/broker-0")
    overlay.failures[broker] = [{"link": LINK, "reason": f"refused: {name}", "at": "2026-03-01T22:07:00Z"}]
    leaves = overlay.plan([{"op": "leave", "broker": f"{name}/gone"}])
    overlay.apply(leaves, "leave", f"{name}/gone", name)
    with opened(browser) as page:
        page.goto(f"{stand_in.console}/topic?topic={quote(name, safe='')}")
        expect(page.get_by_role("heading", name="Brokers", exact=True)).to_be_visible()
        assert shown(page, "stHeading") == name
        page.goto(f"{stand_in.console}/broker?broker={quote(broker, safe='')}")
        expect(page.get_by_text("could not be opened")).to_be_visible()
        assert shown(page, "stHeading") == broker
        said = page.get_by_test_id("stAlert").nth(1).inner_text().replace("\N{WORD JOINER}", "")
        assert f"The link {LINK[0]} – {LINK[1]} could not be opened: refused: {name} (2026" in said
        page.goto(f"{stand_in.console}/history?change={overlay.version}")
        found = page.get_by_role("heading", name=re.compile("^Version 3: leave"))
        expect(found).to_be_visible()
        assert found.inner_text().replace("\N{WORD JOINER}", "") == f"Version 3: leave {name}/gone"


FORMS: dict[str, tuple[str, str, str, Callable[[dict[str, Any]], object]]] = {
    "rebuilds?algorithm=gm": ("seed", "Run", "/v1/rebuilds", lambda body: body["seed"]),
    "simulator": ("Rounds", "Simulate", "/v1/simulations", lambda body: body["rounds"]),
    "queries?query=top_brokers": (
        "limit",
        "Run",
        "/v1/queries/top_brokers/run",
        lambda body: body["params"]["limit"],
    ),
}


@pytest.mark.parametrize("path", FORMS)
def test_a_field_that_the_click_itself_leaves_counts(stand_in: StandIn, browser: Browser, path: str) -> None:
    label, button, target, read = FORMS[path]
    api = stand_in.api
    with opened(browser) as page:
        page.goto(f"{stand_in.console}/{path}")
        run = page.get_by_test_id("stMain").get_by_role("button", name=button, exact=True)
        run.wait_for()
        settled(page)
        api.sent.clear()
        # Longer than an answer is remembered: the run that the field begins is waiting for the API when the click comes.
        page.wait_for_timeout(2500)
        api.delay = 0.4
        try:
            page.get_by_test_id("stMain").get_by_label(label, exact=True).fill("37")
            run.click()
            wait_for(page, lambda: any(sent[1] == target for sent in api.sent))
            # Long enough for whatever would send it again.
            page.wait_for_timeout(2500)
        finally:
            api.delay = 0.0
        assert [read(body) for _, sent, body in api.sent if sent == target] == [37]


def wait_for(page: Page, good: Callable[[], bool]) -> None:
    """For what no element says."""
    end = time.monotonic() + PATIENCE_MS / 1000
    while not good():
        assert time.monotonic() < end
        page.wait_for_timeout(50)


def moves(api: FakeApi, times: int = 1) -> None:
    """Somebody subscribes to something."""
    for _ in range(times):
        steps = [
            {"op": "subscribe", "broker": "/region/0/broker-1", "topics": [f"/new/{api.overlay.version}"]}
        ]
        api.overlay.apply(api.overlay.plan(steps), "subscribe", "/region/0/broker-1", "another person")


def test_a_list_follows_the_overlay_and_leaves_alone_whoever_types(
    stand_in: StandIn, browser: Browser
) -> None:
    api = stand_in.api
    with opened(browser) as page:
        page.goto(f"{stand_in.console}/topics?sort=name&page=2")
        expect(page.get_by_text("51–65 of 65 topics at version 2.")).to_be_visible()
        moves(api)
        expect(page.get_by_text("51–66 of 66 topics at version 3.")).to_be_visible()
        search = page.get_by_role("searchbox")
        search.focus()
        for letter in "orders":
            # As it comes, before the box has told what is in it.
            search.press(letter)
            moves(api)
            page.wait_for_timeout(700)
        expect(search).to_be_focused()
        expect(search).to_have_value("orders")
        expect(page.get_by_text("2 topics found at version 9.")).to_be_visible()
        box = page.get_by_role("combobox", name="Open a topic")
        box.focus()
        page.keyboard.type("creat")
        moves(api)
        expect(page.get_by_text("2 topics found at version 10.")).to_be_visible()
        expect(box).to_be_focused()
        expect(box).to_have_value("creat")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="/orders/created", exact=True)).to_be_visible()


def test_the_history_says_that_there_is_more_and_shows_it_when_asked(
    stand_in: StandIn, browser: Browser
) -> None:
    with opened(browser) as page:
        page.goto(f"{stand_in.console}/history")
        expect(cell(page, 0, 0)).to_have_text("2")
        actor = page.get_by_label("Actor")
        actor.fill("anoth")
        moves(stand_in.api)
        expect(page.get_by_text("The overlay moved on to version 3.")).to_be_visible()
        expect(cell(page, 0, 0)).to_have_text("2")
        expect(actor).to_have_value("anoth")
        actor.fill("")
        page.get_by_role("button", name="Show it").click()
        expect(cell(page, 0, 0)).to_have_text("3")
        expect(page.get_by_text("moved on")).to_have_count(0)


def test_what_was_done_is_said_while_others_go_on(stand_in: StandIn, browser: Browser) -> None:
    api, broker = stand_in.api, "/region/0/broker-0"
    with opened(browser) as page:
        page.goto(f"{stand_in.console}/broker?broker={broker}")
        page.get_by_role("button", name="Unsubscribe …").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("combobox").fill("created")
        page.keyboard.press("Enter")
        expect(dialog.get_by_text("Planned at")).to_be_visible()
        page.keyboard.press("Tab")
        dialog.get_by_role("textbox").last.fill(broker)
        dialog.get_by_role("button", name="Unsubscribe", exact=True).click()
        expect(page.get_by_text("gave up 1 topic. Version 3")).to_be_visible()
        change = api.overlay.changes[-1]
        assert (change["kind"], change["broker"]) == ("unsubscribe", broker)
        assert broker not in api.overlay.graphs["/orders/created"]
        for _ in range(2):
            moves(api)
            expect(figure(page, "Version")).to_have_text(str(api.overlay.version))
        expect(page.get_by_text("gave up 1 topic. Version 3")).to_be_visible()
        page.goto(stand_in.console)
        expect(cell(page, 2, 2)).to_have_text(f"unsubscribe {broker}")
