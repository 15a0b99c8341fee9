"""Pictures of a running console, for the README and for looking at it.

    python -m tests.ui.screenshots --url http://127.0.0.1:8501 --out docs/images

With ``--all`` every page is taken in both themes and two widths.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args
from urllib.parse import quote

from playwright.sync_api import Browser, Page

from tests.ui.browser import Theme, chromium, opened, settled

README: tuple[tuple[str, Theme, int], ...] = (
    ("overview", "light", 1280),
    ("topic", "light", 1280),
    ("topic", "dark", 1280),
)


def address(url: str, page: str, topic: str) -> str:
    """Where a page is."""
    return {
        "overview": url,
        "topics": f"{url}/topics",
        "topic": f"{url}/topic?topic={quote(topic, safe='')}",
    }[page]


def ready(page: Page, name: str) -> None:
    """Wait for what the picture is of."""
    if name == "topics":
        page.get_by_test_id("stDataFrame").first.wait_for()
    else:
        page.get_by_test_id("stMetricValue").first.wait_for()
    if name == "topic":
        page.locator("canvas").first.wait_for()
    if name == "overview":
        page.get_by_test_id("stVegaLiteChart").wait_for()
    settled(page)
    # Canvases (tables, the drawing) paint a moment after they are there.
    page.wait_for_timeout(1500)


def take(
    browser: Browser,
    url: str,
    name: str,
    theme: Theme,
    width: int,
    topic: str,
    path: Path,
    shortened: bool = False,
) -> None:
    """One picture of one page, of its whole height; a shortened topic ends with its drawing."""
    with opened(browser, theme, width, 900) as page:
        page.goto(address(url, name, topic))
        ready(page, name)
        main = page.get_by_test_id("stMain")
        tall = int(main.evaluate("element => element.scrollHeight"))
        page.set_viewport_size({"width": width, "height": max(700, tall)})
        page.wait_for_timeout(700)
        bottom = float(max(700, tall))
        if shortened and name == "topic":
            box = page.locator(".st-key-drawing").bounding_box()
            assert box is not None
            bottom = box["y"] + box["height"] + 24
        page.screenshot(path=path, clip={"x": 0, "y": 0, "width": width, "height": bottom})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", default="http://127.0.0.1:8501")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--topic", default="/localization/kinematic_state")
    parser.add_argument("--all", action="store_true", help="every page, both themes, 1440 and 1024 wide")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        if given.all:
            for name in ("overview", "topics", "topic"):
                for theme in get_args(Theme):
                    for width in (1440, 1024):
                        path = given.out / f"console-{name}-{theme}-{width}.png"
                        take(browser, given.url, name, theme, width, given.topic, path)
        else:
            for name, theme, width in README:
                path = given.out / f"console-{name}-{theme}.png"
                take(browser, given.url, name, theme, width, given.topic, path, shortened=True)


if __name__ == "__main__":
    main()
