"""The names in a drawing: where each one lies, and the pictures it is made of.

The drawing's own captions lie inside the discs, where no name fits. So a name is a row of small pictures, each
carried by a point of its own: the widget keeps no more than 64 x 64 dots of a picture, which is two dots a pixel
for a tile of 32 pixels, and sharp.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from dataclasses import dataclass

FONT_SIZE = 12.0
TILE = 32.0
MAX_LENGTH = 28
_CHARACTER = 6.1
_LINE = 15.0


@dataclass(frozen=True)
class Disc:
    """A broker as drawn, in pixels from the middle of the drawing."""

    id: str
    x: float
    y: float
    radius: float


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


def places(discs: Iterable[Disc]) -> dict[str, Box]:
    """A place for every name, below its broker unless above or beside covers less; earlier discs choose first."""
    discs = list(discs)
    taken = [Box(disc.x, disc.y, 2 * disc.radius, 2 * disc.radius) for disc in discs]
    found: dict[str, Box] = {}
    for disc in discs:
        width = len(short(disc.id)) * _CHARACTER + 4
        down = disc.radius + _LINE / 2 + 2
        across = disc.radius + width / 2 + 4
        choices = (
            Box(disc.x, disc.y + down, width),
            Box(disc.x, disc.y - down, width),
            Box(disc.x + across, disc.y, width),
            Box(disc.x - across, disc.y, width),
        )
        # Beside is a last resort: links leave the disc there more often than not.
        costs = [
            sum(choice.overlap(box) for box in taken) + handicap
            for choice, handicap in zip(choices, (0.0, 20.0, 60.0, 60.0), strict=True)
        ]
        best = choices[costs.index(min(costs))]
        taken.append(best)
        found[disc.id] = best
    return found


def tiles(identity: str, box: Box, colour: str, halo: str) -> list[Tile]:
    """The pictures that make up a name, from left to right."""
    number = max(1, -int(-(box.width + 6) // TILE))
    first = -TILE * (number - 1) / 2
    text = (
        f'<text y="{FONT_SIZE * 0.34:.2f}" text-anchor="middle" font-family="Source Sans,Arial,Helvetica,sans-serif" '
        f'font-size="{FONT_SIZE}" fill="{colour}" stroke="{halo}" stroke-width="3" stroke-linejoin="round" '
        f'paint-order="stroke">{html.escape(short(identity))}</text>'
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
