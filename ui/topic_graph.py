"""One topic's subgraph, drawn: component by colour, degree by size, articulation brokers and bridges marked.

The API computes the coordinates; here they are only scaled. The widget fits nothing by itself and reads sizes in
its own units, so everything is divided by the zoom it starts with.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from typing import Any

import streamlit as st
from neo4j_viz import Node, Relationship, VisualizationGraph
from neo4j_viz.options import Layout, Renderer
from neo4j_viz.streamlit import display_widget
from neo4j_viz.widget import GraphWidget

from ui.answers import GraphBroker, TopicGraph
from ui.palette import PALETTES, Palette, Theme

MAX_BROKERS = 600
"""Past this a drawing is a hairball that says nothing; the page shows counts instead."""
NAMED_BROKERS = 40
"""Up to this many brokers carry their name in the drawing; more would lie on each other."""

HEIGHT = 560
ZOOM = 0.25
_HALF_WIDTH, _HALF_HEIGHT = 265.0, 220.0
_NAME_SIZE = 12.0
_NAME_LENGTH = 24


class BrokerNode(Node, extra="allow"):  # type: ignore[misc, call-arg]  # the library is not followed by mypy
    """A broker in the drawing; ``overlayIcon`` is a field of the widget that its Python face does not name."""


def digest(graph: TopicGraph) -> str:
    """A name for what is drawn: versions that leave the topic alone keep zoom and selection."""
    text = json.dumps([graph["nodes"], graph["links"]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def radius(broker: GraphBroker, brokers: int) -> float:
    """Pixels; the area grows with the degree, and all shrink where many share the canvas."""
    room = 1.0 if brokers <= 60 else max(0.45, math.sqrt(60 / brokers))
    return room * min(17.0, 5.5 + 2.2 * math.sqrt(broker["degree"]))


def short_name(identity: str) -> str:
    """The end of a path-like id, which tells brokers of one place apart; the whole id stands beside and below."""
    name = identity.rstrip("/").rsplit("/", 1)[-1] or identity
    return name if len(name) <= _NAME_LENGTH else f"{name[: _NAME_LENGTH - 1]}…"


def marker(broker: GraphBroker, pixels: float, named: bool, colours: Palette) -> dict[str, Any]:
    """The picture laid over a broker: ring and diamond for an articulation broker, its name below.

    Every broker has one: a picture that vanishes under the same key would stay drawn.
    """
    name = html.escape(short_name(broker["id"])) if named else ""
    half_width = max(pixels + 4.0, len(short_name(broker["id"])) * _NAME_SIZE * 0.31 + 4 if named else 0.0)
    half_height = pixels + 4.0 + (_NAME_SIZE + 5.0 if named else 0.0)
    # The widget draws a square whose side is given in diameters of the broker.
    half = max(half_width, half_height)
    parts: list[str] = []
    if broker["articulation"]:
        corner = pixels * 0.55
        parts.append(
            f'<circle r="{pixels + 2.2:.2f}" fill="none" stroke="{colours.broken}" stroke-width="2.2"/>'
            f'<path d="M0 {-corner:.2f}L{corner:.2f} 0 0 {corner:.2f} {-corner:.2f} 0Z" fill="{colours.background}"/>'
        )
    if named:
        parts.append(
            f'<text y="{pixels + _NAME_SIZE + 3.5:.2f}" text-anchor="middle" font-family="Source Sans,Helvetica,'
            f'Arial,sans-serif" font-size="{_NAME_SIZE}" fill="{colours.text}" stroke="{colours.background}" '
            f'stroke-width="3" stroke-linejoin="round" paint-order="stroke">{name}</text>'
        )
    side = 2 * half
    # Four times as many dots as pixels: the canvas scales pictures, and names must stay sharp.
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side * 4:.0f}" height="{side * 4:.0f}" '
        f'viewBox="{-half:.2f} {-half:.2f} {side:.2f} {side:.2f}">{"".join(parts)}</svg>'
    )
    return {"url": _data_url(svg), "position": [0, 0], "size": half / pixels}


@st.cache_data(max_entries=32, show_spinner=False)
def drawing(identity: str, _graph: TopicGraph, theme: Theme) -> tuple[list[BrokerNode], list[Relationship]]:
    """What the widget draws, made once per topic state and theme (``identity`` is the graph's digest)."""
    colours = PALETTES[theme]
    brokers = _graph["nodes"]
    named = len(brokers) <= NAMED_BROKERS
    nodes = []
    # Articulation brokers last: they lie on top of what they hold together.
    for broker in sorted(brokers, key=lambda b: (b["articulation"], b["degree"])):
        pixels = radius(broker, len(brokers))
        nodes.append(
            BrokerNode(
                id=broker["id"],
                x=broker["x"] * _HALF_WIDTH / ZOOM,
                y=broker["y"] * _HALF_HEIGHT / ZOOM,
                size=pixels / ZOOM,
                color=colours.component(broker["component"]),
                properties={"broker": broker["id"], "degree": broker["degree"]},
                overlayIcon=marker(broker, pixels, named, colours),
            )
        )
    links = [
        Relationship(
            id=f"link-{rank}",
            source=link["a"],
            target=link["b"],
            color=colours.broken if link["bridge"] else colours.kept,
            width=(1.8 if link["bridge"] else 1.0) / ZOOM,
        )
        for rank, link in enumerate(_graph["links"])
    ]
    return nodes, links


def show(graph: TopicGraph, theme: Theme, selected: str | None) -> str | None:
    """Draw the topic and return the broker selected in it."""
    identity = digest(graph)
    nodes, links = drawing(identity, graph, theme)
    widget: GraphWidget = VisualizationGraph(nodes=list(nodes), relationships=list(links)).render_widget(
        layout=Layout.COORDINATE,
        renderer=Renderer.CANVAS,
        initial_zoom=ZOOM,
        height=f"{HEIGHT}px",
        theme=theme,
        show_layout_button=False,
        show_search_button=False,
    )
    key = f"drawing-{identity}-{theme}"
    if key not in st.session_state and selected is not None:
        widget.selected = {"nodeIds": [selected], "relationshipIds": []}
    display_widget(widget, key=key)
    chosen = list(widget.selected.nodeIds)
    return str(chosen[0]) if chosen else None


def legend(graph: TopicGraph, theme: Theme) -> None:
    """What colours, sizes and marks mean, for what this drawing has."""
    colours = PALETTES[theme]
    sizes: dict[int, int] = {}
    for broker in graph["nodes"]:
        sizes[broker["component"]] = sizes.get(broker["component"], 0) + 1
    shown = len(colours.components)
    rows: list[tuple[str, str]] = []
    for rank in sorted(sizes)[: shown - 1]:
        label = f"Component {rank + 1}" if len(sizes) > 1 else "The one component"
        rows.append(
            (_dot(colours.component(rank)), f"{label}: {sizes[rank]:,} broker{'s' * (sizes[rank] != 1)}")
        )
    rest = [sizes[rank] for rank in sorted(sizes)[shown - 1 :]]
    if len(rest) == 1:
        rows.append((_dot(colours.component(shown - 1)), f"Component {shown}: {rest[0]:,} brokers"))
    elif rest:
        rows.append(
            (
                _dot(colours.component(shown - 1)),
                f"Components {shown}–{len(sizes)}: {sum(rest):,} brokers in all",
            )
        )
    if any(broker["articulation"] for broker in graph["nodes"]):
        rows.append((_articulation(colours), "Articulation broker: its loss alone splits the topic"))
    if any(link["bridge"] for link in graph["links"]):
        rows.append((_line(colours.broken, 2.4), "Bridge: the loss of this link alone splits the topic"))
    if any(not link["bridge"] for link in graph["links"]):
        rows.append((_line(colours.kept, 1.4), "Link with a way round it"))
    body = "".join(f"<div>{symbol}</div><div>{html.escape(text)}</div>" for symbol, text in rows)
    note = "The larger, the more links a broker has in all. Links have no direction."
    st.html(f'<div class="tw-legend">{body}<div class="note">{note}</div></div>')


def _data_url(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _symbol(body: str) -> str:
    # As a picture: Streamlit strips SVG out of HTML.
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="22" height="22" viewBox="-11 -11 22 22">{body}</svg>'
    )
    return f'<img alt="" src="{_data_url(svg)}">'


def _dot(colour: str) -> str:
    return _symbol(f'<circle r="7" fill="{colour}"/>')


def _articulation(colours: Palette) -> str:
    return _symbol(
        f'<circle r="7" fill="{colours.component(0)}"/><circle r="9" fill="none" stroke="{colours.broken}" '
        f'stroke-width="2"/><path d="M0-4 4 0 0 4-4 0Z" fill="{colours.background}"/>'
    )


def _line(colour: str, width: float) -> str:
    return _symbol(f'<path d="M-10 0H10" stroke="{colour}" stroke-width="{width}"/>')
