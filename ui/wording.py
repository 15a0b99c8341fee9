"""Numbers and counted words as the console writes them: 10,000; "1 link"; degree 6.00."""

from __future__ import annotations


def number(value: int) -> str:
    """A whole number with thousands set apart by commas."""
    return f"{value:,}"


def count(value: int, word: str, plural: str | None = None) -> str:
    """A number with its word: "1 link", "2 links"."""
    return f"{number(value)} {word if value == 1 else plural or word + 's'}"


def degree(value: float) -> str:
    """An average degree, always with two digits so that versions compare."""
    return f"{value:.2f}"


def diameter(value: int | None) -> str:
    """A topic's diameter; a topic that is apart has none."""
    return "–" if value is None else number(value)


def literal(text: str) -> str:
    """An id as inline code in Markdown, whatever backticks it holds itself."""
    fence = "`"
    while fence in text:
        fence += "`"
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
