"""What-if: which topics come apart when brokers fail, and what would the repair open? Nothing live changes."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from ui import (
    access,
    client,
    figures,
    listing,
    palette,
    plan,
    states,
    topic_change,
    topic_graph,
    url_state,
    watch,
)
from ui.answers import TopicApart, TopicGraph, WhatIf
from ui.palette import Theme
from ui.wording import count, degree, literal, number

MATCHES = 20
MOST = 5
SHORTENED = "..."


def lines(raw: str) -> list[str]:
    """Ids, one a line: no id has a line break in it."""
    return list(dict.fromkeys(line.strip() for line in raw.splitlines() if line.strip()))


def chosen() -> None:
    """The choice goes to the URL, and the topic on show starts anew."""
    url_state.push("leave", [], "topic", write="\n".join)


def page() -> None:
    """Choose, then read."""
    st.title("What-if", anchor=False)
    key = access.required_key()
    nobody: list[str] = []
    url_state.sync("leave", nobody, lines)
    pick(key)
    gone: list[str] = st.session_state["leave"]
    theme = palette.theme()
    overlay = client.overlay(key)
    version, k = overlay["version"], int(overlay["policy"].get("k", 1))
    if not gone:
        states.empty(
            "Nothing fails yet", "Choose the brokers that fail. Nothing live changes, whatever you try here."
        )
        watch.follow_theme(theme)
        return
    try:
        found = client.what_if(key, tuple(gone), version)
    except client.ApiError as error:
        missing = absent(error.detail, gone) if error.status == 404 else []
        if not missing:
            raise
        not_there(gone, missing)
        watch.follow(key, version, theme)
        return
    answer(found, gone, k)
    numbers(found, k)
    if found["topics_apart"]:
        apart(key, found, gone, theme)
    links(found)
    watch.follow(key, version, theme)


def pick(key: str) -> None:
    """Find brokers and add them; a list can be pasted, the busiest are one click away."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input(
            "Find brokers", key="_find", type="search", live="300ms", placeholder="Part of the id", width=280
        )
        found = client.brokers(key, (query or "").strip(), limit=client.rows(key, MATCHES))["items"]
        matches = [row["id"] for row in found]
        options = list(dict.fromkeys([*st.session_state["leave"], *matches]))
        st.multiselect(
            "Brokers that fail",
            options,
            key="leave",
            on_change=chosen,
            select_all=False,
            placeholder="Choose from what was found",
            width="stretch",
        )
    with st.container(horizontal=True):
        st.button("The five with most links", icon=":material/hub:", on_click=take_most, args=(key,))
        with st.popover("Paste a list", icon=":material/content_paste:"):
            st.text_area("Ids, one a line", key="_pasted", height=180, width=380)
            st.button("Take these", on_click=take_pasted)
        if st.session_state["leave"]:
            st.button("Clear", icon=":material/close:", on_click=take, args=([],))


def take(ids: list[str]) -> None:
    """These fail, and no others."""
    st.session_state["leave"] = ids
    chosen()


def take_most(key: str) -> None:
    """The brokers with most links."""
    try:
        take([row["id"] for row in client.brokers(key, sort="-degree", limit=MOST)["items"]])
    except client.ApiError:
        # The page itself asks next, and says what is the matter.
        return


def take_pasted() -> None:
    """What was pasted, without blanks and repetitions."""
    take(lines(st.session_state.get("_pasted") or ""))


def absent(detail: str, ids: list[str]) -> list[str]:
    """Which of them the API says it does not have: it names the first, and shortens a long one.

    Asking for each by itself would be a thousand calls for a list that was pasted.
    """
    named = detail.rpartition("(got ")[2].removesuffix(")")
    whole = [identity for identity in ids if repr(identity) == named]
    return (
        whole
        or [
            identity
            for identity in ids
            if named.endswith(SHORTENED) and repr(identity).startswith(named.removesuffix(SHORTENED))
        ][:1]
    )


def not_there(gone: list[str], missing: list[str]) -> None:
    """Somebody of the choice has left, as happens to links that are shared: the others can still be tried."""
    st.warning(
        f"**The overlay has no broker {literal(missing[0])}**: it may have left, so it cannot fail. "
        "Others of the choice may be missing too; the next is named when this one is out.",
        icon=":material/person_off:",
    )
    st.button(
        "Take it out",
        icon=":material/close:",
        on_click=take,
        args=([identity for identity in gone if identity not in missing],),
    )


def answer(found: WhatIf, gone: list[str], k: int) -> None:
    """What comes apart, what the repair costs; and what would be less connected than the policy asks."""
    lost = f"If {literal(gone[0])} fails" if len(gone) == 1 else f"If these {number(len(gone))} brokers fail"
    opened = len(found["opened"])
    repair = f"The repair would open {count(opened, 'link')}." if opened else "No link needs to be opened."
    pieces = len(found["topics_apart"])
    if pieces:
        verb = "comes" if pieces == 1 else "come"
        st.warning(f"**{lost}, {count(pieces, 'topic')} {verb} apart.** {repair}", icon=":material/bolt:")
    else:
        st.success(f"**{lost}, no topic comes apart.** {repair}", icon=":material/check_circle:")
    # Of those apart the sentence above has spoken.
    weak = max(0, found["topics_below_k"] - pieces)
    if k > 1 and weak:
        st.warning(
            f"**{count(weak, 'topic')} would no longer be {k}-connected**, though in one piece, until the repair.",
            icon=":material/warning:",
        )


def numbers(found: WhatIf, k: int) -> None:
    """Before and after in figures."""
    before, after = found["before"], found["after"]
    below: list[figures.Figure] = []
    if k > 1:
        meaning = f"Topics that are not {k}-connected until the repair, those apart among them"
        below = [(f"Below k = {k}", number(found["topics_below_k"]), meaning)]
    figures.show(
        (
            ("Topics apart", number(len(found["topics_apart"])), "Until the repair"),
            *below,
            ("Opened", number(len(found["opened"])), "Links that the repair would open"),
            (
                "Closed",
                number(len(found["closed"])),
                "Links of the failed brokers, and those no longer needed",
            ),
            ("Avg before", degree(before["average_degree"]), "Average degree now"),
            ("Avg after", degree(after["average_degree"]), "Average degree after the repair"),
            ("Max before", number(before["max_degree"]), "Maximum degree now"),
            ("Max after", number(after["max_degree"]), "Maximum degree after the repair"),
        )
    )
    st.caption(
        f"Computed on a copy of version {number(found['version'])} in {found['seconds'] * 1000:,.1f} ms."
    )


def apart(key: str, found: WhatIf, gone: list[str], theme: Theme) -> None:
    """The topics that come apart, and one of them drawn before and after the repair."""
    st.subheader("Topics that come apart", anchor=False)
    topics = sorted(found["topics_apart"], key=lambda t: (-t["subscribers"], t["topic"]))
    rows = pd.DataFrame(
        [
            (
                t["topic"],
                t["subscribers"],
                len(t["components"]),
                t["subscribers"] - max(len(part) for part in t["components"]),
            )
            for t in topics
        ],
        columns=["topic", "subscribers", "components", "cut_off"],
    )
    listing.show(
        rows,
        f"apart-{found['version']}-{len(gone)}-{hash(tuple(gone))}",
        opens="topic",
        page="views/topic.py",
        param="topic",
        columns=list(rows.columns),
        config={
            "subscribers": listing.whole("Subscribers left", 120, "Without the failed brokers"),
            "components": listing.whole("Components", 100),
            "cut_off": listing.whole("Cut off", 90, "Subscribers that cannot reach the largest component"),
        },
        name_label="Topic",
        name_width=600,
        max_height=256,
        alt="Topics that come apart",
    )
    by_name = {t["topic"]: t for t in topics}
    url_state.sync("topic", topics[0]["topic"], url_state.one_of(*by_name))
    name = st.selectbox(
        "Draw",
        list(by_name),
        key="topic",
        width=520,
        on_change=url_state.push,
        args=("topic", topics[0]["topic"]),
    )
    draw(key, by_name[name], found, gone, theme)


def draw(key: str, topic: TopicApart, found: WhatIf, gone: list[str], theme: Theme) -> None:
    """The same places twice: what is cut off, and what joins it again."""
    opened, closed = [(a, b) for a, b in found["opened"]], found["closed"]
    # Of the topic before the failure: those who fail may be many, and few of them its subscribers.
    whole = client.topic(key, topic["topic"])["subscribers"] <= topic_graph.MAX_BROKERS
    if whole:
        graph = client.topic_graph(key, topic["topic"])
        before, after = topic_change.failed(graph, gone), topic_change.repaired(graph, gone, opened, closed)
    else:
        around = topic_change.cut_off(topic["components"], closed)
        st.caption(
            f"The topic is too large to draw whole. Shown is what lies two steps around {literal(around)}, which is cut "
            "off, and what the repair links to that."
        )
        graph = client.topic_graph(key, topic["topic"], None, around)
        graph = topic_change.reached(graph, opened, topic["components"])
        before = topic_change.failed(graph, gone, topic["components"])
        everyone = [broker for part in topic["components"] for broker in part]
        after = topic_change.repaired(graph, gone, opened, closed, [everyone])
    if len(graph["nodes"]) > topic_graph.MAX_BROKERS:
        st.caption(f"Even that is {count(len(graph['nodes']), 'broker')}: too many to draw.")
        return
    new = [link for link in after["links"] if link.get("opened")]
    either: TopicGraph = {**after, "links": [*before["links"], *new]}
    with st.container(horizontal=True, gap="medium"):
        for name, title, drawn in (
            ("before", "Before the repair", before),
            ("after", "After the repair", after),
        ):
            with st.container(key=f"{name}-part"):
                st.subheader(title, anchor=False)
                # Names of both lie where the links of either leave room.
                half = topic_graph.HALF_WIDTH_OF_TWO
                chosen = topic_graph.show(drawn, theme, None, name, half, named_in=either)
                # A name that has no room in the drawing is left out of it.
                st.caption(f"Selected: {literal(chosen)}" if chosen else "Click a broker to read its id.")
                topic_graph.legend(drawn, theme, whole=whole)


def links(found: WhatIf) -> None:
    """Every link that would be opened or closed, and why."""
    table = plan.frame(found)
    if table.empty:
        return
    st.subheader("Links", anchor=False)
    listing.plain(table, plan.CONFIG, alt="Links the repair opens and closes")
    listing.as_csv("Links as CSV", table, f"what-if-links-v{found['version']}.csv")


page()
