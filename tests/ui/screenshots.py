"""Pictures of every page of the real system, for the documents and for looking at them.

    python -m tests.ui.screenshots             every page, of the demo and of 10,000 brokers, light and dark
    python -m tests.ui.screenshots --docs      the same, and docs/images gets those that the documents show
    python -m tests.ui.screenshots --demo-only --only activate broker-leave    some, of the demo

It starts its own Neo4j, API and console on free ports, lets brokers come and go, runs two rebuilds and two
simulations, takes the pictures, and does the same again with a generated workload; then it stops everything.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import httpx2
from PIL import Image
from playwright.sync_api import Browser, Page

from algorithms import workloads
from algorithms.files import write_interests
from backend.managed.jars import neo4j_jars
from backend.managed.java import find_java
from backend.managed.server import ManagedNeo4j
from backend.settings import Settings
from tests.conftest import Neo4jServer
from tests.ui.browser import Theme, chromium, opened
from tests.ui.processes import free_port
from tests.ui.system import Stack, system

PAGES = (
    "overview",
    "topics",
    "topic",
    "brokers",
    "broker",
    "history",
    "what-if",
    "simulator",
    "rebuilds",
    "rebuild",
    "queries",
)
BROKERS = 10_000
KEPT_OF_MANY = ("overview", "topics", "topic", "brokers", "rebuild")
"""What the documents show of the large overlay, in light; of the demo they show every page, light and dark."""
DOCS = Path(__file__).parents[2] / "docs" / "images"
WIDTH = 1440
PATIENCE_MS = 180_000
AT_REST = """() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-stale=true]')"""
RESTING = """[data-testid=stStatusWidget] { visibility: hidden }
[data-stale=true] { opacity: 1 !important; transition: none !important }"""
COLOURS = 256
"""Of a picture that docs/ keeps: few enough for a small file, enough for small marks in a colour of their own."""
HEIGHTS = {"topics": 1087, "brokers": 1087, "topic": 985, "what-if": 1515}
"""Where a picture that docs/ keeps ends, of pages that go on with a long table."""


@contextmanager
def neo4j() -> Iterator[Neo4jServer]:
    """A Neo4j of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="topicweave-pictures-") as folder,
        ManagedNeo4j(
            Path(folder),
            free_port(),
            find_java(print),
            neo4j_jars(Settings.load(), print),
            heap_mb=1024,
            page_cache_mb=128,
            short_lived=True,
        ) as managed,
    ):
        yield Neo4jServer(managed.uri, managed.user, managed.password, managed)


def load(stack: Stack, brokers: int, folder: Path) -> None:
    """Import a workload of that many brokers, 1,000 topics at most."""
    topics = min(1000, max(10, brokers // 10))
    interests = workloads.generate(
        brokers=brokers, topics=topics, subscriptions=20, distribution="exponential", seed=1
    )
    path = folder / "interests.csv.gz"
    write_interests(interests, path)
    answer = httpx2.post(
        f"{stack.api}/v1/imports",
        headers={"X-API-Key": stack.key},
        files={"interests": (path.name, path.read_bytes())},
        trust_env=False,
        timeout=120,
    )
    assert answer.is_success, answer.text
    job = stack.wait(f"/v1/imports/{answer.json()['id']}", ("done", "failed"), 600)
    assert job["state"] == "done", job


def live_a_little(stack: Stack) -> None:
    """Some history: guests that come and go, and one that subscribes."""
    topics = [row["name"] for row in stack.get("/v1/topics?sort=-subscribers&limit=6")["items"]]
    for number in range(6):
        stack.call(
            "POST", "/v1/brokers", {"id": f"/guests/laptop-{number}", "topics": topics[: 2 + number % 3]}
        )
    stack.call("POST", f"/v1/brokers/{quote('/guests/laptop-1', safe='')}/topics/{quote(topics[4], safe='')}")
    for number in (0, 3):
        stack.call("DELETE", f"/v1/brokers/{quote(f'/guests/laptop-{number}', safe='')}")


def jobs(stack: Stack) -> dict[str, Any]:
    """A rebuild that is planned and two simulations that are done."""
    made = [
        stack.call("POST", "/v1/rebuilds", {"algorithm": "weave", "params": params, "engine": "local"})["id"]
        for params in ({}, {"keep": 0.4})
    ]
    for rebuild in made:
        stack.wait(f"/v1/rebuilds/{rebuild}", ("planned", "failed"), 600)
    runs = []
    for strategy in ("weave", "naive"):
        request = {"source": "live", "rounds": 200, "strategy": strategy, "k": 1, "seed": 1}
        run = stack.call("POST", "/v1/simulations", request)["id"]
        stack.wait(f"/v1/simulations/{run}", ("done", "failed"), 600)
        runs.append(run)
    return {"rebuild": made[0], "runs": ",".join(map(str, runs))}


def addresses(stack: Stack, made: dict[str, Any]) -> dict[str, str]:
    """Every page, on something worth looking at."""
    sizes = stack.get("/v1/topics?sort=-subscribers&limit=500")["items"]
    topic = next((row["name"] for row in sizes if row["subscribers"] <= 500), sizes[-1]["name"])
    if any(row["name"] == "/localization/kinematic_state" for row in sizes):
        topic = "/localization/kinematic_state"
    most = [row["id"] for row in stack.get("/v1/brokers?sort=-degree&limit=5")["items"]]
    broker = most[0]
    live = stack.get("/v1/overlay")["version"]
    places = {
        "overview": "/",
        "problems": "/?problems=True",
        "topics": "/topics",
        "topic": f"/topic?topic={quote(topic, safe='')}",
        "topic-older": f"/topic?topic={quote(topic, safe='')}&version={max(1, live - 2)}",
        "topic-large": f"/topic?topic={quote(sizes[0]['name'], safe='')}",
        "brokers": "/brokers",
        "broker": f"/broker?broker={quote(broker, safe='')}",
        "history": f"/history?change={live}",
        "compare": f"/history?view=compare&from={max(1, live - 5)}&to={live}",
        "what-if": f"/what-if?leave={quote(broker, safe='')}",
        "simulator-form": "/simulator",
        "rebuilds": "/rebuilds",
        "queries": "/queries",
        "query-chart": "/queries?query=degree_distribution",
        "key": "/topics",
        "broker-leave": f"/broker?broker={quote(broker, safe='')}",
        "broker-subscribe": f"/broker?broker={quote(broker, safe='')}",
        "broker-topics": f"/broker?broker={quote(broker, safe='')}",
        "what-if-empty": "/what-if",
        "what-if-five": f"/what-if?leave={quote(chr(10).join(most), safe='')}",
        "no-broker": "/broker?broker=nobody",
        "no-match": "/topics?q=nothing+like+it",
    }
    if made:
        places["rebuild"] = f"/rebuild?rebuild={made['rebuild']}"
        places["activate"] = f"/rebuild?rebuild={made['rebuild']}"
        places["simulator"] = f"/simulator?runs={made['runs']}"
    return places


READY: dict[str, str] = {
    "overview": "[data-testid=stVegaLiteChart]",
    "topic": ".st-key-drawing canvas",
    "topic-older": ".st-key-drawing canvas",
    "what-if": "[data-testid=stMetric]",
    "what-if-five": "[data-testid=stMetric]",
    "rebuild": "[data-testid=stVegaLiteChart]",
    "simulator": "[data-testid=stVegaLiteChart]",
}
ACTS: dict[str, Callable[[Page], None]] = {
    "queries": lambda page: page.get_by_role("button", name="Run", exact=True).click(),
    "query-chart": lambda page: _chart(page),
    "key": lambda page: page.get_by_role("button", name="Use another key").click(),
    "broker-leave": lambda page: page.get_by_role("button", name="Leave …").click(),
    "broker-subscribe": lambda page: _subscribe(page),
    "broker-topics": lambda page: page.get_by_role("tab", name="Topics").click(),
    "activate": lambda page: page.get_by_role("button", name="Activate …").click(),
}


def _chart(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("tab", name="Chart").click()


def _subscribe(page: Page) -> None:
    page.get_by_role("button", name="Subscribe …", exact=True).click()
    page.get_by_role("dialog").get_by_role("combobox").fill("a new topic")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_text("Planned at").wait_for()
    page.keyboard.press("Tab")


def take(browser: Browser, address: str, name: str, theme: Theme, width: int, path: Path) -> None:
    """One picture of one page, of its whole height."""
    with opened(browser, theme, width, 900) as page:
        page.set_default_timeout(PATIENCE_MS)
        page.goto(address)
        page.locator(READY.get(name, "[data-testid=stHeading]")).first.wait_for()
        if name in ACTS:
            ACTS[name](page)
        # Live pages rest for moments only; canvases (tables, the drawing) paint a moment after they are there.
        page.wait_for_function(AT_REST, polling=100)
        # On a busy machine one of the clocks is always at work somewhere: the header would say so, and its part be dimmed.
        page.add_style_tag(content=RESTING)
        # Off what was clicked: it would be drawn as under the pointer.
        page.mouse.move(width - 4, 450)
        page.wait_for_timeout(3500)
        page.wait_for_function(AT_REST, polling=100)
        tall = max(700, int(page.get_by_test_id("stMain").evaluate("element => element.scrollHeight")))
        page.set_viewport_size({"width": width, "height": tall})
        page.wait_for_timeout(1500)
        page.screenshot(path=path)
    sys.stdout.write(f"{path}\n")


def keep(path: Path, name: str) -> None:
    """The same for the documents: its upper part, with few colours."""
    with Image.open(path) as picture:
        part = picture.convert("RGB").crop(
            (0, 0, picture.width, min(picture.height, HEIGHTS.get(name, picture.height)))
        )
    small = part.quantize(COLOURS, kmeans=2, dither=Image.Dither.NONE)
    small.save(DOCS / path.name, optimize=True)


def pictures(browser: Browser, server: Neo4jServer, brokers: int | None, given: argparse.Namespace) -> None:
    """All of one overlay: the demo, or a workload of so many brokers."""
    scale = f"-{brokers}" if brokers else ""
    with (
        tempfile.TemporaryDirectory(prefix="topicweave-home-") as home,
        system(server, Path(home), demo=brokers is None) as stack,
    ):
        if brokers:
            load(stack, brokers, Path(home))
        live_a_little(stack)
        places = addresses(stack, jobs(stack))
        for name in given.only or (places if given.states else PAGES):
            for theme in get_args(Theme):
                path: Path = given.out / f"console-{name}{scale}-{theme}.png"
                take(browser, stack.console + places[name], name, theme, given.width, path)
                shown = (name in KEPT_OF_MANY and theme == "light") if brokers else name in PAGES
                if given.docs and shown:
                    keep(path, name)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("build/pictures"))
    parser.add_argument("--docs", action="store_true", help="and renew those that the documents show")
    overlay = parser.add_mutually_exclusive_group()
    overlay.add_argument("--demo-only", action="store_true")
    overlay.add_argument("--large-only", action="store_true")
    parser.add_argument("--brokers", type=int, default=BROKERS, help="of the large overlay")
    parser.add_argument("--states", action="store_true", help="dialogs, empty and older states too")
    parser.add_argument("--only", nargs="+", help="only these pages and states")
    parser.add_argument("--width", type=int, default=WIDTH)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with neo4j() as server, chromium() as browser:
        if not given.large_only:
            pictures(browser, server, None, given)
        if not given.demo_only:
            pictures(browser, server, given.brokers, given)


if __name__ == "__main__":
    main()
