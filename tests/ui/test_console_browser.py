"""The real console on the real API over a real Neo4j with the demo overlay, in headless Chromium.

Every page opened here must end without an exception box, an error in the browser's console, a page error, or a
request that leaves the machine (tests/ui/browser.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from neo4j import GraphDatabase
from playwright.sync_api import Browser, Page, expect

from tests.conftest import Neo4jServer
from tests.ui import fake_api
from tests.ui.browser import Theme, chromium, opened, settled
from tests.ui.processes import free_port, started
from ui.palette import PALETTES
from ui.topic_graph import spread

pytestmark = [pytest.mark.browser, pytest.mark.neo4j]

TOPIC = "/localization/kinematic_state"
KEY = "a-key-of-the-browser-test"


@dataclass(frozen=True)
class Stack:
    """A running API and the console on it."""

    api: str
    console: str

    def get(self, path: str) -> Any:
        answer = httpx2.get(self.api + path, headers={"X-API-Key": KEY}, trust_env=False)
        assert answer.status_code == 200, answer.text
        return answer.json()


def wipe(server: Neo4jServer) -> None:
    """The server is shared: found empty, left empty."""
    with GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")


@pytest.fixture(scope="module")
def stack(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """API and console as `topicweave up` starts them, on free ports, with the demo overlay."""
    home = tmp_path_factory.mktemp("home")
    key_file = home / "api-key"
    key_file.touch(mode=0o600)
    key_file.write_text(KEY)
    api_port, console_port = free_port(), free_port()
    api, console = f"http://127.0.0.1:{api_port}", f"http://127.0.0.1:{console_port}"
    api_settings = {
        "TOPICWEAVE_HOME": str(home),
        "TOPICWEAVE_API_PORT": str(api_port),
        "TOPICWEAVE_DEMO": "autoware",
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_USER": neo4j_server.user,
        "NEO4J_PASSWORD": neo4j_server.password,
    }
    wipe(neo4j_server)
    with ExitStack() as running:
        running.callback(wipe, neo4j_server)
        running.enter_context(started("backend.api", home / "api.log", f"{api}/readyz", api_settings, home))
        running.enter_context(console_on(api, key_file, console_port, home))
        yield Stack(api, console)


def console_on(api: str, key_file: Path, port: int, directory: Path) -> Any:
    """The console, as a process, on some API."""
    settings = {
        "TOPICWEAVE_API_URL": api,
        "TOPICWEAVE_API_KEY_FILE": str(key_file),
        "TOPICWEAVE_CONSOLE_PORT": str(port),
    }
    ready = f"http://127.0.0.1:{port}/_stcore/health"
    return started("ui", directory / f"console-{port}.log", ready, settings, directory)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


def metric(page: Page, label: str) -> str:
    box = page.get_by_test_id("stMetric").filter(has=page.get_by_text(label, exact=True))
    return box.get_by_test_id("stMetricValue").inner_text()


def background(page: Page) -> str:
    colour = page.get_by_test_id("stApp").evaluate("element => getComputedStyle(element).backgroundColor")
    return "#" + "".join(f"{int(part):02X}" for part in re.findall(r"\d+", colour)[:3])


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
            "Subscriptions": "subscriptions",
            "Links": "links",
            "Max degree": "max_degree",
        }
        assert {label: metric(page, label) for label in shown} == {
            label: f"{overlay[name]:,}" for label, name in shown.items()
        }
        assert metric(page, "Avg degree") == f"{overlay['average_degree']:.2f}"
        expect(page.get_by_test_id("stVegaLiteChart")).to_be_visible()
        expect(page.get_by_test_id("stDataFrame")).to_have_count(3)


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
        page.wait_for_timeout(1000)
        box = canvas.bounding_box()
        assert box is not None
        # Two brokers, the first and the last in the order of their ids: placed where the API said.
        for chosen in (min(places), max(places)):
            x, y = places[chosen]
            page.mouse.click(box["x"] + box["width"] / 2 + x, box["y"] + box["height"] / 2 + y)
            named = page.locator(".st-key-explained").get_by_text(chosen, exact=True)
            expect(named).to_be_visible()
        settled(page)


def test_the_list_finds_a_topic_and_opens_it(stack: Stack, browser: Browser) -> None:
    with opened(browser) as page:
        page.goto(f"{stack.console}/topics")
        page.get_by_test_id("stDataFrame").wait_for()
        page.get_by_role("searchbox").fill("kinematic_state")
        expect(page.get_by_text(re.compile(r"^\d+ topics? found"))).to_be_visible()
        settled(page)
        assert "q=kinematic_state" in page.url
        table = page.get_by_test_id("stDataFrame").bounding_box()
        assert table is not None
        # The first row, in its second column: a canvas has no cells to ask for.
        page.mouse.click(table["x"] + 120, table["y"] + 34 + 14)
        expect(page.get_by_role("heading", name=re.compile("kinematic_state"))).to_be_visible()
        page.locator(".st-key-drawing canvas").first.wait_for()
        assert "topic=" in page.url
        settled(page)
        page.get_by_role("link", name="All topics").click()
        expect(page.get_by_role("searchbox")).to_have_value("kinematic_state")
        settled(page)


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


def test_every_page_says_that_the_api_is_away_and_comes_back(browser: Browser, tmp_path: Path) -> None:
    """On the stand-in: the real API does not come and go within a second."""
    key_file = tmp_path / "api-key"
    key_file.write_text(fake_api.KEY)
    api_port, console_port = free_port(), free_port()
    paths = ("", "/topics", "/topic?topic=%2Forders%2Fpaid")
    with ExitStack() as running:
        running.enter_context(console_on(f"http://127.0.0.1:{api_port}", key_file, console_port, tmp_path))
        first = running.enter_context(opened(browser))
        # Tabs of one window: they share what they have fetched.
        pages = [first, *(first.context.new_page() for _ in paths[1:])]
        for page, path in zip(pages, paths, strict=True):
            page.goto(f"http://127.0.0.1:{console_port}{path}")
        for page in pages:
            expect(page.get_by_text("The API does not answer")).to_be_visible()
        with fake_api.serve(fake_api.small(), api_port):
            for page, shown in zip(pages, ("stMetric", "stDataFrame", "stMetric"), strict=True):
                expect(page.get_by_test_id(shown).first).to_be_visible()
                expect(page.get_by_text("The API does not answer")).to_have_count(0)
