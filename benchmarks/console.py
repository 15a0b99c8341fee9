"""How long an operator waits: the console on 10,000 brokers and 1,000 topics, in headless Chromium.

    python -m benchmarks.console                      starts its own Neo4j, API and console; imports the workload
    python -m benchmarks.console --brokers 2000       the same, smaller

Each figure is the median of several fresh browser windows on a warm server, from the address being opened (or the key
pressed) until what is named is on the screen. How many brokers an answer names is seen on the way: a second console
talks to the API through a listener, which counts the ids in every answer, and every page is opened on it.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
from playwright.sync_api import Browser, Page

from tests.ui.browser import chromium, opened
from tests.ui.processes import free_port
from tests.ui.screenshots import addresses, jobs, load, neo4j
from tests.ui.system import Stack, console_on, system

WINDOWS = 5
TOPIC_SIZE = 500
PATIENCE_MS = 180_000


@contextmanager
def window(browser: Browser) -> Iterator[Page]:
    """A fresh window that waits long: a slow figure is a figure, not an error."""
    with opened(browser) as page:
        page.set_default_timeout(PATIENCE_MS)
        yield page


def first_figures(page: Page) -> None:
    page.get_by_test_id("stMetricValue").nth(6).wait_for()


def drawn(page: Page) -> None:
    """The canvas is there, and not empty: the widget paints brokers at once when it has placed them."""
    page.locator(".st-key-drawing canvas").first.wait_for()
    page.wait_for_function(
        """() => {
            const all = root => [...root.querySelectorAll('*')].flatMap(
                e => [...(e.tagName === 'CANVAS' ? [e] : []), ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
            const painted = canvas => {
                const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
                const seen = new Set();
                for (let i = 0; i < pixels.length; i += 4 * 97)
                    seen.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
                return seen.size > 3;
            };
            // One of the widget's two is for what the mouse does, and stays empty.
            return all(document.querySelector('.st-key-drawing')).some(e => e.width > 300 && painted(e));
        }""",
        polling=50,
    )


def table(page: Page) -> None:
    page.get_by_test_id("stDataFrame").first.wait_for()


def opening(browser: Browser, address: str, ready: Callable[[Page], None]) -> list[float]:
    """Seconds until a page is ready, each time in a window that has nothing."""
    found = []
    for _ in range(WINDOWS):
        with window(browser) as page:
            began = time.perf_counter()
            page.goto(address, wait_until="commit")
            ready(page)
            found.append(time.perf_counter() - began)
    return found


def rerun(browser: Browser, stack: Stack) -> list[float]:
    """Seconds from a switch on the overview to the page it leads to, and back."""
    found = []
    with window(browser) as page:
        page.goto(stack.console)
        first_figures(page)
        page.get_by_text("Trend over versions").or_(page.get_by_text("Largest blast radius")).first.wait_for()
        for _ in range(WINDOWS):
            for gone in (True, False):
                began = time.perf_counter()
                page.get_by_text("Problems only").click()
                heading = page.get_by_role("heading", name="Degrees")
                heading.wait_for(state="detached" if gone else "visible")
                found.append(time.perf_counter() - began)
                page.wait_for_timeout(700)
    return found


def search(browser: Browser, stack: Stack) -> list[float]:
    """Seconds from the last key of a search among all brokers to its answer (300 ms of it are waiting for more keys)."""
    found = []
    with window(browser) as page:
        page.goto(f"{stack.console}/brokers")
        table(page)
        for word in ("77", "12", "345", "8", "991")[:WINDOWS]:
            total = stack.get(f"/v1/brokers?q={word}&limit=1")["total"]
            began = time.perf_counter()
            page.get_by_role("searchbox").fill(word)
            page.get_by_text(re.compile(rf"of {total:,} brokers found|^{total:,} brokers? found")).wait_for()
            found.append(time.perf_counter() - began)
    return found


def topic_of(stack: Stack, size: int) -> tuple[str, int]:
    """The topic whose subscribers are nearest to that number, among those that are drawn."""
    rows = stack.get("/v1/topics?sort=-subscribers&limit=500")["items"]
    fitting = [row for row in rows if row["subscribers"] <= 600] or rows[-1:]
    row = min(fitting, key=lambda row: abs(row["subscribers"] - size))
    return row["name"], row["subscribers"]


def measure(stack: Stack, home: Path) -> None:
    name, subscribers = topic_of(stack, TOPIC_SIZE)
    broker = stack.get("/v1/brokers?sort=-degree&limit=1")["items"][0]["id"]
    with chromium() as browser:
        # The first window pays for the server's own first imports and the API's first analyses.
        for path in ("", "/brokers", f"/topic?topic={quote(name, safe='')}"):
            with window(browser) as page:
                page.goto(stack.console + path)
                page.get_by_test_id("stHeading").first.wait_for()
                page.wait_for_timeout(8000)
        rows = (
            ("overview, figures of the first row", opening(browser, stack.console, first_figures), 2.0),
            ("overview, warm rerun", rerun(browser, stack), 0.5),
            (
                f"topic of {subscribers} subscribers, drawn",
                opening(browser, f"{stack.console}/topic?topic={quote(name, safe='')}", drawn),
                4.0,
            ),
            ("brokers, first page", opening(browser, f"{stack.console}/brokers", table), None),
            ("brokers, a search", search(browser, stack), None),
            (
                "broker, figures",
                opening(
                    browser,
                    f"{stack.console}/broker?broker={quote(broker, safe='')}",
                    lambda page: page.get_by_test_id("stMetricValue").nth(5).wait_for(),
                ),
                None,
            ),
        )
    print("| what | median, s | slowest, s | wanted, s |")
    print("|---|--:|--:|--:|")
    for what, seconds, wanted in rows:
        goal = f"{wanted:g}" if wanted else ""
        print(f"| {what} | {statistics.median(seconds):.2f} | {max(seconds):.2f} | {goal} |")
    with chromium() as browser:
        # Last: its rebuilds are work that no figure should wait for.
        largest_page(stack, browser, home)


class Listener(ThreadingHTTPServer):
    """Passes every call on to the API, and keeps how many brokers each answer named; ``calls`` are path and brokers."""

    daemon_threads = True

    def __init__(self, api: str, brokers: frozenset[str]) -> None:
        super().__init__(("127.0.0.1", 0), Passing)
        self.client = httpx2.Client(base_url=api, trust_env=False, timeout=60)
        self.brokers = brokers
        self.calls: list[tuple[str, int]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Passing(BaseHTTPRequestHandler):
    """One call, passed on."""

    server: Listener

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() in PASSED_ON}
        answer = self.server.client.request(self.command, self.path, headers=headers, content=body)
        found = answer.json() if "json" in answer.headers.get("Content-Type", "") else None
        named = self.server.brokers.intersection(texts(found))
        self.server.calls.append((self.path.partition("?")[0], len(named)))
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "text/plain"))
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Nothing: the figures are what is printed."""


def texts(answer: Any) -> Iterator[str]:
    """Every text in an answer, names of fields too: wherever a broker's id may stand."""
    if isinstance(answer, str):
        yield answer
    elif isinstance(answer, dict):
        for name, value in answer.items():
            yield name
            yield from texts(value)
    elif isinstance(answer, list):
        for value in answer:
            yield from texts(value)


def all_brokers(stack: Stack) -> frozenset[str]:
    """Their ids, a page at a time."""
    ids: set[str] = set()
    while items := stack.get(f"/v1/brokers?sort=id&limit=500&offset={len(ids)}")["items"]:
        ids.update(row["id"] for row in items)
    return frozenset(ids)


PASSED_ON = ("x-api-key", "content-type", "if-match", "idempotency-key")


def largest_page(stack: Stack, browser: Browser, home: Path) -> None:
    """Open every page through the listener, and say how many brokers one answer named at most: a page of the list of
    brokers, and whatever else; a topic or a simulation names as many as are in it.
    """
    listener = Listener(stack.api, all_brokers(stack))
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    port = free_port()
    try:
        with console_on(listener.url, home / "api-key", port, home), window(browser) as page:
            for path in addresses(stack, jobs(stack)).values():
                page.goto(f"http://127.0.0.1:{port}{path}")
                page.get_by_test_id("stHeading").first.wait_for()
                page.wait_for_timeout(3000)
    finally:
        listener.shutdown()
        listener.server_close()
        listener.client.close()
    of_lists = max(named for path, named in listener.calls if path == "/v1/brokers")
    most, where = max((named, path) for path, named in listener.calls if path != "/v1/brokers")
    print(
        f"\nEvery page opened, a rebuild's and two runs' of the simulator among them: {len(listener.calls)} calls. A page of "
        f"the list of brokers names at most {of_lists} of {len(listener.brokers):,}; of the other calls, {where} names most: "
        f"{most:,}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--brokers", type=int, default=10_000)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="topicweave-console-") as home,
        neo4j() as server,
        system(server, Path(home), demo=False) as stack,
    ):
        load(stack, given.brokers, Path(home))
        overlay = stack.get("/v1/overlay")
        print(
            f"{overlay['brokers']:,} brokers, {overlay['topics']:,} topics, {overlay['subscriptions']:,} subscriptions, "
            f"{overlay['links']:,} links\n",
            flush=True,
        )
        measure(stack, Path(home))


if __name__ == "__main__":
    main()
