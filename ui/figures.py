"""A row of figures, as most pages begin with one."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

# Seven of them fit a window of 1280 pixels, and every label is whole.
WIDTH = 126

Figure = tuple[str, str, str | None]
"""Label, value and what the label means."""


def show(figures: Iterable[Figure], width: int = WIDTH) -> None:
    """They wrap where there is no room."""
    with st.container(horizontal=True, gap="small"):
        for label, value, help_text in figures:
            st.metric(label, value, help=help_text, border=True, width=width, height="stretch")
