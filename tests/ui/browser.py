"""A headless Chromium that watches what a page should never do, and waits the way Streamlit pages need it."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    FloatRect,
    Locator,
    Page,
    Request,
    WebError,
    expect,
    sync_playwright,
)

from ui.states import FAILED

Theme = Literal["light", "dark"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
]
# Streamlit asks for these below the page's own path first when a page is opened by a deep link.
EXPECTED_404 = re.compile(r"/[^/]+/_stcore/(health|host-config)$")
# Two cores may be shared with the rest of the tests: waiting long costs nothing when all is well.
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)
LOOPBACK = {"127.0.0.1", "localhost"}
# The console catches what its pages raise and says so in words; a box may be gone again before a test looks.
LOOKOUT = """{
const BOX = '[data-testid=stException]';
const failed = node => (node.textContent || '').includes('%s')
    || (node.matches && (node.matches(BOX) || node.querySelector(BOX)));
new MutationObserver(changes => {
    for (const change of changes)
        for (const node of change.type === 'characterData' ? [change.target] : change.addedNodes)
            if (node.nodeName !== 'SCRIPT' && node.nodeName !== 'STYLE' && failed(node))
                console.error('a page failed: ' + node.textContent.slice(0, 300));
}).observe(document, {childList: true, characterData: true, subtree: true});
}""".replace("%s", FAILED)


class NoBrowser(Exception):
    """No Chromium on this machine; the message says how to get one."""


def executable() -> str:
    """The browser on this machine."""
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    raise NoBrowser(
        f"The browser tests need one of {', '.join(NAMES)} on the PATH, and there is none. "
        "On Debian or Ubuntu: apt-get install chromium"
    )


@contextmanager
def chromium() -> Iterator[Browser]:
    """One browser for many pages."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watch:
    """What went wrong on a page, as it happened."""

    faults: list[str] = field(default_factory=list)

    def message(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not EXPECTED_404.search(message.location.get("url", "")):
            self.faults.append(f"console: {message.text} ({message.location.get('url', '')})")

    def error(self, error: WebError) -> None:
        self.faults.append(f"page error: {error.error}")

    def request(self, request: Request) -> None:
        """The console is for closed networks: nothing may be fetched from elsewhere, nothing reported."""
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in LOOPBACK:
            self.faults.append(f"a request left the machine: {request.url}")


@contextmanager
def opened(browser: Browser, theme: Theme = "light", width: int = 1440, height: int = 900) -> Iterator[Page]:
    """A page that must end without an error in the console, on the page, or in a box on it.

    More tabs come from ``page.context.new_page()`` and are watched as well.
    """
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(LOOKOUT)
    watch = Watch()
    context.on("console", watch.message)
    context.on("weberror", watch.error)
    context.on("request", watch.request)
    try:
        yield context.new_page()
        for page in context.pages:
            expect(page.get_by_test_id("stException")).to_have_count(0)
            expect(page.get_by_text(FAILED)).to_have_count(0)
        assert not watch.faults, "\n".join(watch.faults)
    finally:
        context.close()


def settled(page: Page) -> None:
    """Wait until the script has run and nothing shown is from before."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    expect(page.locator("[data-stale=true]")).to_have_count(0)


def click_until(
    page: Page, canvas: Locator, place: Callable[[FloatRect], tuple[float, float]], seen: Locator
) -> None:
    """Click a place of a canvas until it has done what it should: no element says when a canvas is painted."""
    end = time.monotonic() + PATIENCE_MS / 1000
    while not seen.is_visible():
        assert time.monotonic() < end, f"no click led to {seen}"
        box = canvas.bounding_box()
        if box is not None:
            page.mouse.click(*place(box))
        with suppress(AssertionError):
            expect(seen).to_be_visible(timeout=4000)


def figure(page: Page, label: str) -> Locator:
    """A figure of the page, to be waited for: what is shown may be two seconds old."""
    box = page.get_by_test_id("stMetric").filter(has=page.get_by_text(label, exact=True))
    return box.get_by_test_id("stMetricValue")


def cell(page: Page, row: int, column: int) -> Locator:
    """A cell of the page's first table, which is a canvas: it keeps its text for screen readers."""
    return page.get_by_test_id(f"glide-cell-{column}-{row}").first


def metric(page: Page, label: str) -> str:
    """A figure of the page, as it is."""
    return figure(page, label).inner_text()


def background(page: Page) -> str:
    """The colour behind everything, as ``#RRGGBB``."""
    colour = page.get_by_test_id("stApp").evaluate("element => getComputedStyle(element).backgroundColor")
    return "#" + "".join(f"{int(part):02X}" for part in re.findall(r"\d+", colour)[:3])
