"""The names in a drawing: where each one lies, and the pictures it is made of.

The drawing's own captions lie inside the discs, where no name fits. So a name is a row of small pictures, each
carried by a point of its own: the widget keeps no more than 64 x 64 dots of a picture, which is two dots a pixel
for a tile of 32 pixels, and sharp.
"""

from __future__ import annotations

import base64
import html
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

FONT_SIZE = 12.0
TILE = 32.0
MAX_LENGTH = 28
_LINE = 15.0
# Widths in pixels of Arial's characters at this size, rounded up; the fonts that may stand in for it differ little.
_NARROW, _PLAIN, _CAPITAL, _WIDE, _FULL = 3.7, 6.7, 8.7, 10.2, 12.0
_NARROW_ONES, _WIDE_ONES = frozenset("fijlrtI.,:;'|!()[]/- "), frozenset("mwMW@%…—")
_FULL_WIDTH_FROM = "\u2e80"
# What a pixel of a link under a name costs, against a place that is less clearly its broker's.
_LINK_COST = 2.0

Line = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Disc:
    """A broker as drawn, in pixels from the middle of the drawing."""

    id: str
    x: float
    y: float
    radius: float
    name: str = ""
    """What is written beside it, unless it is the end of its id."""

    @property
    def label(self) -> str:
        """Its name in the drawing."""
        return self.name or short(self.id)


@dataclass(frozen=True)
class Box:
    """Where a name lies."""

    x: float
    y: float
    width: float
    height: float = _LINE

    def overlap(self, other: Box) -> float:
        """The area that both cover."""
        across = (self.width + other.width) / 2 - abs(self.x - other.x)
        down = (self.height + other.height) / 2 - abs(self.y - other.y)
        return max(0.0, across) * max(0.0, down)

    def crossing(self, line: Line) -> float:
        """How long a line runs through the box (clipped side by side, after Liang and Barsky)."""
        (ax, ay), (bx, by) = line
        enters, leaves = 0.0, 1.0
        for start, step, low, high in (
            (ax, bx - ax, self.x - self.width / 2, self.x + self.width / 2),
            (ay, by - ay, self.y - self.height / 2, self.y + self.height / 2),
        ):
            if step == 0:
                if not low <= start <= high:
                    return 0.0
                continue
            first, second = sorted(((low - start) / step, (high - start) / step))
            enters, leaves = max(enters, first), min(leaves, second)
        return max(0.0, leaves - enters) * math.hypot(bx - ax, by - ay)


@dataclass(frozen=True)
class Tile:
    """One picture of a name; x and y are its middle."""

    x: float
    y: float
    url: str


def short(identity: str) -> str:
    """The end of a path-like id, which tells brokers of one place apart; the whole id stands beside and below."""
    name = identity.rstrip("/").rsplit("/", 1)[-1] or identity
    return name if len(name) <= MAX_LENGTH else f"{name[: MAX_LENGTH - 1]}…"


def names(identities: Iterable[str]) -> dict[str, str]:
    """A name for each broker of a drawing: the end of its id, with so many segments more as tell it from the others.

    >>> names(["/north/gate", "/south/gate", "/south/lock"])
    {'/north/gate': 'north/gate', '/south/gate': 'south/gate', '/south/lock': 'lock'}
    """
    found: dict[str, str] = {}
    alike = {identity: identity.rstrip("/").split("/") for identity in identities}
    depth = 1
    while alike:
        ends = {identity: "/".join(parts[-depth:]) for identity, parts in alike.items()}
        many = Counter(ends.values())
        for identity, end in ends.items():
            if many[end] == 1 or depth >= len(alike[identity]):
                found[identity] = short(identity) if depth == 1 else _middle_out(end)
        alike = {identity: parts for identity, parts in alike.items() if identity not in found}
        depth += 1
    return found


def _middle_out(name: str) -> str:
    """Both ends of a name that is too long: its beginning is what tells it from others, its end what it is."""
    if len(name) <= MAX_LENGTH:
        return name
    head = MAX_LENGTH // 3
    return f"{name[:head]}…{name[-(MAX_LENGTH - head - 1) :]}"


def width(text: str) -> float:
    """How wide a text is drawn, about."""

    def of(character: str) -> float:
        if character in _NARROW_ONES:
            return _NARROW
        if character in _WIDE_ONES:
            return _WIDE
        if character >= _FULL_WIDTH_FROM:
            return _FULL
        return _CAPITAL if character.isupper() else _PLAIN

    return sum(map(of, text))


def places(discs: Iterable[Disc], links: Sequence[Line] = (), half_width: float = math.inf) -> dict[str, Box]:
    """A place for each name, below its broker unless another crosses fewer links; earlier discs choose first.

    No name lies on a disc or on another name, or leaves ``half_width`` of the middle: one without room is left out.
    """
    discs = list(discs)
    taken = [Box(disc.x, disc.y, 2 * disc.radius, 2 * disc.radius) for disc in discs]
    found: dict[str, Box] = {}
    for disc in discs:
        free = [
            (_LINK_COST * sum(choice.crossing(link) for link in links) + handicap, rank, choice)
            for rank, (choice, handicap) in enumerate(_choices(disc))
            if abs(choice.x) + choice.width / 2 <= half_width
            and not any(choice.overlap(box) for box in taken)
        ]
        if free:
            found[disc.id] = min(free)[-1]
            taken.append(found[disc.id])
    return found


def _choices(disc: Disc) -> Iterator[tuple[Box, float]]:
    """Where a name may lie, and by how much less it is read as its broker's own than right below it."""
    wide = width(disc.label) + 4
    down = disc.radius + _LINE / 2 + 2
    across = disc.radius + wide / 2 + 4
    aslant = disc.radius * 0.7 + wide / 2 + 2
    yield Box(disc.x, disc.y + down, wide), 0.0
    yield Box(disc.x, disc.y - down, wide), 10.0
    for side in (1, -1):
        yield Box(disc.x + side * across, disc.y, wide), 30.0
    for slide, handicap in ((wide / 4, 20.0), (wide / 2.5, 30.0), (aslant, 40.0)):
        for right in (1, -1):
            for below in (1, -1):
                yield Box(disc.x + right * slide, disc.y + below * down, wide), handicap


def tiles(name: str, box: Box, colour: str, halo: str) -> list[Tile]:
    """The pictures that make up a name, from left to right."""
    number = max(1, -int(-(box.width + 6) // TILE))
    first = -TILE * (number - 1) / 2
    text = (
        f'<text y="{FONT_SIZE * 0.34:.2f}" text-anchor="middle" font-family="Source Sans,Arial,Helvetica,sans-serif" '
        f'font-size="{FONT_SIZE}" fill="{colour}" stroke="{halo}" stroke-width="3" stroke-linejoin="round" '
        f'paint-order="stroke">{html.escape(name)}</text>'
    )
    made = []
    for place in range(number):
        offset = first + place * TILE
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" '
            f'viewBox="{offset - TILE / 2:.2f} {-TILE / 2:.2f} {TILE:.2f} {TILE:.2f}">{text}</svg>'
        )
        made.append(Tile(box.x + offset, box.y, data_url(svg)))
    return made


def data_url(svg: str) -> str:
    """A picture as the address that the widget and HTML take."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
