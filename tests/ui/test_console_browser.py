"""The real console on the real API over a real Neo4j with the demo overlay, in headless Chromium.

Every page opened here must end without an exception box, an error in the browser's console, a page error, or a
request that leaves the machine (tests/ui/browser.py).
"""

from __future__ import annotations

import functools
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, FloatRect, expect

from tests.ui.browser import Theme, background, cell, click_until, metric, opened, settled
from tests.ui.system import Stack
from ui import states
from ui.palette import PALETTES
from ui.topic_graph import spread

pytestmark = [pytest.mark.browser, pytest.mark.neo4j]

TOPIC = "/localization/kinematic_state"


def from_the_middle(place: tuple[float, float], box: FloatRect) -> tuple[float, float]:
    return box["x"] + box["width"] / 2 + place[0], box["y"] + box["height"] / 2 + place[1]


def topic_address(stack: Stack, name: str) -> str:
    return f"{stack.console}/topic?topic={quote(name, safe='')}"


def test_the_overview_shows_the_overlays_figures(stack: Stack, browser: Browser) -> None:
    overlay = stack.get("/v1/overlay")
    with opened(browser) as page:
        page.goto(stack.console)
        expect(page.get_by_text(f"All {overlay['topics']} topics are connected")).to_be_visible()
        settled(page)
        shown = {
            "Version": "version",
            "Brokers": "brokers",
            "Topics": "topics",
            "Links": "links",
            "Max degree": "max_degree",
        }
        assert {label: metric(page, label) for label in shown} == {
            label: f"{overlay[name]:,}" for label, name in shown.items()
        }
        assert metric(page, "Avg degree") == f"{overlay['average_degree']:.2f}"
        expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible()
        for title in ("Most links", "Largest diameter", "Most articulation brokers", "Largest blast radius"):
            expect(page.get_by_role("heading", name=title)).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_topic_is_drawn_and_a_click_names_a_broker(stack: Stack, browser: Browser, theme: Theme) -> None:
    graph = stack.get(f"/v1/topics/{quote(TOPIC, safe='')}/graph")
    places = dict(zip((node["id"] for node in graph["nodes"]), spread(graph["nodes"]), strict=True))
    with opened(browser, theme) as page:
        page.goto(topic_address(stack, TOPIC))
        expect(page.get_by_role("heading", name=TOPIC)).to_be_visible()
        canvas = page.locator(".st-key-drawing canvas").first
        canvas.wait_for()
        settled(page)
        assert background(page) == PALETTES[theme].background
        assert metric(page, "Subscribers") == str(len(graph["nodes"]))
        assert metric(page, "Components") == "1"
        expect(page.get_by_text(f"The one component: {len(graph['nodes'])} brokers")).to_be_visible()
        # Two brokers, the first and the last in the order of their ids: placed where the API said.
        for chosen in (min(places), max(places)):
            named = page.locator(".st-key-explained").get_by_text(chosen, exact=True)
            click_until(page, canvas, functools.partial(from_the_middle, places[chosen]), named)
        # A link to it says who is selected.
        assert "selected=" in page.url
        page.reload()
        expect(page.locator(".st-key-explained").get_by_text(max(places), exact=True)).to_be_visible()
        page.locator(".st-key-drawing canvas").first.wait_for()
        settled(page)
        assert "selected=" in page.url
        page.get_by_role("link", name="Open broker").click()
        expect(page.get_by_role("heading", name=max(places), exact=True)).to_be_visible()
        expect(page.get_by_role("tab", name="Topics")).to_be_visible()


def test_moving_into_a_table_with_the_keyboard_opens_nothing(stack: Stack, browser: Browser) -> None:
    with opened(browser) as page:
        page.goto(f"{stack.console}/topics")
        page.get_by_test_id("stDataFrame").wait_for()
        settled(page)
        page.get_by_role("searchbox").focus()
        inside = "!!document.activeElement.closest('[data-testid=stDataFrame] canvas')"
        for _ in range(25):
            page.keyboard.press("Tab")
            page.wait_for_timeout(60)
            if page.evaluate(inside):
                break
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(1500)
        assert page.evaluate(inside)
        assert page.url.endswith("/topics")
        expect(page.get_by_role("heading", name="Topics")).to_be_visible()
        assert page.evaluate("document.activeElement.id") == "glide-cell-0-2", "two rows further down"


def test_the_list_finds_a_topic_and_opens_it(stack: Stack, browser: Browser) -> None:
    with opened(browser) as page:
        page.goto(f"{stack.console}/topics")
        page.get_by_test_id("stDataFrame").wait_for()
        page.get_by_role("searchbox").fill("kinematic_state")
        expect(page.get_by_text(re.compile(r"^\d+ topics? found"))).to_be_visible()
        settled(page)
        assert "q=kinematic_state" in page.url
        page.get_by_test_id("stDataFrame").hover()
        # The table's own file would have shortened names; what is left of its buttons shows that they were looked for.
        expect(page.get_by_role("button", name=re.compile("^Search"))).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("^Download as CSV"))).to_be_hidden()
        # Its name in the first row: a canvas has no cells to click.
        title = page.get_by_role("heading", name=re.compile("kinematic_state"))
        table = page.get_by_test_id("stDataFrame")
        click_until(page, table, lambda box: (box["x"] + 60, box["y"] + 36 + 14), title)
        page.locator(".st-key-drawing canvas").first.wait_for()
        assert "topic=" in page.url
        settled(page)
        page.get_by_role("link", name="All topics").click()
        expect(page.get_by_role("searchbox")).to_have_value("kinematic_state")
        settled(page)


def test_a_click_on_a_header_sorts_all_brokers(stack: Stack, browser: Browser) -> None:
    most = stack.get("/v1/brokers?sort=-primaries&limit=1")["items"][0]
    with opened(browser) as page:
        page.goto(f"{stack.console}/brokers")
        # The last header.
        chosen = page.locator("input[value='Most primaries']")
        table = page.get_by_test_id("stDataFrame")
        table.wait_for()
        click_until(page, table, lambda box: (box["x"] + box["width"] - 40, box["y"] + 18), chosen)
        settled(page)
        assert "sort=-primaries" in page.url
        # A long id is shown by its end.
        expect(cell(page, 0, 0)).to_contain_text(most["id"][-20:])
        expect(cell(page, 0, 4)).to_have_text(str(most["primaries"]))


def test_a_page_that_failed_is_seen_even_when_it_is_well_again(browser: Browser) -> None:
    def look() -> None:
        with opened(browser) as page:
            page.goto("about:blank")
            page.evaluate("words => document.body.innerHTML = `<p><b>${words}</b></p>`", states.FAILED)
            page.evaluate("document.body.innerHTML = ''")
            page.wait_for_timeout(200)

    with pytest.raises(AssertionError, match="a page failed"):
        look()


def test_the_theme_menu_draws_the_topic_again(stack: Stack, browser: Browser) -> None:
    with opened(browser, "light") as page:
        page.goto(topic_address(stack, TOPIC))
        page.locator(".st-key-drawing canvas").first.wait_for()
        settled(page)
        page.get_by_test_id("stMainMenuButton").click()
        page.get_by_role("menuitemradio", name="Dark").click()
        page.keyboard.press("Escape")
        page.locator("[class*='st-key-drawing-'][class*='-dark'] canvas").first.wait_for()
        assert background(page) == PALETTES["dark"].background
