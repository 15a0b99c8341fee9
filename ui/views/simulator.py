"""Simulator: what does a night of churn cost? On a copy; two runs side by side."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from ui import (
    access,
    charts,
    client,
    confirm,
    dialogs,
    jobs,
    listing,
    palette,
    simulated,
    simulation_form,
    states,
    url_state,
    visit,
    watch,
)
from ui.answers import Applied, Overlay, Simulation
from ui.wording import count, literal, moment, number, plain

MOVING = ("queued", "running", "applying")
NAMES = ("A", "B")
DRIFT_EVERY = 50
"""How many rounds lie between two measures of the drift, unless a request says otherwise."""
_START, _STOP = "_start_simulation", "_stop_simulation"
CHARTS = (
    ("average_degree", "Average degree", ",.2f", False),
    ("max_degree", "Maximum degree", ",d", False),
    ("changed", "Links changed a round", ",.2f", True),
    ("plan_ms", "Time to plan (ms)", ",.2~f", True),
    ("drift", "Drift from a fresh {built}", "+.1%", False),
    ("brokers", "Brokers", ",d", False),
)


def ids(raw: str) -> list[str]:
    """Runs in the URL: at most two."""
    return [part for part in raw.split(",") if part][:2]


def page() -> None:
    """The form, then the runs on show."""
    st.title("Simulator", anchor=False)
    states.told()
    key = access.required_key()
    known = jobs.simulations(key)
    by_id = {run["id"]: run for run in known}
    nothing: list[str] = []
    url_state.sync("runs", nothing, ids)
    st.session_state["runs"] = [run for run in st.session_state["runs"] if run in by_id]
    if access.may_change():
        form(key)
    else:
        states.read_only("Simulating")
    if not known:
        states.empty("No run yet", "Simulate above. Nothing live changes.")
        watch.follow_theme(palette.theme())
        return
    st.multiselect(
        "Runs on show",
        list(by_id),
        key="runs",
        format_func=lambda run: label(by_id[run]),
        max_selections=2,
        on_change=url_state.push,
        args=("runs", nothing),
        kwargs={"write": ",".join},
        placeholder="Choose one or two",
    )
    chosen: list[str] = st.session_state["runs"]
    if not chosen:
        states.empty(
            "No run chosen", "Choose one or two of the runs, or simulate anew. Nothing live changes."
        )
        watch.follow_theme(palette.theme())
        return
    moving = any(by_id[run]["state"] in MOVING for run in chosen)
    st.fragment(shown, run_every=jobs.SECONDS if moving else None)(tuple(chosen), moving)
    if access.may_change():
        applications(key, [by_id[run] for run in chosen])
    watch.follow_theme(palette.theme())


def form(key: str) -> None:
    """What to simulate; the newest run takes the place of the older of the two on show."""
    with st.expander("New run", expanded=not st.session_state["runs"], icon=":material/science:"):
        request = simulation_form.show(client.overlay(key)["policy"])
        st.button(
            "Simulate", type="primary", icon=":material/play_arrow:", on_click=visit.click, args=(_START,)
        )
    if visit.clicked(_START):
        start(key, request)
    states.refusal(_START)


def start(key: str, request: dict[str, Any]) -> None:
    """Start it, and show it: the page has the list of runs without it."""
    run = states.attempt(_START, functools.partial(jobs.start_simulation, key, request))
    if run is None:
        return
    st.session_state["runs"] = [*st.session_state.get("runs", []), run["id"]][-2:]
    url_state.push("runs", [], write=",".join)
    st.rerun()


def label(run: Simulation) -> str:
    """A run in a line, no other run's; nothing in it may change, or the widget would take it for another choice."""
    request = run["request"]
    source = "live overlay" if request["source"] == "live" else "workload"
    return (
        f"{request['strategy']}, {count(int(request['rounds']), 'round')}, {source}, k {request.get('k', 1)}, "
        f"seed {request.get('seed', 0)} · {moment(run['created_at'])} · {run['id'][:4]}"
    )


@states.shown(retry=True)
def shown(chosen: tuple[str, ...], was_moving: bool) -> None:
    """Both runs: progress, charts against each other, the table, and what may be done with them."""
    key = access.required_key()
    runs = [jobs.simulation(key, run) for run in chosen]
    jobs.keep_rounds(chosen)
    if any(run["state"] in MOVING for run in runs) != was_moving and not dialogs.is_open():
        st.rerun()
    with st.container(horizontal=True, gap="medium"):
        for name, run in zip(NAMES, runs, strict=False):
            with st.container(key=f"run-{name}-part", border=True):
                head(key, name, run)
    states.refusal(_STOP)
    if any(run["rounds"] for run in runs):
        pictures(runs)
        named = list(zip(NAMES, runs, strict=False))
        listing.plain(simulated.summary(named), COLUMNS, alt="Both runs in figures")
        files(runs)


def head(key: str, name: str, run: Simulation) -> None:
    """One run: what it is, how far it is, stop, apply."""
    request, state = run["request"], run["state"]
    st.markdown(f"**Run {name}** · {request['strategy']} · {_source(request)}")
    st.caption(
        f"{count(int(request['rounds']), 'round')}, {float(request.get('join_share', 0.5)):.0%} joins, "
        f"k {request.get('k', 1)}, rho {request.get('rho', 3):g}, lambda {request.get('lambda', 3)}, "
        f"seed {request.get('seed', 0)}, by {literal(run['actor'])}"
    )
    applied = run["applied"]
    if state in ("queued", "running"):
        jobs.bar(run["progress"], "waiting")
    elif state == "applying":
        applied_so_far(applied)
        stage = run["progress"]["stage"] if run["progress"] else ""
        if stage.startswith("waiting"):
            # A bar that stands still says nothing of why.
            st.caption(f":material/hourglass_top: {plain(stage[0].upper() + stage[1:])}")
    elif state == "failed":
        st.error(f"**Failed.** {plain(run['error'] or 'The log has the reason.')}", icon=":material/error:")
    elif state == "cancelled" and not applied:
        st.info(f"Stopped after {count(run['next'], 'round')}.", icon=":material/stop:")
    elif state == "applied":
        st.success("Applied to the live overlay.", icon=":material/check_circle:")
    elif state == "done":
        st.caption(":material/check: Done.")
    if applied and state in ("failed", "cancelled"):
        st.info(
            f"Stopped when {number(applied['done'])} of {count(applied['total'], 'round')} had been applied to the "
            "live overlay. They stay.",
            icon=":material/stop:",
        )
    if applied and applied["skipped"]:
        st.caption(skipped(applied["skipped"]))
    if state in MOVING and access.may_change():
        st.button(
            "Stop",
            icon=":material/stop:",
            key=f"_stop-{run['id']}",
            on_click=stop,
            args=(key, run["id"]),
            help="What is applied already stays" if state == "applying" else None,
        )


def applied_so_far(applied: Applied | None) -> None:
    """How many rounds have been done to the live overlay, as a bar."""
    done, total = (applied["done"], applied["total"]) if applied else (0, 0)
    st.progress(
        min(1.0, done / max(1, total)),
        text=f"Applied {number(done)} of {count(total, 'round')} to the live overlay",
    )


def skipped(rounds: int) -> str:
    """The live overlay is not the copy: others change it too, and a round may not fit it any more."""
    whose = "it no longer fits" if rounds == 1 else "they no longer fit"
    return f"{count(rounds, 'round')} skipped: {whose} the live overlay, as when a broker has gone meanwhile."


def applications(key: str, runs: Sequence[Simulation]) -> None:
    """The way from the copy to the live overlay; outside of what runs by the clock, which would close its dialog."""
    with st.container(horizontal=True):
        for name, run in zip(NAMES, runs, strict=False):
            if (
                run["request"]["source"] == "live"
                and run["state"] == "done"
                and st.button(
                    f"Apply run {name} to the live overlay …",
                    icon=":material/published_with_changes:",
                    key=f"_apply-{run['id']}",
                )
            ):
                confirm.ask(applying(key, name, jobs.simulation(key, run["id"]), client.overlay_now(key)))


def applying(key: str, name: str, run: Simulation, live: Overlay) -> confirm.Step:
    """The same churn, for real: what happens is the run's, how it is repaired is the live overlay's."""
    rounds, happened = run["rounds"], simulated.Happened.in_run(run)
    simulated_on, now = run["base_version"], live["version"]
    moved = (
        f"It was simulated on version {number(simulated_on)}, and the overlay is at version {number(now)} now. "
        if simulated_on != now
        else f"It was simulated on version {number(now)}, which is the live one. "
    )
    opened, closed = sum(r["opened"] for r in rounds), sum(r["closed"] for r in rounds)
    return confirm.Step(
        title=f"Apply run {name}: plan",
        meaning=f"The {count(len(rounds), 'round')} of this run {'is' if len(rounds) == 1 else 'are'} done to the "
        "**live** overlay, one change each: "
        f"{happened.said()}. {repairs(run['request'], live['policy'], happened)}On the copy the run opened "
        f"{count(opened, 'link')} and closed {number(closed)}.\n\n{moved}"
        "A round that no longer fits is skipped; brokers that joined meanwhile stay. It can be stopped, and what is "
        "applied by then stays.",
        numbers=(
            ("Join", number(happened.joins), "Brokers that join"),
            ("Leave", number(happened.leaves), "Brokers that leave, one at a time"),
            ("Fail", number(happened.failed), "Brokers that leave many at once, in rounds of failures"),
            ("Simulated at", number(simulated_on), "The version of the overlay that the run began with"),
            ("Version now", number(now), "The version of the live overlay"),
        ),
        typed="apply",
        button="Apply to the live overlay",
        done="The churn is being applied to the live overlay.",
        act=functools.partial(jobs.apply_simulation, key, run["id"]),
    )


def repairs(request: dict[str, Any], policy: dict[str, Any], happened: simulated.Happened) -> str:
    """Who repairs, and how far that is from what was simulated; rebuilds are not part of it."""

    def manner(of: dict[str, Any]) -> tuple[str, int, float, int]:
        # The strategy rebuild repairs as weave does, between its rebuilds.
        strategy = "weave" if of.get("strategy") == "rebuild" else str(of.get("strategy", "weave"))
        return strategy, int(of.get("k", 1)), float(of.get("rho") or 3.0), int(of.get("lambda", 3))

    def in_words(of: tuple[str, int, float, int]) -> str:
        return f"{of[0]}, k = {of[1]}, rho {of[2]:g}, lambda {of[3]}"

    ours, theirs = manner(policy), manner(request)
    said = f"The live policy repairs ({in_words(ours)})"
    if ours != theirs:
        said += f", not what was simulated ({in_words(theirs)}): other links are opened and closed"
    if happened.rebuilds:
        done = "Its rebuild is" if happened.rebuilds == 1 else f"Its {number(happened.rebuilds)} rebuilds are"
        said += f". {done} not done"
    return f"{said}. "


def stop(key: str, identity: str) -> None:
    """Stop it; a run that ended meanwhile stays as it ended."""
    states.attempt(_STOP, functools.partial(jobs.stop_simulation, key, identity))


def _source(request: dict[str, Any]) -> str:
    if request["source"] == "live":
        return "live overlay"
    made = request.get("workload") or {}
    return f"{made.get('distribution', '')} workload of {count(int(made.get('brokers', 0)), 'broker')}"


def pictures(runs: Sequence[Simulation]) -> None:
    """Every figure with both runs in it, over the same rounds."""
    longest = max(len(run["rounds"]) for run in runs)
    window = max(1, longest // 40)
    tables = [
        simulated.points(name, run, window) for name, run in zip(NAMES, runs, strict=False) if run["rounds"]
    ]
    table = pd.concat(tables, ignore_index=True)
    ks = {int(run["request"].get("k", 1)) for run in runs}
    built = {frozenset({1}): "low-oda", frozenset({2}): "gm2"}.get(frozenset(ks), "build")
    with st.container(horizontal=True, gap="medium"):
        for column, title, shape, zero in CHARTS:
            rows = table.dropna(subset=[column])
            with st.container(key=f"chart-{column.replace('_', '-')}-part"):
                title = title.format(built=built)
                averaged = column in simulated.AVERAGED and window > 1
                mean = f" · mean of {count(window, 'round')}" if averaged else ""
                st.markdown(f"**{title}**{mean}")
                if rows.empty:
                    st.caption(unmeasured(runs))
                    continue
                charts.lines(
                    rows, "round", column,
                    key=f"simulated-{column}", x_title="Round", y_title=title, y_format=shape, zero=zero, headed=True, height=260,
                    x_domain=(0, longest),
                    # The first rounds pay for what is compiled; the others would lie on the axis.
                    logarithmic=column == "plan_ms",
                )  # fmt: skip


def unmeasured(runs: Sequence[Simulation]) -> str:
    """Why there is no drift to show."""
    yet = " yet" if any(run["state"] in MOVING for run in runs) else ""
    every = [int(run["request"].get("drift_every", DRIFT_EVERY)) for run in runs]
    often = min((rounds for rounds in every if rounds), default=0)
    if not often:
        return "Not measured: it was not asked for."
    return f"Not measured{yet}: it is every {count(often, 'round') if often > 1 else 'round'}."


COLUMNS = {
    "figure": listing.text("Figure", 260),
    "A": listing.text("Run A", 160, alignment="right"),
    "B": listing.text("Run B", 160, alignment="right"),
}


def files(runs: Sequence[Simulation]) -> None:
    """All rounds as files."""
    with st.container(horizontal=True):
        for name, run in zip(NAMES, runs, strict=False):
            if run["rounds"] and run["state"] not in MOVING:
                # Made when somebody wants it: this part is drawn again while the other run goes on.
                whole = functools.partial(pd.DataFrame, run["rounds"])
                listing.whole_as_csv(f"Run {name} as CSV", whole, f"simulation-{run['id']}.csv")


page()
