"""Simulator: what does a night of churn cost? On a copy; two runs side by side."""

from __future__ import annotations

import functools
import statistics
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
    simulation_form,
    states,
    url_state,
    watch,
)
from ui.answers import Applied, Round, Simulation
from ui.wording import count, degree, literal, moment, number, share

MOVING = ("queued", "running", "applying")
NAMES = ("A", "B")
POINTS = 300
_START, _STOP = "_start_simulation", "_stop_simulation"
AVERAGED = ("changed", "plan_ms")
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
            "Simulate", type="primary", icon=":material/play_arrow:", on_click=start, args=(key, request)
        )
    states.refusal(_START)


def start(key: str, request: dict[str, Any]) -> None:
    """Start it, and show it."""
    run = states.attempt(_START, functools.partial(jobs.start_simulation, key, request))
    if run is None:
        return
    st.session_state["runs"] = [*st.session_state.get("runs", []), run["id"]][-2:]
    url_state.push("runs", [], write=",".join)


def label(run: Simulation) -> str:
    """A run in a line, no other run's; nothing in it may change, or the widget would take it for another choice."""
    request = run["request"]
    source = "live overlay" if request["source"] == "live" else "workload"
    return (
        f"{request['strategy']}, {number(int(request['rounds']))} rounds, {source}, k {request.get('k', 1)}, "
        f"seed {request.get('seed', 0)} · {moment(run['created_at'])} · {run['id'][:4]}"
    )


@states.shown(retry=True)
def shown(chosen: tuple[str, ...], was_moving: bool) -> None:
    """Both runs: progress, charts against each other, the table, and what may be done with them."""
    key = access.required_key()
    runs = [jobs.simulation(key, run) for run in chosen]
    if any(run["state"] in MOVING for run in runs) != was_moving and not dialogs.is_open():
        st.rerun()
    with st.container(horizontal=True, gap="medium"):
        for name, run in zip(NAMES, runs, strict=False):
            with st.container(key=f"run-{name}-part", border=True):
                head(key, name, run)
    states.refusal(_STOP)
    if any(run["rounds"] for run in runs):
        pictures(runs)
        listing.plain(summary(runs), COLUMNS, alt="Both runs in figures")
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
    elif state == "failed":
        st.error(f"**Failed.** {run['error'] or 'The log has the reason.'}", icon=":material/error:")
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
                confirm.ask(applying(key, name, jobs.simulation(key, run["id"])))


def applying(key: str, name: str, run: Simulation) -> confirm.Step:
    """The same churn, for real."""
    rounds = run["rounds"]
    joins = sum(r["change"].startswith("join") for r in rounds)
    leaves = sum(r["change"].startswith("leave") for r in rounds)
    return confirm.Step(
        title=f"Apply run {name}: plan",
        meaning=f"The {count(len(rounds), 'round')} of this run are done to the **live** overlay, one change each: "
        f"{count(joins, 'broker')} join, {number(leaves)} leave, and "
        f"{number(len(rounds) - joins - leaves)} other changes. On the copy this opened "
        f"{count(sum(r['opened'] for r in rounds), 'link')} and closed {number(sum(r['closed'] for r in rounds))}. "
        "Brokers that joined since the run began stay; a round that no longer fits is skipped. It can be stopped.",
        typed="apply",
        button="Apply to the live overlay",
        done="The churn is being applied to the live overlay.",
        act=functools.partial(jobs.apply_simulation, key, run["id"]),
    )


def stop(key: str, identity: str) -> None:
    """Stop it; a run that ended meanwhile stays as it ended."""
    states.attempt(_STOP, functools.partial(jobs.stop_simulation, key, identity))


def _source(request: dict[str, Any]) -> str:
    if request["source"] == "live":
        return "live overlay"
    made = request.get("workload") or {}
    return f"{made.get('distribution', '')} workload of {number(int(made.get('brokers', 0)))} brokers"


def rounds_frame(name: str, strategy: str, rounds: Sequence[Round], window: int) -> pd.DataFrame:
    """A run's rounds as rows, thinned to what a chart can show; what jumps from round to round is averaged."""
    table = pd.DataFrame(list(rounds))
    table["changed"] = table["opened"] + table["closed"]
    for column in AVERAGED:
        table[column] = table[column].rolling(window, min_periods=1).mean()
    table["run"] = f"{name}: {strategy}"
    every = -(-len(table) // POINTS)
    return table[(table["round"] % every == 0) | table["drift"].notna() | (table["round"] == len(table))]


def pictures(runs: Sequence[Simulation]) -> None:
    """Every figure with both runs in it, over the same rounds."""
    longest = max(len(run["rounds"]) for run in runs)
    window = max(1, longest // 40)
    tables = [
        rounds_frame(name, run["request"]["strategy"], run["rounds"], window)
        for name, run in zip(NAMES, runs, strict=False)
        if run["rounds"]
    ]
    table = pd.concat(tables, ignore_index=True)
    ks = {int(run["request"].get("k", 1)) for run in runs}
    built = {frozenset({1}): "low-oda", frozenset({2}): "gm2"}.get(frozenset(ks), "build")
    with st.container(horizontal=True, gap="medium"):
        for column, title, shape, zero in CHARTS:
            rows = table.dropna(subset=[column])
            with st.container(key=f"chart-{column.replace('_', '-')}-part"):
                title = title.format(built=built)
                mean = f" · mean of {number(window)} rounds" if column in AVERAGED and window > 1 else ""
                st.markdown(f"**{title}**{mean}")
                if rows.empty:
                    yet = " yet" if any(run["state"] in MOVING for run in runs) else ""
                    st.caption(f"Not measured{yet}: it is every 50 rounds.")
                    continue
                charts.lines(
                    rows, "round", column,
                    key=f"simulated-{column}", x_title="Round", y_title=title, y_format=shape, zero=zero, headed=True, height=260,
                    x_domain=(0, longest),
                    # The first rounds pay for what is compiled; the others would lie on the axis.
                    logarithmic=column == "plan_ms",
                )  # fmt: skip


COLUMNS = {
    "figure": listing.text("Figure", 260),
    "A": listing.text("Run A", 160, alignment="right"),
    "B": listing.text("Run B", 160, alignment="right"),
}


def summary(runs: Sequence[Simulation]) -> pd.DataFrame:
    """Both runs in figures, so far."""
    columns: dict[str, list[str]] = {"figure": list(FIGURES)}
    for name, run in zip(NAMES, runs, strict=False):
        rounds = run["rounds"]
        columns[name] = [figure(rounds) if rounds else "–" for figure in FIGURES.values()]
    return pd.DataFrame(columns)


def _last_drift(rounds: Sequence[Round]) -> str:
    return share(next((r["drift"] for r in reversed(rounds) if r["drift"] is not None), None))


FIGURES = {
    "Rounds": lambda rounds: number(len(rounds)),
    "Brokers at the end": lambda rounds: number(rounds[-1]["brokers"]),
    "Average degree at the end": lambda rounds: degree(rounds[-1]["average_degree"]),
    "Maximum degree at any time": lambda rounds: number(max(r["max_degree"] for r in rounds)),
    "Links opened": lambda rounds: number(sum(r["opened"] for r in rounds)),
    "Links closed": lambda rounds: number(sum(r["closed"] for r in rounds)),
    "Links changed a round": lambda rounds: (
        f"{statistics.mean(r['opened'] + r['closed'] for r in rounds):.2f}"
    ),
    "Time to plan, median (ms)": lambda rounds: f"{statistics.median(r['plan_ms'] for r in rounds):,.2f}",
    "Time to plan, longest (ms)": lambda rounds: f"{max(r['plan_ms'] for r in rounds):,.2f}",
    "Drift at the end": _last_drift,
}


def files(runs: Sequence[Simulation]) -> None:
    """All rounds as files."""
    with st.container(horizontal=True):
        for name, run in zip(NAMES, runs, strict=False):
            if run["rounds"] and run["state"] not in MOVING:
                listing.as_csv(
                    f"Run {name} as CSV", pd.DataFrame(run["rounds"]), f"simulation-{run['id']}.csv"
                )


page()
