"""Topic: is it one piece, and who holds it together? Now, or at an older version."""

from __future__ import annotations

import functools

import pandas as pd
import streamlit as st

from ui import access, client, figures, listing, palette, states, topic_graph, url_state, watch
from ui.answers import GraphLink, Topic, TopicGraph
from ui.palette import Theme
from ui.wording import count, diameter, literal, number, plain

SELECTED = "selected"
_SEEN = "_topic_selected"
MAX_TABLE_HEIGHT = 460
MAX_CHOICES = 100


def page() -> None:
    """The topic that the URL names, at the version that it names."""
    name = st.query_params.get("topic", "")
    back: dict[str, str] = st.session_state.get("_topics_params", {})
    if not name:
        st.title("Topic", anchor=False)
        states.no_topic("", back)
        return
    st.page_link("views/topics.py", label="All topics", icon=":material/arrow_back:", query_params=back)
    st.title(plain(name, alone=True), anchor=False)
    key = access.required_key()
    theme = palette.theme()
    url_state.sync("version", 0, url_state.positive)
    version = int(st.session_state["version"]) or None
    try:
        topic = client.topic(key, name, version)
    except client.ApiError as error:
        if error.passes:
            # Said now: with a slow API the field would be waited for as long again.
            raise
        version_field(key, version)
        if error.status == 404 and version is None:
            states.no_topic(name, back)
        elif error.status in (404, 410):
            states.empty(
                f"Not at version {number(version or 0)}",
                f"At that version the overlay had no topic {literal(name)}, or the version is no longer kept.",
            )
        else:
            raise
        return
    version_field(key, version)
    k = asked_for(key)
    answer(topic, k)
    numbers(topic)
    if topic["subscribers"] > topic_graph.MAX_BROKERS:
        too_large(key, topic, version, theme, k)
    elif topic["subscribers"] > 0:
        graph = client.topic_graph(key, name, version)
        if topic["subscribers"] > 1:
            drawing(name, graph, theme, k)
        table(topic, graph)
    if version is None:
        watch.follow(key, topic["version"], theme)
    else:
        watch.follow_theme(theme)


def version_field(key: str, version: int | None) -> None:
    """Which version is on show, where there is more than one to choose from."""
    try:
        overlay = client.overlay(key)
    except client.ApiError as error:
        if error.passes:
            # The page can do without; its own figures say what is the matter.
            return
        raise
    oldest, live = overlay.get("oldest_version", overlay["version"]), overlay["version"]
    if oldest >= live and version is None:
        return

    def pushed() -> None:
        wanted = st.session_state["_version"]
        st.session_state["version"] = 0 if wanted is None or wanted >= live else wanted
        url_state.push("version", 0)

    st.session_state["_version"] = version or live
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            "Version",
            min_value=min(oldest, version or live),
            max_value=max(live, version or live),
            step=1,
            key="_version",
            on_change=pushed,
            width=180,
            help=f"From {number(oldest)}, the oldest kept, to {number(live)}, the live one",
        )
        if version is not None:
            st.page_link(
                "views/topic.py",
                label="Back to live",
                icon=":material/update:",
                query_params={"topic": st.query_params.get("topic", "")},
            )
    if version is not None:
        st.info(
            f"**As it was at version {number(version)}.** The overlay is at version {number(live)} now.",
            icon=":material/history:",
        )


def asked_for(key: str) -> int:
    """The k of the policy; 1, which asks for nothing that the topic does not say itself, while the API is away."""
    try:
        return int(client.overlay(key)["policy"].get("k", 1))
    except client.ApiError as error:
        if not error.passes:
            raise
        return 1


def answer(topic: Topic, k: int) -> None:
    """One sentence: in one piece or not, what could change that, and whether the policy asks for more."""
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
        risk = "The loss of one broker" if cut == 1 else f"The loss of any one of {number(cut)} brokers"
        if k > 1:
            st.warning(
                f"**In one piece, but not {k}-connected** as the policy asks. {risk} would split it until links are "
                "repaired.",
                icon=":material/warning:",
            )
            return
        st.success(
            f"**In one piece**: all {count(subscribers, 'subscriber')} reach each other. "
            f"{risk} would split it until links are repaired.",
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


def numbers(topic: Topic) -> None:
    """The topic in seven numbers."""
    shown = (
        ("Subscribers", number(topic["subscribers"]), None),
        ("Components", number(len(topic["components"])), "Pieces that cannot reach each other; one is right"),
        ("Connectivity", str(topic["connectivity"]), "How many brokers must go before it can come apart"),
        (
            "Diameter",
            diameter(topic["diameter"], sampled=topic["diameter_sampled"]),
            "Links on the longest of all shortest ways; none while apart"
            + (". The topic is so large that this is a lower bound" if topic["diameter_sampled"] else ""),
        ),
        (
            "Articulation",
            number(len(topic["articulation_brokers"])),
            "Brokers whose loss alone splits the topic",
        ),
        ("Bridges", number(len(topic["bridges"])), "Links whose loss alone splits the topic"),
        ("Version", number(topic["version"]), "The version of the overlay that is shown"),
    )
    figures.show(shown)


def drawing(name: str, graph: TopicGraph, theme: Theme, k: int, *, whole: bool = True) -> None:
    """The subgraph, with what explains it and what is selected beside it."""
    brokers = {broker["id"]: broker for broker in graph["nodes"]}
    wanted = url_state.read(SELECTED)
    seen, turn = st.session_state.get(_SEEN, ("", 0))
    if seen != (name, wanted):
        # A link or Back says another one than the drawing, which keeps its own: it is drawn as a new one.
        turn += 1
    selected = wanted if wanted in brokers else None
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="drawing"):
            selected = topic_graph.show(graph, theme, selected, f"drawing-{turn}", at_risk=k > 1)
        with st.container(key="explained"):
            st.subheader("Selected", anchor=False)
            if selected is not None and selected in brokers:
                selection(graph, selected)
            else:
                selected = None
                st.caption("Click a broker in the drawing. Drag to move, scroll to zoom.")
            st.subheader("Legend", anchor=False)
            topic_graph.legend(graph, theme, whole=whole, at_risk=k > 1)
    if selected != wanted:
        url_state.write(SELECTED, selected)
    st.session_state[_SEEN] = (name, selected), turn


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
    st.page_link(
        "views/broker.py",
        label="Open broker",
        icon=":material/arrow_forward:",
        query_params={"broker": chosen},
    )
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
    rows(topic, frame)
    with st.container(horizontal=True):
        for what, file in (("brokers", frame), ("links", links_frame(graph["links"]))):
            if not file.empty:
                # Names carry the version, so that two files can be told apart.
                listing.as_csv(f"{what.capitalize()} as CSV", file, f"topic-{what}-v{topic['version']}.csv")


def links_frame(links: list[GraphLink]) -> pd.DataFrame:
    """The topic's links, as its file has them."""
    return pd.DataFrame(
        [(link["a"], link["b"], link["bridge"]) for link in links], columns=["broker_a", "broker_b", "bridge"]
    )


def rows(topic: Topic, frame: pd.DataFrame) -> None:
    """A table of brokers; a name leads to its broker."""
    listing.show(
        frame,
        f"brokers-{topic['name']}-{topic['version']}",
        opens="broker",
        page="views/broker.py",
        param="broker",
        # One component needs no column: ids are long.
        columns=[c for c in frame.columns if c != "component" or frame["component"].nunique() > 1],
        config={
            "component": st.column_config.NumberColumn("Component", width=92),
            "links_in_topic": listing.whole("Topic links", 92, "Links to brokers of this topic"),
            "degree": listing.whole("All links", 84, "Links to any broker: its degree"),
            "articulation": st.column_config.CheckboxColumn("Articulation", width=94),
        },
        name_label="Broker",
        name_width=600,
        max_height=MAX_TABLE_HEIGHT,
        alt="Brokers of the topic",
    )


def too_large(key: str, topic: Topic, version: int | None, theme: Theme, k: int) -> None:
    """Counts, components and one broker's neighbourhood where a drawing of all would be a hairball."""
    st.info(
        f"A drawing of {count(topic['subscribers'], 'subscriber')} would show nothing: topics of up to "
        f"{number(topic_graph.MAX_BROKERS)} are drawn. Here are the components, the brokers that matter, and the "
        "neighbourhood of one of them.",
        icon=":material/info:",
    )
    sizes = [len(members) for members in topic["components"]]
    if len(sizes) > 1:
        st.subheader("Components", anchor=False)
        listing.plain(
            pd.DataFrame({"component": range(1, len(sizes) + 1), "brokers": sizes}),
            {"component": listing.whole("Component"), "brokers": listing.whole("Brokers")},
            alt="Components by size",
            max_height=300,
            width=320,
        )
    neighbourhood(key, topic, version, theme, k)
    st.subheader("Brokers", anchor=False)
    rows(topic, crowd(topic))
    with st.container(horizontal=True):
        listing.as_csv("Brokers as CSV", crowd(topic), f"topic-brokers-v{topic['version']}.csv")
        listing.whole_as_csv(
            "Links as CSV",
            functools.partial(_links, key, topic["name"], version),
            f"topic-links-v{topic['version']}.csv",
        )


def _links(key: str, name: str, version: int | None) -> pd.DataFrame:
    return links_frame(client.topic_links(key, name, version))


def neighbourhood(key: str, topic: Topic, version: int | None, theme: Theme, k: int) -> None:
    """Two steps around a chosen broker; first those that hold the topic together."""
    st.subheader("Neighbourhood", anchor=False)
    members = list(crowd(topic)["broker"])
    url_state.sync("around", members[0], str)
    if st.session_state["around"] not in members:
        st.session_state["around"] = members[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            "Find a subscriber",
            key="_around_query",
            type="search",
            live="300ms",
            placeholder="Part of its id",
            width=280,
        )
        part = (query or "").strip().casefold()
        found = [member for member in members if part in member.casefold()]
        around = st.selectbox(
            "Two steps around",
            list(dict.fromkeys([st.session_state["around"], *found[:MAX_CHOICES]])),
            key="around",
            width=460,
            on_change=url_state.push,
            args=("around", members[0]),
        )
    if len(found) > MAX_CHOICES:
        st.caption(
            f"{number(MAX_CHOICES)} of {number(len(found))} can be chosen: find the others by their ids."
        )
    elif not found:
        st.caption("No subscriber matches. Shorten the search.")
    graph = client.topic_graph(key, topic["name"], version, around)
    if len(graph["nodes"]) > topic_graph.MAX_BROKERS:
        st.caption(f"Even two steps reach {count(len(graph['nodes']), 'broker')}: too many to draw.")
    elif len(graph["nodes"]) > 1:
        drawing(topic["name"], graph, theme, k, whole=False)
    else:
        st.caption("It has no link in this topic.")


page()
