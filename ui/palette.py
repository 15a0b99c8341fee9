"""The console's colours, by theme.

Component colours keep a Lab distance of at least 14 under simulated deutan, protan and tritan sight, the
meanings (kept, broken, at risk) one of 23. Colour is never alone: a word, a shape or a number says it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import streamlit as st

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Palette:
    """One theme's colours, as ``#RRGGBB``."""

    components: tuple[str, ...]
    kept: str
    broken: str
    at_risk: str
    opened: str
    failed: str
    text: str
    muted: str
    background: str
    canvas: str

    def component(self, rank: int) -> str:
        """Colour of the topic component of that rank (0 = largest); all from the sixth on share the last."""
        return self.components[min(rank, len(self.components) - 1)]


PALETTES: dict[Theme, Palette] = {
    "light": Palette(
        components=("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#6B4E00"),
        kept="#9AA3AE",
        broken="#C8321E",
        at_risk="#D99000",
        opened="#00795A",
        failed="#DDE2E8",
        text="#1B2430",
        muted="#56616F",
        background="#FFFFFF",
        canvas="#F5F6F6",
    ),
    "dark": Palette(
        components=("#3F8FD6", "#E69F00", "#14B08A", "#E79AC6", "#BFE4FF", "#9A7B2A"),
        kept="#66717F",
        broken="#FF6B52",
        at_risk="#F2B134",
        opened="#2CC9A0",
        failed="#3A424D",
        text="#E6EAF0",
        muted="#A3AEBB",
        background="#12161C",
        canvas="#1A1B1D",
    ),
}


def theme() -> Theme:
    """The theme this browser shows now; light until the browser has said."""
    return "dark" if st.context.theme.type == "dark" else "light"


def current() -> Palette:
    """The colours of the theme this browser shows now."""
    return PALETTES[theme()]
