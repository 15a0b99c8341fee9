"""Overview: is everything connected, at which k, and what just happened?"""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from ui import (
    access,
    broker_table,
    change_table,
    charts,
    client,
    figures,
    jobs,
    listing,
    palette,
    states,
    topic_table,
    url_state,
    watch,
)
from ui.answers import Overlay
from ui.palette import Theme
from ui.wording import against_fresh, count, degree, literal, moment, number, plain, share, since_midnight

FEED = 8
TOP = 5
PROBLEMS = 50
ALARMS = {"neo4j-away": "Neo4j is away", "lease-brake": "Leases are not enforced"}


def page() -> None:
    """Figures first, then what they are made of; drawn again when anything of it moves."""
    st.title("Overview", anchor=False)
    key = access.required_key()
    overlay = client.overlay(key)
    if overlay["brokers"] == 0:
        states.no_brokers()
    else:
        live(key, overlay)
    follow(key, overlay, palette.theme())


@st.fragment(run_every=watch.SECONDS)
def follow(key: str, shown: Overlay, theme: Theme) -> None:
    """Run the page again when the overlay or the theme is another one; say so while the API is away.

    Not by the version alone: drift, alarms and an activation move without one, and a part that failed tries again.
    """
    try:
        now = client.overlay(key)
    except client.ApiError as error:
        st.caption(f":material/cloud_off: {plain(error.title)}. Shown is version {number(shown['version'])}.")
        return
    if now["version"] != shown["version"]:
        client.moved_on(now["version"])
    if now != shown or palette.theme() != theme or states.retry_due():
        st.rerun()


def live(key: str, overlay: Overlay) -> None:
    """The page of an overlay with brokers."""
    answer(overlay)
    numbers(overlay)
    url_state.sync("problems", False, url_state.whether)
    st.toggle("Problems only", key="problems", on_change=url_state.push, args=("problems", False))
    troubles(key, overlay)
    if st.session_state["problems"]:
        # By the clock: an activation that does not get on moves nothing else.
        st.fragment(problems, run_every=watch.SECONDS)(key, overlay)
        return
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="degrees-part"):
            degrees(overlay)
        with st.container(key="feed-part"):
            feed(key, overlay)
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="top-links-part"):
            busiest(key, overlay)
        with st.container(key="top-ways-part"):
            longest(key, overlay)
        with st.container(key="top-articulation-part"):
            articulated(key, overlay)
        with st.container(key="top-blast-part"):
            dangerous(key, overlay)
    trend(key, overlay)


def answer(overlay: Overlay) -> None:
    """One sentence that says whether anyone has to act."""
    total, apart = overlay["topics"], overlay["topics_apart"]
    k = int(overlay["policy"].get("k", 1))
    weak = max(0, overlay.get("topics_below_k", 0) - apart)
    if apart:
        verb, whose = ("is", "its") if apart == 1 else ("are", "their")
        st.error(
            f"**{number(apart)} of {count(total, 'topic')} {verb} apart**: "
            f"some of {whose} subscribers cannot reach each other.",
            icon=":material/link_off:",
        )
        return
    if weak:
        verb = "is" if weak == 1 else "are"
        st.warning(
            f"**{number(weak)} of {count(total, 'topic')} {verb} connected, but not {k}-connected** as the policy asks.",
            icon=":material/warning:",
        )
        return
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


def numbers(overlay: Overlay) -> None:
    """The overlay in seven numbers."""
    drift = overlay.get("drift")
    figures.show(
        (
            ("Version", number(overlay["version"]), "Every committed change raises it by one"),
            ("Brokers", number(overlay["brokers"]), None),
            (
                "Topics",
                number(overlay["topics"]),
                f"With {count(overlay['subscriptions'], 'subscription')} in all",
            ),
            ("Links", number(overlay["links"]), "Links the brokers keep open; each counts once"),
            ("Avg degree", degree(overlay["average_degree"]), "Links of a broker, on average"),
            ("Max degree", number(overlay["max_degree"]), "Links of the broker that has most"),
            (
                "Drift",
                share(drift["drift"]) if drift else "–",
                f"How far the average degree is above a fresh {drift['algorithm'] if drift else 'build'}'s; "
                "measured now and then",
            ),
        )
    )


def troubles(key: str, overlay: Overlay) -> None:
    """What a person should look at, apart from the topics themselves."""
    for alarm in overlay.get("alarms", []):
        since = f" (since {moment(alarm['since'])} UTC)" if alarm["since"] else ""
        st.error(
            f"**{ALARMS.get(alarm['kind'], plain(alarm['kind'].capitalize()))}**: {plain(alarm['detail'])}{since}",
            icon=":material/notification_important:",
        )
    not_opened(overlay)
    activation = overlay.get("activation")
    if activation:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info("A rebuild is being activated.", icon=":material/sync:", width=420)
            st.page_link(
                "views/rebuild.py",
                label="Watch it",
                icon=":material/arrow_forward:",
                query_params={"rebuild": activation},
            )
    drift = overlay.get("drift")
    if drift and drift["advised"]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(
                f"**A rebuild is advised**: the average degree is {against_fresh(drift['drift'] or 0.0)}.",
                icon=":material/trending_up:",
                width=620,
            )
            st.page_link("views/rebuilds.py", label="Rebuilds", icon=":material/arrow_forward:")


def not_opened(overlay: Overlay) -> None:
    """Links that agents could not open lately: the overlay is whole in the plan, and may not be out there."""
    failures = overlay.get("failures")
    if not failures or not failures["reports"]:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        times = "once" if failures["reports"] == 1 else f"{number(failures['reports'])} times"
        st.warning(
            f"**A link could not be opened, {times} in the last hour**, as agents report.",
            icon=":material/link_off:",
            width=620,
        )
        for broker in failures["brokers"][:TOP]:
            st.page_link(
                "views/broker.py",
                label=plain(broker, alone=True),
                icon=":material/dns:",
                query_params={"broker": broker},
            )


@states.shown(retry=False)
def problems(key: str, overlay: Overlay) -> None:
    """Only what is wrong: topics apart or too weakly connected, and rebuilds that failed or do not get on."""
    page = client.topics(
        key, sort="-components", limit=client.rows(key, PROBLEMS), problems=True, at=overlay["version"]
    )
    rebuilds = jobs.rebuilds(key)
    failed, held_up = jobs.failed_lately(rebuilds, datetime.now(UTC)), [*filter(jobs.held_up, rebuilds)]
    if page["items"]:
        st.subheader("Topics", anchor=False)
        topic_table.show(page["items"], f"problems-{overlay['version']}")
        if page["total"] > len(page["items"]):
            st.page_link(
                "views/topics.py",
                label=f"All {count(page['total'], 'topic')} with problems",
                icon=":material/arrow_forward:",
                query_params={"problems": "True"},
            )
    for rebuild in held_up:
        st.error(
            f"The activation of the rebuild {literal(rebuild['algorithm'])} is held up, and tried again by itself: "
            f"{plain(rebuild['error'] or '')}",
            icon=":material/sync_problem:",
        )
    for rebuild in failed[:TOP]:
        st.error(
            f"The rebuild {literal(rebuild['algorithm'])} of {moment(rebuild['created_at'])} UTC failed: "
            f"{plain(rebuild['error'] or 'its log has the reason')}",
            icon=":material/construction:",
        )
    drift = overlay.get("drift")
    failures = overlay.get("failures")
    known = overlay.get("alarms") or (drift and drift["advised"]) or (failures and failures["reports"])
    if not page["items"] and not failed and not held_up and not known:
        st.success("**No problems.** Nothing needs a person now.", icon=":material/check_circle:")


def degrees(overlay: Overlay) -> None:
    """How many brokers have how many links: a low fan-out is the point of the overlay."""
    st.subheader("Degrees", anchor=False)
    logarithmic = charts.lopsided(overlay["degree_histogram"]) and st.toggle(
        "Logarithmic", key="_symlog", help="Shows the few with many links"
    )
    charts.degrees(overlay["degree_histogram"], "degrees", 290, logarithmic=bool(logarithmic))


@states.shown(retry=False)
def feed(key: str, overlay: Overlay) -> None:
    """The last changes, as they come."""
    st.subheader("Changes", anchor=False)
    found = client.changes(key, overlay["version"], order="desc", limit=FEED)["items"]
    if not found:
        st.caption("No change yet. What joins, leaves and subscribes shows up here by itself.")
        return
    today = datetime.now(UTC).date().isoformat()
    rows = pd.DataFrame(
        [
            (
                change["version"],
                since_midnight(change["at"], today),
                change_table.said(change),
                change_table.links(change),
                change["actor"],
            )
            for change in found
        ],
        columns=["version", "at", "what", "links", "actor"],
    )
    listing.plain(
        rows,
        {
            "version": listing.whole("Version", 70),
            "at": listing.text("UTC", 76 if all(" " not in at for at in rows["at"]) else 144),
            "what": listing.text("Change", 230),
            "links": listing.text("Links", 76, "Links opened and closed"),
            "actor": listing.text("Actor", 90),
        },
        alt="The last changes",
    )
    st.page_link("views/history.py", label="All changes", icon=":material/arrow_forward:")


@states.shown(retry=False)
def busiest(key: str, overlay: Overlay) -> None:
    """The brokers with most links."""
    st.subheader("Most links", anchor=False)
    rows = client.brokers(key, sort="-degree", limit=TOP, at=overlay["version"])["items"]
    broker_table.show(rows, f"busiest-{overlay['version']}", columns=("id", "degree"))


@states.shown(retry=False)
def dangerous(key: str, overlay: Overlay) -> None:
    """The brokers whose loss takes most topics apart."""
    st.subheader(
        "Largest blast radius", anchor=False, help="Topics that come apart if the broker goes, until repaired"
    )
    rows = client.brokers(key, sort="-blast_radius", limit=TOP, at=overlay["version"])["items"]
    broker_table.show(rows, f"blast-{overlay['version']}", columns=("id", "blast_radius"))


@states.shown(retry=False)
def longest(key: str, overlay: Overlay) -> None:
    """The topics whose messages may travel furthest."""
    st.subheader("Largest diameter", anchor=False, help="The most links a message may take inside its topic")
    found = client.topics(key, sort="-diameter", limit=TOP, at=overlay["version"])["items"]
    rows = [row for row in found if row["diameter"] is not None]
    topic_table.show(rows, f"longest-{overlay['version']}", columns=("name", "diameter"))


@states.shown(retry=False)
def articulated(key: str, overlay: Overlay) -> None:
    """The topics with most brokers that hold them together alone."""
    st.subheader("Most articulation brokers", anchor=False, help="Each splits its topic if lost alone")
    rows = client.topics(key, sort="-articulation_brokers", limit=TOP, at=overlay["version"])["items"]
    topic_table.show(rows, f"articulated-{overlay['version']}", columns=("name", "articulation_brokers"))


@states.shown(retry=False)
def trend(key: str, overlay: Overlay) -> None:
    """Where links and degrees have been going."""
    points = client.trend(key)["points"]
    if len(points) < 2:
        return
    table = pd.DataFrame(points)
    table["run"] = "live"
    st.subheader("Trend over versions", anchor=False)
    with st.container(horizontal=True, gap="medium"):
        for column, title, shape in (("links", "Links", ",d"), ("average_degree", "Average degree", ",.3~f")):
            with st.container(key=f"trend-{column.replace('_', '-')}-part"):
                charts.lines(
                    table, "version", column,
                    key=f"trend-{column}", x_title="Version", y_title=title, y_format=shape, height=220,
                )  # fmt: skip


page()
