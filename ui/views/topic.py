"""Topic: is it one piece, and who holds it together?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from ui import access, client, palette, states, topic_graph
from ui.answers import Topic, TopicGraph
from ui.palette import Theme
from ui.wording import count, diameter, literal, number

WATCH_SECONDS = 2
FIGURE_WIDTH = 126
_SELECTED = "_topic_selected"
_FOLLOWED = "_topic_followed"
ROW_HEIGHT = 28
MAX_TABLE_HEIGHT = 460


def page() -> None:
    """The topic that the URL names."""
    name = st.query_params.get("topic", "")
    back: dict[str, str] = st.session_state.get("_topics_params", {})
    if not name:
        st.title("Topic", anchor=False)
        states.no_topic("", back)
        return
    st.page_link("views/topics.py", label="All topics", icon=":material/arrow_back:", query_params=back)
    st.title(name, anchor=False)
    key = access.required_key()
    try:
        topic = client.topic(key, name)
    except client.ApiError as error:
        if error.status == 404:
            states.no_topic(name, back)
            return
        raise
    theme = palette.theme()
    answer(topic)
    figures(topic)
    if topic["subscribers"] > topic_graph.MAX_BROKERS:
        too_large(topic)
        downloads(topic, crowd(topic), None)
    elif topic["subscribers"] > 0:
        graph = client.topic_graph(key, name)
        if topic["subscribers"] > 1:
            drawing(name, graph, theme)
        table(topic, graph)
    follow(key, topic["version"], theme)


def answer(topic: Topic) -> None:
    """One sentence: in one piece or not, and what could change that."""
    subscribers, pieces = topic["subscribers"], len(topic["components"])
    cut, bridges = len(topic["articulation_brokers"]), len(topic["bridges"])
    if subscribers <= 1:
        st.info("**Nothing to connect**: the topic has one subscriber.", icon=":material/info:")
    elif pieces > 1:
        largest = len(topic["components"][0])
        st.error(
            f"**Apart, in {pieces:,} components**: {count(subscribers - largest, 'subscriber')} of "
            f"{number(subscribers)} cannot reach the largest component.",
            icon=":material/link_off:",
        )
    elif cut:
        risk = f"{count(cut, 'broker')} {'holds' if cut == 1 else 'hold'} it together alone"
        st.success(
            f"**In one piece**: all {count(subscribers, 'subscriber')} reach each other. "
            f"{risk}; if {'it goes' if cut == 1 else 'one of them goes'}, links must be repaired.",
            icon=":material/check_circle:",
        )
    elif bridges:
        st.success("**In one piece**: its two subscribers are linked.", icon=":material/check_circle:")
    else:
        st.success(
            f"**In one piece, {topic['connectivity']}-connected**: it stays so when any one of its "
            f"{count(subscribers, 'subscriber')} goes.",
            icon=":material/check_circle:",
        )


def figures(topic: Topic) -> None:
    """The topic in seven numbers."""
    shown = (
        ("Subscribers", number(topic["subscribers"]), None),
        ("Components", number(len(topic["components"])), "Pieces that cannot reach each other; one is right"),
        ("Connectivity", str(topic["connectivity"]), "How many brokers must go before it can come apart"),
        (
            "Diameter",
            diameter(topic["diameter"]),
            "Links on the longest of all shortest ways; none while apart",
        ),
        (
            "Articulation",
            number(len(topic["articulation_brokers"])),
            "Brokers whose loss alone splits the topic",
        ),
        ("Bridges", number(len(topic["bridges"])), "Links whose loss alone splits the topic"),
        ("Version", number(topic["version"]), "The version of the overlay that is shown"),
    )
    with st.container(horizontal=True, gap="small"):
        for label, value, help_text in shown:
            st.metric(label, value, help=help_text, border=True, width=FIGURE_WIDTH, height="stretch")


def drawing(name: str, graph: TopicGraph, theme: Theme) -> None:
    """The subgraph, with what explains it and what is selected beside it."""
    remembered: tuple[str, str] | None = st.session_state.get(_SELECTED)
    brokers = {broker["id"]: broker for broker in graph["nodes"]}
    selected = remembered[1] if remembered and remembered[0] == name and remembered[1] in brokers else None
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="drawing"):
            selected = topic_graph.show(graph, theme, selected)
        with st.container(key="explained"):
            st.subheader("Selected", anchor=False)
            if selected in brokers:
                st.session_state[_SELECTED] = (name, selected)
                selection(graph, selected)
            else:
                st.session_state.pop(_SELECTED, None)
                st.caption("Click a broker in the drawing. Drag to move, scroll to zoom.")
            st.subheader("Legend", anchor=False)
            topic_graph.legend(graph, theme)


def selection(graph: TopicGraph, chosen: str) -> None:
    """The selected broker, named whole, with its links in this topic."""
    broker = next(broker for broker in graph["nodes"] if broker["id"] == chosen)
    st.markdown(literal(chosen))
    facts = [
        f"{count(broker['topic_degree'], 'link')} in this topic, {number(broker['degree'])} in all",
        f"component {broker['component'] + 1}",
    ]
    if broker["articulation"]:
        facts.append("**articulation broker**")
    st.markdown(" · ".join(facts))
    peers = sorted(
        b if a == chosen else a for a, b in ((x["a"], x["b"]) for x in graph["links"]) if chosen in (a, b)
    )
    with st.expander(f"Linked to ({number(len(peers))})"):
        st.markdown("\n".join(f"- {literal(peer)}" for peer in peers) or "No broker of this topic.")


def brokers_frame(graph: TopicGraph) -> pd.DataFrame:
    """The topic's brokers: those that hold it together first, then by degree."""
    ordered = sorted(graph["nodes"], key=lambda b: (not b["articulation"], -b["topic_degree"], b["id"]))
    return pd.DataFrame(
        {
            "broker": [b["id"] for b in ordered],
            "component": [b["component"] + 1 for b in ordered],
            "links_in_topic": [b["topic_degree"] for b in ordered],
            "degree": [b["degree"] for b in ordered],
            "articulation": [b["articulation"] for b in ordered],
        }
    )


def crowd(topic: Topic) -> pd.DataFrame:
    """The brokers of a topic too large to draw, from its components alone."""
    cut = set(topic["articulation_brokers"])
    rows = [(broker, rank) for rank, members in enumerate(topic["components"], 1) for broker in members]
    rows.sort(key=lambda row: (row[0] not in cut, row[1], row[0]))
    return pd.DataFrame(
        {
            "broker": [broker for broker, _ in rows],
            "component": [rank for _, rank in rows],
            "articulation": [broker in cut for broker, _ in rows],
        }
    )


def table(topic: Topic, graph: TopicGraph) -> None:
    """All brokers of the topic, and both files."""
    frame = brokers_frame(graph)
    st.subheader("Brokers", anchor=False)
    rows(frame)
    links = pd.DataFrame(
        [(x["a"], x["b"], x["bridge"]) for x in graph["links"]], columns=["broker_a", "broker_b", "bridge"]
    )
    downloads(topic, frame, links)


def rows(frame: pd.DataFrame) -> None:
    """A table of brokers; the browser sorts it, since it is whole."""
    st.dataframe(
        frame,
        # One component needs no column: ids are long.
        column_order=[c for c in frame.columns if c != "component" or frame["component"].nunique() > 1],
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=min(MAX_TABLE_HEIGHT, ROW_HEIGHT * len(frame) + 36),
        column_config={
            "broker": st.column_config.TextColumn("Broker", width=440),
            "component": st.column_config.NumberColumn("Component", width=92),
            "links_in_topic": st.column_config.NumberColumn(
                "Topic links", format="localized", width=92, help="Links to brokers of this topic"
            ),
            "degree": st.column_config.NumberColumn(
                "All links", format="localized", width=84, help="Links to any broker: its degree"
            ),
            "articulation": st.column_config.CheckboxColumn("Articulation", width=94),
        },
        alt="Brokers of the topic",
    )


def too_large(topic: Topic) -> None:
    """Counts and components where a drawing would be a hairball."""
    st.info(
        f"A drawing of {count(topic['subscribers'], 'subscriber')} would show nothing: topics of up to "
        f"{number(topic_graph.MAX_BROKERS)} are drawn. Here are the components and the brokers that matter.",
        icon=":material/info:",
    )
    sizes = [len(members) for members in topic["components"]]
    if len(sizes) > 1:
        st.subheader("Components", anchor=False)
        st.dataframe(
            pd.DataFrame({"component": range(1, len(sizes) + 1), "brokers": sizes}),
            hide_index=True,
            width=320,
            row_height=ROW_HEIGHT,
            height=min(300, ROW_HEIGHT * len(sizes) + 36),
            column_config={
                "component": st.column_config.NumberColumn("Component"),
                "brokers": st.column_config.NumberColumn("Brokers", format="localized"),
            },
            alt="Components by size",
        )
    st.subheader("Brokers", anchor=False)
    rows(crowd(topic))


def downloads(topic: Topic, brokers: pd.DataFrame, links: pd.DataFrame | None) -> None:
    """The same as files; their names carry the version, so that two of them can be told apart."""
    with st.container(horizontal=True):
        for what, frame in (("brokers", brokers), ("links", links)):
            if frame is None or frame.empty:
                continue
            st.download_button(
                f"{what.capitalize()} as CSV",
                frame.to_csv(index=False).encode(),
                file_name=f"topic-{what}-v{topic['version']}.csv",
                mime="text/csv",
                icon=":material/download:",
                on_click="ignore",
            )


@st.fragment(run_every=WATCH_SECONDS)
def follow(key: str, version: int, theme: Theme) -> None:
    """Draw again when the overlay moved on or the person changed the theme: neither runs the page by itself.

    While the API is away, what is on the page stays, and a line says how old it is.
    """
    if palette.theme() != theme:
        st.rerun()
    try:
        now = client.overlay(key)["version"]
    except client.ApiError as error:
        st.caption(f":material/cloud_off: {error.title}. Shown is version {number(version)}.")
        return
    if now != version and st.session_state.get(_FOLLOWED) != now:
        # Once for each version: an answer that lags behind must not make the page run in circles.
        st.session_state[_FOLLOWED] = now
        client.forget_topics()
        st.rerun()


page()
