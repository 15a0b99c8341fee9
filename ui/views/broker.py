"""Broker: what does it hold, and what breaks if it goes?"""

from __future__ import annotations

import json
from collections.abc import Collection

import pandas as pd
import streamlit as st

from ui import access, change_table, client, figures, listing, palette, plan, states, url_state, watch
from ui.answers import Broker
from ui.client import segment
from ui.wording import count, literal, moment, number, plain

HISTORY = 20
_NEW = "_new_topics"
SUGGESTED = 200
TABLE_HEIGHT = 404
TABS = ("Links", "Topics", "Backups and primaries", "History")


def page() -> None:
    """The broker that the URL names."""
    identity = st.query_params.get("broker", "")
    back: dict[str, str] = st.session_state.get("_brokers_params", {})
    if not identity:
        st.title("Broker", anchor=False)
        states.no_broker("", back)
        return
    st.page_link("views/brokers.py", label="All brokers", icon=":material/arrow_back:", query_params=back)
    st.title(plain(identity, alone=True), anchor=False)
    states.told()
    key = access.required_key()
    try:
        broker = client.broker(key, identity)
    except client.ApiError as error:
        if error.status == 404:
            states.no_broker(identity, back)
            st.page_link(
                "views/history.py",
                label="Its history",
                icon=":material/history:",
                query_params={"broker": identity},
            )
            return
        raise
    answer(broker)
    numbers(broker)
    troubles(broker)
    actions(key, broker)
    url_state.sync("tab", TABS[0], url_state.one_of(*TABS))
    # No count in a label: with another label it is another tab, and whoever reads it would be thrown out of it.
    links_tab, topics_tab, backups_tab, history_tab = st.tabs(
        TABS, key="tab", on_change=url_state.push, args=("tab", TABS[0])
    )
    with links_tab:
        links(broker)
    with topics_tab:
        topics(broker)
    with backups_tab:
        backups(broker)
    with history_tab:
        history(key, broker)
    watch.follow(key, broker["version"], palette.theme())


def answer(broker: Broker) -> None:
    """One sentence: what its loss would break."""
    blast = len(broker["blast_radius"])
    if blast:
        verb = "comes" if blast == 1 else "come"
        st.warning(
            f"**If it goes, {count(blast, 'topic')} {verb} apart** until the overlay is repaired.",
            icon=":material/bolt:",
        )
    else:
        st.success("**If it goes, no topic comes apart.**", icon=":material/check_circle:")


def numbers(broker: Broker) -> None:
    """The broker in six numbers, and what its agent said of itself."""
    figures.show(
        (
            ("Degree", number(broker["degree"]), "Links to other brokers"),
            ("Topics", number(len(broker["topics"])), "Topics it subscribes to"),
            ("Blast radius", number(len(broker["blast_radius"])), "Topics that come apart if it goes"),
            ("Backups", number(len(broker["backups"])), "Brokers that would take over its topics"),
            ("Primaries", number(len(broker["primaries"])), "Brokers whose topics it would take over"),
            ("Version", number(broker["version"]), "The version of the overlay that is shown"),
        )
    )
    said = [
        f"{literal(name)} = {literal(str(value))}" for name, value in sorted(broker["attributes"].items())
    ]
    lease, acked = broker["lease"], broker["acked"]
    if lease is not None:
        said.append(f"lease of {lease['ttl_seconds']:,} s until {moment(lease['until'])} UTC")
    if acked is not None:
        said.append(f"its agent has opened the links of version {number(acked)}")
    if said:
        st.caption(" · ".join(said))


def troubles(broker: Broker) -> None:
    """Links that its agent could not open."""
    for failure in broker["failures"]:
        a, b = failure["link"]
        st.error(
            f"The link {literal(a)} – {literal(b)} could not be opened: {plain(failure['reason'])} "
            f"({moment(failure['at'])} UTC)",
            icon=":material/link_off:",
        )


def links(broker: Broker) -> None:
    """Every link, why it is there, and what it serves."""
    if not broker["links"]:
        states.empty("No links", "It shares no topic with another broker.")
        return
    st.caption(f"{count(broker['degree'], 'link')}. Click a name to open the broker.")
    rows = pd.DataFrame(
        [
            (x["broker"], x["topics_served"], x["since"], x["reason"], x.get("topics", []))
            for x in sorted(broker["links"], key=lambda x: (-x["topics_served"], x["broker"]))
        ],
        columns=["broker", "topics_served", "since", "reason", "topics"],
    )
    listing.show(
        rows,
        f"links-{broker['id']}-{broker['version']}",
        opens="broker",
        page="views/broker.py",
        param="broker",
        columns=list(rows.columns),
        config={
            "topics_served": listing.whole("Serves", 66, "Topics that both ends subscribe to"),
            "since": listing.whole("Since", 62, "The version that opened it"),
            "reason": listing.text("Why", 100),
            "topics": st.column_config.ListColumn("Topics", width=300),
        },
        name_label="Linked to",
        name_width=420,
        max_height=TABLE_HEIGHT,
        alt="Links of the broker",
    )
    # A topic may have any sign in it that could stand between two.
    files = rows.assign(topics=[json.dumps(names, ensure_ascii=False) for names in rows["topics"]])
    listing.as_csv("Links as CSV", files, f"broker-links-v{broker['version']}.csv")


def topics(broker: Broker) -> None:
    """Every topic, and which of them its loss would split."""
    if not broker["topics"]:
        states.empty("No topics", "It subscribes to nothing, so it needs no links.")
        return
    st.caption(f"{count(len(broker['topics']), 'topic')}. Click a name to open it.")
    blast = set(broker["blast_radius"])
    rows = pd.DataFrame(
        sorted(((name, name in blast) for name in broker["topics"]), key=lambda row: (not row[1], row[0])),
        columns=["topic", "splits"],
    )
    listing.show(
        rows,
        f"topics-{broker['id']}-{broker['version']}",
        opens="topic",
        page="views/topic.py",
        param="topic",
        columns=["topic", "splits"],
        config={"splits": st.column_config.CheckboxColumn("Comes apart if it goes", width=160)},
        name_label="Topic",
        name_width=600,
        max_height=TABLE_HEIGHT,
        alt="Topics of the broker",
    )


def backups(broker: Broker) -> None:
    """Who would stand in for it, and for whom it would."""
    with st.container(horizontal=True, gap="medium"):
        for title, names, none in (
            ("Backups", broker["backups"], "No broker backs it up."),
            ("Primaries", broker["primaries"], "It backs up no broker."),
        ):
            with st.container(key=f"{title.lower()}-part"):
                st.subheader(title, anchor=False)
                if not names:
                    st.caption(none)
                    continue
                listing.show(
                    pd.DataFrame({"broker": names}),
                    f"{title}-{broker['id']}-{broker['version']}",
                    opens="broker",
                    page="views/broker.py",
                    param="broker",
                    columns=["broker"],
                    config={},
                    name_label="Broker",
                    name_width=440,
                    max_height=TABLE_HEIGHT,
                    alt=title,
                )


def history(key: str, broker: Broker) -> None:
    """Its last changes."""
    found = client.changes(
        key, broker["version"], broker=broker["id"], order="desc", limit=client.rows(key, HISTORY)
    )["items"]
    if not found:
        states.empty("No changes yet", "It has been as it is for as long as the history goes back.")
        return
    change_table.show(found)
    st.page_link(
        "views/history.py",
        label="All its changes",
        icon=":material/arrow_forward:",
        query_params={"broker": broker["id"]},
    )


def actions(key: str, broker: Broker) -> None:
    """What may be tried and done with it; each that changes something opens its plan first."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(
            "views/what_if.py",
            label="What if it fails?",
            icon=":material/bolt:",
            query_params={"leave": broker["id"]},
        )
        if not access.may_change():
            states.read_only("Changing a broker")
            return
        if st.button("Leave …", icon=":material/logout:"):
            plan.ask(leaving(broker["id"]))
        if st.button("Subscribe …", icon=":material/add:"):
            choose_topics(key, broker, "subscribe")
        if broker["topics"] and st.button("Unsubscribe …", icon=":material/remove:"):
            choose_topics(key, broker, "unsubscribe")


def leaving(identity: str) -> plan.Proposal:
    """The broker leaves for good."""
    return plan.Proposal(
        title="Leave: plan",
        meaning=f"{literal(identity)} leaves the overlay with all its subscriptions. Its links are closed, and what "
        "they held together is repaired in the same version.",
        typed=identity,
        button="Let it leave",
        done=f"{literal(identity)} left.",
        method="DELETE",
        path=f"/v1/brokers/{segment(identity)}",
    )


def subscribing(identity: str, operation: str, names: list[str], new: Collection[str] = ()) -> plan.Proposal:
    """The broker takes up topics or gives them up, all in one version; ``new`` are those that nobody has yet.

    One topic has a call of its own, whose change is written down as the broker's; several are a batch.
    """
    takes_up = operation == "subscribe"
    listed = ", ".join(
        f"{literal(name)} (a **new topic**)" if name in new else literal(name) for name in names
    )
    one = names[0] if len(names) == 1 else None
    path = "/v1/changes" if one is None else f"/v1/brokers/{segment(identity)}/topics/{segment(one)}"
    return plan.Proposal(
        title=f"{operation.capitalize()}: plan",
        meaning=f"{literal(identity)} {'subscribes to' if takes_up else 'gives up'} {listed}, in one version.",
        typed=identity,
        button=f"{operation.capitalize()}",
        done=f"{literal(identity)} {'subscribed to' if takes_up else 'gave up'} {count(len(names), 'topic')}.",
        method="POST" if takes_up or one is None else "DELETE",
        path=path,
        body=[{"op": operation, "broker": identity, "topics": names}] if one is None else None,
    )


def choose_topics(key: str, broker: Broker, operation: str) -> None:
    """The dialog that asks for topics and then shows the plan.

    What it offers is settled when it opens: a list that changes meanwhile would forget what was chosen from it.
    """
    offered = broker["topics"]
    if operation == "subscribe":
        own = set(broker["topics"])
        offered = [
            row["name"]
            for row in client.topics(key, limit=client.rows(key, SUGGESTED))["items"]
            if row["name"] not in own
        ]
    st.session_state.pop(_NEW, None)
    plan.show(f"{operation.capitalize()}: plan", topics_body, broker["id"], offered, operation)


def not_yet_there(names: list[str]) -> list[str]:
    """Those that no broker subscribes to: a name that was mistyped makes a topic of its own.

    Asked for once a choice: what came of the change itself is to be said, whether this has an answer by then or not.
    """
    kept: tuple[list[str], list[str]] | None = st.session_state.get(_NEW)
    if kept is not None and kept[0] == names:
        return kept[1]
    key, found = access.required_key(), list[str]()
    for name in names:
        try:
            client.topic(key, name)
        except client.ApiError as error:
            if error.status != 404:
                raise
            found.append(name)
    st.session_state[_NEW] = (names, found)
    return found


@states.in_dialog
def topics_body(identity: str, offered: list[str], operation: str) -> None:
    """Topics first, then their plan below."""
    new = operation == "subscribe"
    names = st.multiselect(
        "Topics",
        offered,
        key="_topics_chosen",
        accept_new_options=new,
        select_all=False,
        placeholder="Choose, or type a name" if new else "Choose",
        help="Any name is a topic: one that nobody has subscribed to yet is new." if new else None,
    )
    if names:
        unknown = [name for name in names if name not in offered] if new else []
        plan.body(subscribing(identity, operation, list(names), not_yet_there(unknown)))
    else:
        st.caption("Choose topics to see the plan.")


page()
