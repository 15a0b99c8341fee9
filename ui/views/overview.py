"""Overview: is everything connected, and what does the overlay look like?"""

from __future__ import annotations

import altair as alt
import pandas as pd
import streamlit as st

from ui import access, client, states, topic_table
from ui.answers import Overlay, TopicRow
from ui.wording import count, degree, number

REFRESH_SECONDS = 3
# Seven of them fit a window of 1280 pixels, and every label is whole.
FIGURE_WIDTH = 126
TOP = 9
TOP_WEAK = 5
MAX_BARS = 30


@st.fragment(run_every=REFRESH_SECONDS)
@states.shown(retry=False)
def live() -> None:
    """The whole page, again and again: it follows the overlay, and comes back after the API was away."""
    key = access.required_key()
    overlay = client.overlay(key)
    if overlay["brokers"] == 0:
        states.no_brokers()
        return
    answer(overlay)
    figures(overlay)
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="degrees-part"):
            degrees(overlay)
        with st.container(key="topics-part"):
            topics(key, overlay)
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="ways-part"):
            weakest(
                key, overlay, "Longest ways", "diameter", "The most links a message may take inside its topic"
            )
        with st.container(key="articulation-part"):
            weakest(
                key,
                overlay,
                "Most articulation brokers",
                "articulation_brokers",
                "Each splits its topic if lost alone",
            )


def answer(overlay: Overlay) -> None:
    """One sentence that says whether anyone has to act."""
    total, apart = overlay["topics"], overlay["topics_apart"]
    if apart:
        verb, whose = ("is", "its") if apart == 1 else ("are", "their")
        st.error(
            f"**{number(apart)} of {count(total, 'topic')} {verb} apart**: "
            f"some of {whose} subscribers cannot reach each other.",
            icon=":material/link_off:",
        )
        return
    k = int(overlay["policy"].get("k", 1))
    if k > 1:
        said = f"{k}-connected"
        meaning = (
            f"every topic stays in one piece when any {count(k - 1, 'broker')} {'goes' if k == 2 else 'go'}."
        )
    else:
        said = "connected"
        meaning = "all subscribers of a topic reach each other over subscribers of that topic alone."
    subject = "The only topic is" if total == 1 else f"All {count(total, 'topic')} are"
    st.success(f"**{subject} {said}**: {meaning}", icon=":material/check_circle:")


def figures(overlay: Overlay) -> None:
    """The overlay in seven numbers."""
    shown = (
        ("Version", number(overlay["version"]), "Every committed change raises it by one"),
        ("Brokers", number(overlay["brokers"]), None),
        ("Topics", number(overlay["topics"]), None),
        ("Subscriptions", number(overlay["subscriptions"]), "Pairs of a broker and a topic it subscribes to"),
        ("Links", number(overlay["links"]), "Links the brokers keep open; each counts once"),
        ("Avg degree", degree(overlay["average_degree"]), "Links of a broker, on average"),
        ("Max degree", number(overlay["max_degree"]), "Links of the broker that has most"),
    )
    with st.container(horizontal=True, gap="small"):
        for label, value, help_text in shown:
            st.metric(label, value, help=help_text, border=True, width=FIGURE_WIDTH, height="stretch")


def bars(histogram: list[tuple[int, int]]) -> pd.DataFrame:
    """The degree histogram in at most 30 bars; bars of several degrees are named by their range."""
    if not histogram:
        return pd.DataFrame({"degree": [], "brokers": [], "first": []})
    lowest, highest = min(d for d, _ in histogram), max(d for d, _ in histogram)
    width = -(-(highest - lowest + 1) // MAX_BARS)
    sums: dict[int, int] = dict.fromkeys(range(lowest, highest + 1, width), 0)
    for value, brokers in histogram:
        sums[lowest + (value - lowest) // width * width] += brokers
    names = [str(first) if width == 1 else f"{first}–{min(first + width - 1, highest)}" for first in sums]
    return pd.DataFrame({"degree": names, "brokers": list(sums.values()), "first": list(sums)})


def degrees(overlay: Overlay) -> None:
    """How many brokers have how many links: a low fan-out is the point of the overlay."""
    st.subheader("Degrees", anchor=False)
    table = bars([(d, b) for d, b in overlay["degree_histogram"]])
    every = 1 if len(table) <= 16 else 3
    chart = (
        alt.Chart(table)
        .mark_bar(cornerRadiusTopLeft=2, cornerRadiusTopRight=2)
        .encode(
            x=alt.X(
                "degree:N",
                sort=alt.EncodingSortField("first"),
                title="Degree (links of a broker)",
                axis=alt.Axis(labelAngle=0, values=list(table["degree"][::every])),
            ),
            y=alt.Y("brokers:Q", title="Brokers", axis=alt.Axis(tickMinStep=1, format=",d")),
            tooltip=[
                alt.Tooltip("degree:N", title="Degree"),
                alt.Tooltip("brokers:Q", title="Brokers", format=",d"),
            ],
        )
    )
    st.altair_chart(chart, height=290, key="degrees", alt="Number of brokers by degree")


def topics(key: str, overlay: Overlay) -> None:
    """The topics that need a look: those apart, else those with most subscribers."""
    rows: list[TopicRow]
    if overlay["topics_apart"]:
        title, sort, figure = "Topics apart", "-components", "components"
        rows = [row for row in client.topics(key, sort=sort, limit=TOP)["items"] if row["components"] > 1]
    else:
        title, sort, figure = "Topics with most subscribers", "-subscribers", "diameter"
        rows = client.topics(key, sort=sort, limit=TOP)["items"]
    st.subheader(title, anchor=False)
    topic_table.show(rows, f"top-{sort}-{overlay['version']}", columns=("name", "subscribers", figure))
    st.page_link(
        "views/topics.py",
        label=f"All {count(overlay['topics'], 'topic')}",
        icon=":material/arrow_forward:",
        query_params={"sort": sort},
    )


def weakest(key: str, overlay: Overlay, title: str, column: str, meaning: str) -> None:
    """The first topics by one figure, where there is anything to look at."""
    found = client.topics(key, sort=f"-{column}", limit=TOP_WEAK)["items"]
    rows = [
        row for row in found if (row["diameter"] if column == "diameter" else row["articulation_brokers"])
    ]
    if not rows:
        return
    st.subheader(title, anchor=False, help=meaning)
    topic_table.show(rows, f"weakest-{column}-{overlay['version']}", columns=("name", column))


st.title("Overview", anchor=False)
live()
