"""Numbers and counted words as the console writes them: 10,000; "1 link"; degree 6.00."""

from __future__ import annotations

import re

_SIGNS = re.compile(r"([!-/:-@\[-`{-~])")
"""Every sign that Markdown may take for its own; a backslash before it makes it itself again."""
_PICTURES = re.compile(r":(?=material[/_]|streamlit:)|(?<!\S)[<>~-](?=(-|->|=|>)(?!\S))")
"""Where Streamlit makes an icon or an arrow of several signs, backslashes or not, unless something stands in between."""
_EMOJI = re.compile(r":(?=[\w+-]+:)")
_JOINER = "\N{WORD JOINER}"
_EDGES = re.compile(r"^ | (?= )| $")


def number(value: int) -> str:
    """A whole number with thousands set apart by commas."""
    return f"{value:,}"


def count(value: int, word: str, plural: str | None = None) -> str:
    """A number with its word: "1 link", "2 links"."""
    return f"{number(value)} {word if value == 1 else plural or word + 's'}"


def share(value: float | None) -> str:
    """A share as a signed percentage: drift +8.3%."""
    return "–" if value is None else f"{value * 100:+.1f}%".replace("-", "−")


def against_fresh(drift: float) -> str:
    """What drift means: "8.3% above a fresh build's"."""
    size = f"{abs(drift) * 100:.1f}%"
    if size == "0.0%":
        return "the same as a fresh build's"
    return f"{size} {'above' if drift > 0 else 'below'} a fresh build's"


def ending(text: str, length: int) -> str:
    """An id that fits: what is left out stands at its beginning, for ids of one place differ at their ends.

    >>> ending("/planning/lane_driving/behavior_path_planner", 36)
    '…/lane_driving/behavior_path_planner'

    It is cut at a slash, unless that would take most of what there is room for.
    """
    if len(text) <= length:
        return text
    kept = text[-(length - 1) :]
    slash = kept.find("/", 0, 3 * length // 4)
    return f"…{kept[slash:] if slash > 0 else kept}"


def moment(text: str, *, seconds: bool = True) -> str:
    """A time of the API, UTC, without its letters: 2026-11-16 19:20:01."""
    return text.replace("T", " ")[: 19 if seconds else 16]


def since_midnight(text: str, today: str) -> str:
    """A time of today without its date, any other with it."""
    whole = moment(text)
    return whole.removeprefix(f"{today} ")


def links_changed(opened: int, closed: int) -> str:
    """What a change did: "opened 2 links, closed 1"."""
    if not opened and not closed:
        return "no link changed"
    if not closed:
        return f"opened {count(opened, 'link')}"
    if not opened:
        return f"closed {count(closed, 'link')}"
    return f"opened {count(opened, 'link')}, closed {number(closed)}"


def degree(value: float) -> str:
    """An average degree, always with two digits so that versions compare."""
    return f"{value:.2f}"


def diameter(value: int | None, *, sampled: bool = False) -> str:
    """A topic's diameter; a topic that is apart has none, and of a very large one it is known to be so long at least."""
    if value is None:
        return "–"
    return f"≥ {number(value)}" if sampled else number(value)


def plain(text: str, *, alone: bool = False) -> str:
    """Words of others, such as an id or a reason, where Markdown is read: shown as they are.

    >>> plain("orders.*.eu")
    'orders\\\\.\\\\*\\\\.eu'

    ``alone``: it is all there is, as in a title. Emoji are looked for only where a text has two colons without
    backslashes, as a time has, so an id that somebody copies needs no joiner then.
    """
    text = _PICTURES.sub(rf"\g<0>{_JOINER}", _EDGES.sub("\N{NO-BREAK SPACE}", _one_line(text)))
    return _SIGNS.sub(r"\\\1", text if alone else _EMOJI.sub(f":{_JOINER}", text))


def literal(text: str) -> str:
    """An id as inline code in Markdown, whatever backticks it holds itself."""
    # Icons are looked for even in code.
    text = _one_line(text).replace(":material/", f":{_JOINER}material/")
    fence = "`"
    while fence in text:
        fence += "`"
    pad = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _one_line(text: str) -> str:
    """An empty line would end a paragraph, and with it whatever the text stands in."""
    return " ".join(text.splitlines())
