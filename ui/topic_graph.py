"""One topic's subgraph, drawn: component by colour, degree by size, articulation brokers and bridges marked.

A what-if is drawn by the same rules: brokers that failed are crossed out, links that its repair opens stand out.

The API computes the coordinates; here they are only scaled. The widget fits nothing by itself and reads sizes in
its own units, so everything is divided by the zoom it starts with.
"""

from __future__ import annotations

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

from ui import broker_names
from ui.answers import GraphBroker, GraphLink, TopicGraph
from ui.broker_names import Box, Disc
from ui.palette import PALETTES, Palette, Theme
from ui.wording import count

MAX_BROKERS = 600
"""Past this a drawing is a hairball that says nothing; the page shows counts instead."""
NAMED_BROKERS = 40
"""Up to this many brokers carry their name in the drawing, where there is room; more would hide the links."""

HEIGHT = 560
ZOOM = 0.25
# Half of what a drawing may fill, in pixels: the canvas is 640 wide where it is narrowest, 470 where two stand side by
# side; names stand out on both sides, and the widget's own buttons lie along the bottom.
HALF_WIDTH, HALF_WIDTH_OF_TWO = 245.0, 180.0
_HALF_HEIGHT = 205.0
_MARGIN = 68.0
# Where no names stand out, a drawing may fill that much more on each side.
_NAMELESS_ROOM = 40.0
_MOST_STRETCH = 2.5
_NAME = "name\N{UNIT SEPARATOR}"
"""Begins the ids of points that carry a name; no broker's id has a control character."""


class BrokerNode(Node, extra="allow"):  # type: ignore[misc, call-arg]  # the library is not followed by mypy
    """A broker in the drawing; ``overlayIcon`` is a field of the widget that its Python face does not name."""


def digest(graph: TopicGraph) -> str:
    """A name for what is drawn: versions that leave the topic alone keep zoom and selection."""
    text = json.dumps([graph["nodes"], graph["links"]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def radius(broker: GraphBroker, brokers: int) -> float:
    """Pixels; the area grows with the degree, and all shrink where many share the canvas."""
    room = 1.0 if brokers <= 60 else max(0.34, math.sqrt(60 / brokers))
    return room * min(17.0, 5.5 + 2.2 * math.sqrt(broker["degree"]))


def spread(brokers: list[GraphBroker], half_width: float = HALF_WIDTH) -> list[tuple[float, float]]:
    """The API's coordinates in pixels: they fill the canvas, and keep their shape as far as that allows."""
    left, right = min(b["x"] for b in brokers), max(b["x"] for b in brokers)
    top, bottom = min(b["y"] for b in brokers), max(b["y"] for b in brokers)
    # Few brokers far apart look lost.
    room = min(1.0, 0.45 + 0.07 * len(brokers))
    more = _NAMELESS_ROOM if len(brokers) > NAMED_BROKERS else 0.0
    across = 2 * (half_width + more) * room / max(right - left, 1e-9)
    down = 2 * (_HALF_HEIGHT + more) * room / max(bottom - top, 1e-9)
    across, down = min(across, _MOST_STRETCH * down), min(down, _MOST_STRETCH * across)
    middle = (left + right) / 2, (top + bottom) / 2
    return [((b["x"] - middle[0]) * across, (b["y"] - middle[1]) * down) for b in brokers]


def _alarm(colours: Palette, at_risk: bool) -> str:
    """The colour of articulation brokers: that of a risk where the policy asks that no one broker be missed."""
    return colours.at_risk if at_risk else colours.broken


def mark(broker: GraphBroker, pixels: float, colours: Palette, *, at_risk: bool = False) -> dict[str, Any]:
    """The picture laid over a broker: a cross for a failed one, ring and diamond for an articulation broker.

    Every broker has one: a picture that vanishes under the same key would stay drawn.
    """
    half = pixels + 4.0
    body = ""
    if broker.get("failed"):
        arm = pixels * 0.8
        body = (
            f'<path d="M{-arm:.2f} {-arm:.2f}L{arm:.2f} {arm:.2f}M{arm:.2f} {-arm:.2f}L{-arm:.2f} {arm:.2f}" '
            f'stroke="{colours.broken}" stroke-width="2.4" stroke-linecap="round"/>'
        )
    elif broker["articulation"]:
        corner, thin = pixels * 0.55, min(2.4, pixels * 0.26)
        body = (
            f'<circle r="{pixels + thin * 0.9:.2f}" fill="none" stroke="{_alarm(colours, at_risk)}" '
            f'stroke-width="{thin:.2f}"/>'
            f'<path d="M0 {-corner:.2f}L{corner:.2f} 0 0 {corner:.2f} {-corner:.2f} 0Z" fill="{colours.background}"/>'
        )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" '
        f'viewBox="{-half:.2f} {-half:.2f} {2 * half:.2f} {2 * half:.2f}">{body}</svg>'
    )
    # The widget draws a square whose side is given in diameters of what it lies on.
    return {"url": broker_names.data_url(svg), "position": [0, 0], "size": half / pixels}


@st.cache_data(max_entries=32, show_spinner=False)
def drawing(
    identity: str,
    _graph: TopicGraph,
    theme: Theme,
    half_width: float = HALF_WIDTH,
    _named_in: TopicGraph | None = None,
    at_risk: bool = False,
) -> tuple[list[BrokerNode], list[Relationship]]:
    """What the widget draws, made once per topic state and theme (``identity`` is the digest of both graphs).

    Names lie where there is room for them in ``_named_in``, another state of the same brokers, so that two drawings
    compare.
    """
    colours = PALETTES[theme]
    # Articulation brokers last: they lie on top of what they hold together.
    brokers = sorted(_graph["nodes"], key=lambda b: (b["articulation"], b["degree"], b["id"]))
    names = broker_names.names(broker["id"] for broker in brokers)
    discs = [
        Disc(broker["id"], x, y, radius(broker, len(brokers)), names[broker["id"]])
        for broker, (x, y) in zip(brokers, spread(brokers, half_width), strict=True)
    ]
    nodes = []
    if len(brokers) <= NAMED_BROKERS:
        at = {disc.id: (disc.x, disc.y) for disc in discs}
        named_in = _named_in or _graph
        lines = [(at[link["a"]], at[link["b"]]) for link in named_in["links"]]
        told = _telling(named_in)
        # What is drawn last, on top, is named first.
        first = sorted(discs, key=lambda disc: disc.id in told)
        boxes = broker_names.places(reversed(first), lines, half_width + _MARGIN)
        nodes = _names(boxes, names, colours)
    nodes += [
        BrokerNode(
            id=broker["id"],
            x=disc.x / ZOOM,
            y=disc.y / ZOOM,
            size=disc.radius / ZOOM,
            color=colours.failed if broker.get("failed") else colours.component(broker["component"]),
            properties={"broker": broker["id"], "degree": broker["degree"]},
            overlayIcon=mark(broker, disc.radius, colours, at_risk=at_risk),
        )
        for broker, disc in zip(brokers, discs, strict=True)
    ]
    links = [
        Relationship(
            id=f"link-{rank}",
            source=link["a"],
            target=link["b"],
            color=_link_colour(link, colours),
            width=(1.2 if _plain(link) else 1.8) / ZOOM,
        )
        for rank, link in enumerate(_graph["links"])
    ]
    return nodes, links


def _telling(graph: TopicGraph) -> set[str]:
    """The brokers that a what-if is about; their names have room before others."""
    failed = {broker["id"] for broker in graph["nodes"] if broker.get("failed")}
    return failed | {end for link in graph["links"] if link.get("opened") for end in (link["a"], link["b"])}


def _plain(link: GraphLink) -> bool:
    return not link["bridge"] and not link.get("opened")


def _link_colour(link: GraphLink, colours: Palette) -> str:
    if link.get("opened"):
        return colours.opened
    return colours.broken if link["bridge"] else colours.kept


def _names(boxes: dict[str, Box], names: dict[str, str], colours: Palette) -> list[BrokerNode]:
    """Points too small to see or to hit, each carrying a piece of a name."""
    point = 0.5
    return [
        BrokerNode(
            id=f"{_NAME}{rank}{_NAME[-1]}{identity}",
            x=tile.x / ZOOM,
            y=tile.y / ZOOM,
            size=point / ZOOM,
            color=colours.canvas,
            overlayIcon={"url": tile.url, "position": [0, 0], "size": broker_names.TILE / (2 * point)},
        )
        for identity, box in boxes.items()
        for rank, tile in enumerate(broker_names.tiles(names[identity], box, colours.text, colours.canvas))
    ]


def show(
    graph: TopicGraph,
    theme: Theme,
    selected: str | None,
    name: str = "drawing",
    half_width: float = HALF_WIDTH,
    named_in: TopicGraph | None = None,
    *,
    at_risk: bool = False,
) -> str | None:
    """Draw the topic and return the broker selected in it; ``name`` tells drawings of one page apart.

    ``at_risk``: the policy asks for more than one connection, so articulation brokers are none that it wants.
    """
    identity = digest(graph) + (digest(named_in) if named_in else "")
    nodes, links = drawing(identity, graph, theme, half_width, named_in, at_risk)
    widget: GraphWidget = VisualizationGraph(nodes=list(nodes), relationships=list(links)).render_widget(
        layout=Layout.COORDINATE,
        renderer=Renderer.CANVAS,
        initial_zoom=ZOOM,
        height=f"{HEIGHT}px",
        theme=theme,
        show_layout_button=False,
        show_search_button=False,
    )
    key = f"{name}-{identity}-{theme}"
    if key not in st.session_state and selected is not None:
        widget.selected = {"nodeIds": [selected], "relationshipIds": []}
    display_widget(widget, key=key)
    chosen = list(widget.selected.nodeIds)
    # Whoever hits a name means its broker.
    return str(chosen[0]).rsplit(_NAME[-1], 1)[-1] if chosen else None


def legend(graph: TopicGraph, theme: Theme, *, whole: bool = True, at_risk: bool = False) -> None:
    """What colours, sizes and marks mean, for what this drawing has; it may be a part of its topic only."""
    colours = PALETTES[theme]
    sizes: dict[int, int] = {}
    for broker in graph["nodes"]:
        if broker.get("failed"):
            continue
        sizes[broker["component"]] = sizes.get(broker["component"], 0) + 1
    shown = len(colours.components)
    rows: list[tuple[str, str]] = []
    for rank in sorted(sizes)[: shown - 1]:
        one = len(sizes) == 1 and (whole or rank == 0)
        label = "The one component" if one else f"Component {rank + 1}"
        shown_here = count(sizes[rank], "broker") if whole else f"{sizes[rank]:,} of its brokers"
        rows.append((_dot(colours.component(rank)), f"{label}: {shown_here}"))
    rest = [sizes[rank] for rank in sorted(sizes)[shown - 1 :]]
    if len(rest) == 1:
        rows.append((_dot(colours.component(shown - 1)), f"Component {shown}: {count(rest[0], 'broker')}"))
    elif rest:
        rows.append(
            (
                _dot(colours.component(shown - 1)),
                f"Components {shown}–{len(sizes)}: {sum(rest):,} brokers in all",
            )
        )
    if any(broker["articulation"] for broker in graph["nodes"]):
        rows.append((_articulation(colours, at_risk), "Articulation broker: its loss alone splits the topic"))
    if any(link["bridge"] and not link.get("opened") for link in graph["links"]):
        rows.append((_line(colours.broken, 2.4), "Bridge: the loss of this link alone splits the topic"))
    if any(broker.get("failed") for broker in graph["nodes"]):
        rows.append((_cross(colours), "Failed broker"))
    if any(link.get("opened") for link in graph["links"]):
        rows.append((_line(colours.opened, 2.4), "Link that the repair opens"))
    if any(_plain(link) for link in graph["links"]):
        # Bridges are not looked for among what a failure left.
        stays = any(broker.get("failed") for broker in graph["nodes"])
        rows.append((_line(colours.kept, 1.4), "Link that stays" if stays else "Link with a way round it"))
    body = "".join(f"<div>{symbol}</div><div>{html.escape(text)}</div>" for symbol, text in rows)
    note = "The larger, the more links a broker has in all. Links have no direction."
    st.html(f'<div class="tw-legend">{body}<div class="note">{note}</div></div>')


def _symbol(body: str) -> str:
    # As a picture: Streamlit strips SVG out of HTML.
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="22" height="22" viewBox="-11 -11 22 22">{body}</svg>'
    )
    return f'<img alt="" src="{broker_names.data_url(svg)}">'


def _dot(colour: str) -> str:
    return _symbol(f'<circle r="7" fill="{colour}"/>')


def _articulation(colours: Palette, at_risk: bool) -> str:
    return _symbol(
        f'<circle r="7" fill="{colours.component(0)}"/><circle r="9" fill="none" '
        f'stroke="{_alarm(colours, at_risk)}" stroke-width="2"/><path d="M0-4 4 0 0 4-4 0Z" fill="{colours.background}"/>'
    )


def _cross(colours: Palette) -> str:
    return _symbol(
        f'<circle r="7" fill="{colours.failed}"/><path d="M-5-5 5 5M5-5-5 5" stroke="{colours.broken}" '
        f'stroke-width="2.4" stroke-linecap="round"/>'
    )


def _line(colour: str, width: float) -> str:
    return _symbol(f'<path d="M-10 0H10" stroke="{colour}" stroke-width="{width}"/>')
