"""Rebuilds: is a new set of links worth it? Run some, compare their plans; nothing live changes before one is activated."""

from __future__ import annotations

import functools
from typing import Any

import pandas as pd
import streamlit as st

from ui import access, algorithm_form, client, jobs, listing, states, url_state, visit, watch
from ui.answers import Algorithm, Rebuild, RebuildFigures
from ui.wording import against_fresh, count, degree, diameter, literal, moment, number

DEFAULT_ALGORITHM = "weave"
DEFAULT_ENGINE = "local"
RUNNING = ("queued", "running")
ENDED = ("failed", "cancelled", "dropped")
_AGAIN = "_rebuild_again"
_START, _CANCEL = "_start_rebuild", "_cancel_rebuild"


def page() -> None:
    """The form, what runs, what can be compared."""
    st.title("Rebuilds", anchor=False)
    states.told()
    key = access.required_key()
    # All that the page itself needs, before a part with a clock is drawn: a page that failed below one was seen not to
    # be tried again.
    policy, found, registry = client.overlay(key)["policy"], jobs.rebuilds(key), client.algorithms(key)
    st.fragment(live_now, run_every=watch.SECONDS)()
    if access.may_change():
        form(key, policy, registry)
    else:
        states.read_only("Running a rebuild")
    running = any(rebuild["state"] in (*RUNNING, "activating") for rebuild in found)
    st.fragment(compared, run_every=jobs.SECONDS if running else 5)(running)


@states.shown(retry=False)
def live_now() -> None:
    """What a rebuild has to be better than; by the clock, for it moves while one reads the plans."""
    overlay = client.overlay(access.required_key())
    drift = overlay.get("drift")
    said = (
        f"The live overlay has {count(overlay['links'], 'link')}, average degree "
        f"{degree(overlay['average_degree'])}, maximum degree {number(overlay['max_degree'])}."
    )
    if drift and drift["drift"] is not None:
        above = f"Its average degree is {against_fresh(drift['drift'])}."
        if drift["advised"]:
            st.warning(f"**A rebuild is advised.** {above} {said}", icon=":material/trending_up:")
            return
        said = f"{said} {above}"
    st.info(said, icon=":material/info:")


def form(key: str, policy: dict[str, Any], algorithms: list[Algorithm]) -> None:
    """One algorithm, its guarantee and paper beside it, its parameters, the engine."""
    registry = {algorithm["name"]: algorithm for algorithm in algorithms}
    k = int(policy.get("k", 1))
    able = [name for name in registry if algorithm_form.most_connected(registry[name]) >= k]
    wanted = (policy.get("algorithm"), DEFAULT_ALGORITHM, *able)
    first = str(next((name for name in wanted if name in able), next(iter(registry))))
    if _AGAIN in st.session_state:
        # For this visit: whoever comes again later begins with the plain form.
        visit.keep(_AGAIN, st.session_state.pop(_AGAIN))
    again: dict[str, Any] = visit.kept(_AGAIN) or {}
    url_state.sync("algorithm", first, url_state.one_of(*registry))
    with st.container(border=True):
        with st.container(horizontal=True, gap="medium"):
            with st.container(key="choice-part"):
                name = st.selectbox(
                    "Algorithm",
                    list(registry),
                    key="algorithm",
                    format_func=lambda name: name if name in able else f"{name} · not {k}-connected",
                    on_change=url_state.push,
                    args=("algorithm", first, "engine"),
                )
                algorithm = registry[name]
                engine_key = f"_engine-{name}"
                url_state.sync("engine", DEFAULT_ENGINE, url_state.one_of(*algorithm["engines"]), engine_key)
                engine = st.segmented_control(
                    "Engine",
                    list(algorithm["engines"]),
                    required=True,
                    key=engine_key,
                    on_change=url_state.push,
                    args=("engine", DEFAULT_ENGINE),
                    kwargs={"key": engine_key},
                    help="Local computes in the manager's machine, Spark in parts for large overlays. "
                    "Not every algorithm runs on Spark.",
                )
            with st.container(key="guarantee-part"):
                st.markdown(f"**{algorithm['summary']}**")
                st.markdown(f"Guarantee: {algorithm['guarantee']}")
                paper = algorithm["paper"]
                st.caption("TopicWeave's own; no paper" if paper == "ours" else f"Paper: {paper}")
        given = again["params"] if again.get("algorithm") == name else {}
        if given:
            st.caption(f":material/replay: Filled in like {again['like']}.")
        params = algorithm_form.show(algorithm, str(engine), given, k)
        if name not in able:
            st.caption(
                f":material/warning: The policy asks for k = {k}, which {literal(name)} cannot give. Choose an algorithm "
                "that is not marked."
            )
        st.button(
            "Run",
            type="primary",
            icon=":material/play_arrow:",
            disabled=name not in able,
            on_click=visit.click,
            args=(_START,),
        )
        if visit.clicked(_START) and name in able:
            run(key, name, params, str(engine))
    states.refusal(_START)


def run(key: str, algorithm: str, params: dict[str, Any], engine: str) -> None:
    """Start it; the list below shows it."""
    states.attempt(_START, functools.partial(jobs.start_rebuild, key, algorithm, params, engine))


@states.shown(retry=False)
def compared(was_running: bool) -> None:
    """What runs, with its progress; then all plans in one table."""
    key = access.required_key()
    found = jobs.rebuilds(key)
    running = any(rebuild["state"] in (*RUNNING, "activating") for rebuild in found)
    if running != was_running:
        st.rerun()
    for rebuild in found:
        if rebuild["state"] in RUNNING:
            progress(key, rebuild)
    states.refusal(_CANCEL)
    st.subheader("Plans", anchor=False)
    url_state.sync("ended", False, url_state.whether)
    ended = sum(rebuild["state"] in ENDED for rebuild in found)
    if ended:
        st.toggle(
            f"Also failed, cancelled and dropped ones ({number(ended)})",
            key="ended",
            on_change=url_state.push,
            args=("ended", False),
        )
    shown = [
        rebuild
        for rebuild in found
        if rebuild["state"] not in RUNNING and (rebuild["state"] not in ENDED or st.session_state["ended"])
    ]
    if not shown:
        states.empty(
            "No plan yet", "Run a rebuild above. It computes beside the live overlay and changes nothing."
        )
        return
    table(shown)


def progress(key: str, rebuild: Rebuild) -> None:
    """A running rebuild and its way out."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        with st.container():
            st.markdown(f"{literal(label(rebuild))} by {literal(rebuild['actor'])}")
            jobs.bar(rebuild["progress"], "waiting")
        if access.may_change():
            st.button(
                "Cancel",
                key=f"_cancel-{rebuild['id']}",
                on_click=cancel,
                args=(key, rebuild["id"]),
                width=100,
            )


def cancel(key: str, identity: str) -> None:
    """Stop computing; a rebuild that ended meanwhile stays as it ended."""
    states.attempt(_CANCEL, functools.partial(jobs.steer_rebuild, key, identity, "cancel"))


def label(rebuild: Rebuild) -> str:
    """An algorithm with what was given: "weave keep=0.5, spark"."""
    params = " ".join(f"{name}={value}" for name, value in sorted(jobs.given(rebuild).items()))
    name = f"{rebuild['algorithm']} {params}".strip()
    return f"{name}, spark" if rebuild["engine"] == "spark" else name


def frame(rebuilds: list[Rebuild]) -> pd.DataFrame:
    """One row a rebuild: what it changes, and the figures it would end with."""
    rows = []
    for rebuild in rebuilds:
        plan = rebuild["plan"]
        row: dict[str, Any] = {
            "rebuild": label(rebuild),
            "state": rebuild["state"],
            "created": moment(rebuild["created_at"], seconds=False),
        }
        if plan:
            row |= {name: plan[name] for name in ("kept", "opened", "closed", "links")}
            row |= {
                "average_degree": plan["after"]["average_degree"],
                "peak_degree": plan["peak"]["max_degree"],
                "max_degree": plan["after"]["max_degree"],
                "mean_diameter": mean_diameter(plan["after"]),
                "max_diameter": max_diameter(plan["after"]),
            }
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def mean_diameter(figures: RebuildFigures) -> str | None:
    """In two digits; a lower bound where some of the diameters are."""
    mean = figures["mean_diameter"]
    return None if mean is None else ("≥ " if figures.get("diameters_sampled") else "") + f"{mean:.2f}"


def max_diameter(figures: RebuildFigures) -> str | None:
    """The same of the largest."""
    largest = figures["max_diameter"]
    return None if largest is None else diameter(largest, sampled=bool(figures.get("diameters_sampled")))


COLUMNS = [
    "rebuild",
    "state",
    "created",
    "kept",
    "opened",
    "closed",
    "links",
    "average_degree",
    "peak_degree",
    "max_degree",
    "mean_diameter",
    "max_diameter",
]


def table(rebuilds: list[Rebuild]) -> None:
    """All plans beside each other; a name opens its plan."""
    rows = frame(rebuilds)
    two_digits = "%.2f"
    number_column = st.column_config.NumberColumn
    listing.show(
        rows,
        f"rebuilds-{'-'.join(rebuild['id'] + rebuild['state'] for rebuild in rebuilds)}",
        opens="rebuild",
        ids=[rebuild["id"] for rebuild in rebuilds],
        page="views/rebuild.py",
        param="rebuild",
        columns=COLUMNS,
        config={
            "state": listing.text("State", 84),
            "created": listing.text("Created (UTC)", 124),
            "kept": listing.whole("Kept", 58, "Links that stay"),
            "opened": listing.whole("Opened", 70),
            "closed": listing.whole("Closed", 66),
            "links": listing.whole("Links", 60, "Links after it"),
            "average_degree": number_column("Avg degree", format=two_digits, width=88, help="After it"),
            "peak_degree": listing.whole("Max, peak", 84, "Maximum degree while old and new links are open"),
            "max_degree": listing.whole("Max, after", 84, "Maximum degree after it"),
            "mean_diameter": listing.text(
                "Mean diam.", 92, "Mean diameter of the topics, after it; ≥: some are lower bounds", "right"
            ),
            "max_diameter": listing.text(
                "Max diam.", 84, "Largest diameter of a topic, after it; ≥: it may be larger", "right"
            ),
        },
        name_label="Rebuild",
        name_width=190,
        alt="Plans of rebuilds beside each other",
    )
    st.caption("Click a name to read its plan and to activate it.")


page()
