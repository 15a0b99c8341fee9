"""A link that leaves docs/ works in a checkout, not on the site: there it becomes the name of the file."""

from __future__ import annotations

import re
from typing import Any

OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(?!docs/)((?:benchmarks|backend|tests|cypher)/[^)#]*)[^)]*\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by mkdocs for every page; only those in a folder of docs/ can point outside with two steps up."""
    up = page.file.src_uri.count("/") + 1

    def plain(found: re.Match[str]) -> str:
        return found[0] if found[0].count("../") < up else f"`{found[2]}`"

    return OUTSIDE.sub(plain, markdown)
