"""History: what happened, when, by whom? And any version against any other."""

from __future__ import annotations

import functools
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from ui import access, change_table, client, figures, listing, plan, states, url_state, watch
from ui.answers import Change, Overlay
from ui.wording import count, literal, moment, number, plain

ROWS = 50
FILE_ROWS = 500
VIEWS = {"changes": "Changes", "compare": "Version against version"}
FILTERS = ("kind", "actor", "broker", "since", "until")
RESET = ("before", "change")


def page() -> None:
    """One of two views."""
    st.title("History", anchor=False)
    key = access.required_key()
    url_state.sync("view", "changes", url_state.one_of(*VIEWS))
    view = st.segmented_control(
        "View",
        list(VIEWS),
        format_func=VIEWS.__getitem__,
        key="view",
        required=True,
        label_visibility="collapsed",
        on_change=turn_to_view,
        args=(key,),
    )
    if view == "compare":
        compare(key)
    else:
        changes()


def turn_to_view(key: str) -> None:
    """The other view; a comparison that is shared names both of its versions."""
    if st.session_state["view"] == "compare":
        with suppress(client.ApiError):
            live = client.overlay_now(key)["version"]
            st.session_state["from"], st.session_state["to"] = max(1, live - 1), live
            url_state.push("view", "changes", *FILTERS, *RESET, also=("from", "to"))
            return
    url_state.push("view", "changes", "from", "to")


def moment_of(raw: str) -> datetime:
    """A time in the URL, to the minute: UTC unless it names another zone, and UTC from here on."""
    when = datetime.fromisoformat(raw)
    return when if when.tzinfo is None else when.astimezone(UTC).replace(tzinfo=None)


def _text(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat(timespec="minutes")


@st.fragment
@states.shown(retry=True)
def changes() -> None:
    """Filters and the changes that pass them, the newest first."""
    key = access.required_key()
    filters()
    url_state.sync("before", 0, url_state.positive)
    url_state.sync("change", 0, url_state.positive)
    wanted = wanted_filters()
    before = int(st.session_state["before"])
    version = client.overlay(key)["version"]
    found = client.changes(
        key, version, order="desc", limit=client.rows(key, ROWS), before=before or None, **wanted
    )
    items = found["items"]
    if not before:
        watch.offer(key, max([version, *(change["version"] for change in items[:1])]))
    if not items:
        nothing(wanted, before)
        return
    table = change_table.frame(items)
    table["version"] = table["version"].map(number)
    listing.show(
        table,
        f"changes-{before}-{items[0]['version']}-{sorted(wanted.items())}",
        opens="version",
        act=lambda row: choose(items[row]["version"]),
        columns=list(table.columns),
        config=change_table.CONFIG,
        name_label="Version",
        name_width=74,
        alt="Changes, the newest first",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if before:
            st.button("Newest", icon=":material/first_page:", on_click=turn, args=(0,))
        if found["next"]:
            st.button("Older", icon=":material/arrow_forward:", on_click=turn, args=(found["next"],))
        listing.whole_as_csv("All of these as CSV", functools.partial(_all, key, wanted), "changes.csv")
        st.caption("Click a version to see its links.")
    if st.session_state["change"]:
        detail(key, int(st.session_state["change"]), items)


def filters() -> None:
    """Time, kind, actor, broker; all in the URL."""
    nothing: datetime | None = None
    url_state.sync("kind", "", url_state.one_of("", *change_table.KINDS))
    url_state.sync("actor", "", str)
    url_state.sync("broker", "", str)
    for name in ("since", "until"):
        url_state.sync(name, nothing, _moment)

    def pushed(name: str, default: object) -> None:
        url_state.push(name, default, *RESET, write=lambda v: _text(v) if isinstance(v, datetime) else str(v))

    with st.container(horizontal=True, gap="small"):
        st.selectbox(
            "Kind",
            ["", *change_table.KINDS],
            key="kind",
            format_func=lambda kind: kind or "Any",
            width=150,
            on_change=pushed,
            args=("kind", ""),
        )
        st.text_input(
            "Actor", key="actor", width=150, placeholder="Any", on_change=pushed, args=("actor", "")
        )
        st.text_input(
            "Broker",
            key="broker",
            width=230,
            placeholder="Any; its whole id",
            on_change=pushed,
            args=("broker", ""),
        )
        for name, label in (("since", "From (UTC)"), ("until", "To (UTC)")):
            st.datetime_input(
                label,
                value=None,
                key=name,
                width=200,
                format="YYYY-MM-DD",
                on_change=pushed,
                args=(name, None),
            )


def _moment(raw: str) -> datetime | None:
    return None if raw in ("", "None") else moment_of(raw)


def wanted_filters() -> dict[str, str]:
    """The filters as the API takes them."""
    wanted: dict[str, str] = {}
    for name in FILTERS:
        value = st.session_state[name]
        if isinstance(value, datetime):
            wanted[name] = value.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")
        elif value and str(value).strip():
            wanted[name] = str(value).strip()
    return wanted


def nothing(wanted: dict[str, str], before: int) -> None:
    """Why the table is empty."""
    if before:
        states.empty("Nothing older", "These are all changes that are kept.")
        st.button("Newest", icon=":material/first_page:", on_click=turn, args=(0,))
    elif wanted:
        said = ", ".join(f"{name} {literal(value)}" for name, value in wanted.items())
        states.empty("No change passes", f"Nothing with {said}. Take a filter away.")
    else:
        states.empty("No changes yet", "Whatever joins, leaves or subscribes is written down here.")


def turn(before: int) -> None:
    """Another page."""
    st.session_state["before"] = before
    url_state.push("before", 0, "change")


def choose(version: int) -> None:
    """Show one change below the table."""
    st.session_state["change"] = version
    url_state.push("change", 0)


def detail(key: str, version: int, shown: list[Change]) -> None:
    """One change with its links and subscriptions."""
    change = next((c for c in shown if c["version"] == version), None)
    if change is None:
        try:
            found = client.changes(key, after=version - 1, limit=1)["items"]
        except client.ApiError as error:
            if error.status != 410:
                raise
            found = []
        change = next((c for c in found if c["version"] == version), None)
    if change is None:
        st.caption(f"Version {number(version)} is not kept.")
        return
    st.subheader(f"Version {number(version)}: {plain(change_table.said(change))}", anchor=False)
    st.caption(
        f"By {literal(change['actor'])} at {moment(change['at'])} UTC. {plain(change_table.what(change))}"
    )
    values = change_table.policy(change)
    if values:
        listing.plain(pd.DataFrame(values, columns=list(POLICY)), POLICY, alt="Values of the policy")
    table = plan.frame(change)
    if table.empty and change["kind"] == "import":
        st.caption("An import starts the history: what it brought is not listed link by link.")
    elif table.empty:
        st.caption("No link was opened or closed.")
    else:
        listing.plain(table, plan.CONFIG, alt="Links of the change", max_height=320)
    pairs = subscriptions(change["subscribed"], change["unsubscribed"])
    if not pairs.empty:
        listing.plain(pairs, SUBSCRIPTIONS, alt="Subscriptions of the change", max_height=320)


POLICY = {
    "name": listing.text("Policy", 160),
    "before": listing.text("Before", 160),
    "after": listing.text("After", 160),
}
SUBSCRIPTIONS = {
    "change": listing.text("Change", 110),
    "broker": listing.text("Broker"),
    "topic": listing.text("Topic"),
}


def subscriptions(added: list[Any], removed: list[Any]) -> pd.DataFrame:
    """Subscriptions that came and went."""
    rows = [("+ subscribe", b, t) for b, t in added] + [("− unsubscribe", b, t) for b, t in removed]
    return pd.DataFrame(rows, columns=["change", "broker", "topic"])


def _all(key: str, wanted: dict[str, str]) -> pd.DataFrame:
    """Every change that passes, a page at a time."""
    rows: list[Change] = []
    before: int | None = None
    at_once = client.rows(key, FILE_ROWS)
    while True:
        found = client.changes(key, 0, order="desc", limit=at_once, before=before, **wanted)
        rows += found["items"]
        before = found["next"]
        if not before or not found["items"]:
            return change_table.frame(rows)


@states.shown(retry=True)
def compare(key: str) -> None:
    """Any version against any other: the net difference."""
    # A link may name a version that was made a moment ago.
    overlay = client.overlay_now(key)
    live, oldest = overlay["version"], overlay.get("oldest_version", overlay["version"])
    if live == oldest:
        states.empty("One version only", "There is nothing to compare it with before the overlay changes.")
        return
    first, second = versions(overlay, oldest)
    if first == second:
        st.caption("Choose two different versions.")
        return
    try:
        found = client.difference(key, first, second)
    except client.TooSlow as error:
        # By itself it would be asked for again and again, and take the turn of others each time.
        states.action_failed(error, "Choose versions that are closer to each other.")
        return
    opened, closed = len(found["opened"]), len(found["closed"])
    st.info(
        f"**From version {number(first)} to {number(second)}**: {count(opened, 'link')} opened, {number(closed)} closed; "
        f"{count(len(found['joined']), 'broker')} joined, {number(len(found['left']))} left. "
        "What was opened and closed again in between does not count.",
        icon=":material/difference:",
    )
    then, now = client.overlay(key, first), client.overlay(key, second)
    figures.show(
        [
            (
                label,
                f"{number(before)} → {number(after)}" if before != after else number(after),
                "Then and now",
            )
            for label, before, after in (
                ("Brokers", then["brokers"], now["brokers"]),
                ("Topics", then["topics"], now["topics"]),
                ("Links", then["links"], now["links"]),
                ("Max degree", then["max_degree"], now["max_degree"]),
            )
        ],
        width=230,
    )
    links = pd.DataFrame(
        [("+ opened", a, b) for a, b in found["opened"]] + [("− closed", a, b) for a, b in found["closed"]],
        columns=["change", "broker_a", "broker_b"],
    )
    brokers = pd.DataFrame(
        [("+ joined", b) for b in found["joined"]] + [("− left", b) for b in found["left"]],
        columns=["change", "broker"],
    )
    pairs = subscriptions(found["subscribed"], found["unsubscribed"])
    for title, table, config in (
        ("Links", links, plan.CONFIG),
        ("Brokers", brokers, SUBSCRIPTIONS),
        ("Subscriptions", pairs, SUBSCRIPTIONS),
    ):
        if table.empty:
            continue
        st.subheader(f"{title} ({number(len(table))})", anchor=False)
        listing.plain(table, config, alt=title, max_height=320)
        listing.as_csv(f"{title} as CSV", table, f"{title.lower()}-v{first}-v{second}.csv")


def versions(overlay: Overlay, oldest: int) -> tuple[int, int]:
    """The two versions, from the URL or the fields."""
    live = overlay["version"]
    url_state.sync("from", max(oldest, live - 1), url_state.positive)
    url_state.sync("to", live, url_state.positive)
    missing: list[str] = []
    with st.container(horizontal=True):
        for name, label in (("from", "From version"), ("to", "To version")):
            wanted = int(st.session_state[name])
            st.session_state[name] = min(live, max(oldest, wanted))
            if st.session_state[name] != wanted:
                missing.append(number(wanted))
            st.number_input(
                label,
                min_value=oldest,
                max_value=live,
                step=1,
                key=name,
                width=180,
                on_change=url_state.push,
                args=("from", None),
                kwargs={"also": ("to",)},
            )
    if missing:
        st.caption(f"Versions {number(oldest)} to {number(live)} are there, not {' or '.join(missing)}.")
    return int(st.session_state["from"]), int(st.session_state["to"])


page()
