"""One rebuild: its plan, then its activation as it goes, and the way back."""

from __future__ import annotations

import functools

import pandas as pd
import streamlit as st

from ui import access, charts, client, confirm, dialogs, figures, jobs, listing, palette, states, watch
from ui.answers import Activation, Rebuild, RebuildPlan
from ui.wording import count, degree, literal, moment, number, plain

MOVING = ("queued", "running", "activating")
_STEER = "_steer_rebuild"
_AGAIN = "_rebuild_again"
PHASES = {
    "opening": "Opening the new links",
    "settling": "All new links are open; waiting until brokers have them",
    "closing": "Closing the links that are no longer needed",
    "done": "Done",
}


def page() -> None:
    """The rebuild that the URL names."""
    identity = st.query_params.get("rebuild", "")
    st.page_link("views/rebuilds.py", label="All rebuilds", icon=":material/arrow_back:")
    key = access.required_key()
    try:
        rebuild = jobs.rebuild(key, identity) if identity else None
    except client.ApiError as error:
        if error.status != 404:
            raise
        rebuild = None
    if rebuild is None:
        st.title("Rebuild", anchor=False)
        states.empty("No such rebuild", "Choose one from the list; the link may be old.")
        return
    st.title(plain(title(rebuild)), anchor=False)
    st.caption(
        f"{literal(rebuild['id'])} · engine {rebuild['engine']} · by {literal(rebuild['actor'])} at "
        f"{moment(rebuild['created_at'])} UTC · computed on version {number(rebuild['base_version'])}"
    )
    states.told()
    moving = rebuild["state"] in MOVING
    st.fragment(state, run_every=jobs.SECONDS if moving else 5)(rebuild["id"], standing(rebuild))
    states.refusal(_STEER)
    # Outside of what runs by the clock: it would close their dialogs.
    if access.may_change():
        actions(key, rebuild)
    else:
        states.read_only("Activating or dropping a rebuild")
    if rebuild["plan"]:
        plan(rebuild, rebuild["plan"])
    watch.follow_theme(palette.theme())


def title(rebuild: Rebuild) -> str:
    """The algorithm and what it was given."""
    params = ", ".join(f"{name} {value}" for name, value in sorted(jobs.given(rebuild).items()))
    return f"{rebuild['algorithm']} ({params})" if params else rebuild["algorithm"]


Standing = tuple[str, bool, bool]
"""What the actions go by: the state, whether it is paused, whether it goes back."""


def standing(rebuild: Rebuild) -> Standing:
    """Whatever of it changes, in this window or another, the page offers something else."""
    activation = rebuild["activation"]
    if activation is None:
        return rebuild["state"], False, False
    return rebuild["state"], activation["paused"], activation["rollback"]


@states.shown(retry=False)
def state(identity: str, was: Standing) -> None:
    """Where it stands; drawn again while it moves."""
    key = access.required_key()
    rebuild = jobs.rebuild(key, identity)
    if standing(rebuild) != was and not dialogs.is_open():
        st.rerun()
    answer(rebuild)
    activation = rebuild["activation"]
    if rebuild["state"] in ("queued", "running"):
        jobs.bar(rebuild["progress"], "waiting")
    elif rebuild["state"] == "activating" and activation:
        if jobs.held_up(rebuild):
            st.error(
                f"**Held up**, and tried again by itself: {plain(rebuild['error'] or '')}",
                icon=":material/error:",
            )
        activating(activation)


def answer(rebuild: Rebuild) -> None:
    """One sentence on its state."""
    made, activation = rebuild["plan"], rebuild["activation"]
    changes = (
        f"opens {count(made['opened'], 'link')}, keeps {number(made['kept'])}, then closes {number(made['closed'])}"
        if made
        else ""
    )
    match rebuild["state"]:
        case "queued" | "running":
            st.info(
                "**Being computed** beside the live overlay, which does not change.",
                icon=":material/hourglass_top:",
            )
        case "planned" if activation and activation["rollback"]:
            st.success(
                "**Rolled back**: the links of before are live again. The plan is kept.",
                icon=":material/undo:",
            )
        case "planned":
            st.info(
                f"**Planned.** Activating it {changes}. Every topic stays connected throughout.",
                icon=":material/list_alt:",
            )
        case "activating" if activation and activation["paused"]:
            where = " on the way back" if activation["rollback"] else ""
            st.warning(
                f"**Paused{where}.** The overlay is whole and stays as it is.", icon=":material/pause:"
            )
        case "activating" if activation and activation["rollback"]:
            st.warning("**Being rolled back**: the old links come back first.", icon=":material/undo:")
        case "activating":
            st.warning("**Being activated.** Every topic stays connected throughout.", icon=":material/sync:")
        case "active":
            st.success("**Active**: its links are the live overlay's.", icon=":material/check_circle:")
        case "failed":
            st.error(
                f"**Failed.** {plain(rebuild['error'] or 'The log has the reason.')}", icon=":material/error:"
            )
        case "cancelled":
            st.info("**Cancelled.** Nothing live changed by it.", icon=":material/cancel:")
        case "dropped":
            st.info("**Dropped.** Its links are forgotten.", icon=":material/delete:")


def activating(activation: Activation) -> None:
    """How many links are open and closed of how many, as two bars."""
    st.markdown(f"{PHASES.get(activation['phase'], activation['phase'])}.")
    for word, done, whole in (
        ("Opened", activation["opened"], activation["to_open"]),
        ("Closed", activation["closed"], activation["to_close"]),
    ):
        share = min(1.0, done / whole) if whole else 1.0
        st.progress(share, text=f"{word} {number(done)} of {count(whole, 'link')}")


def actions(key: str, rebuild: Rebuild) -> None:
    """What its state allows."""
    identity, now = rebuild["id"], rebuild["state"]
    activation = rebuild["activation"]
    with st.container(horizontal=True):
        if now in ("queued", "running"):
            _button("Cancel", "cancel", key, identity, "cancel")
        if now == "planned":
            if st.button("Activate …", icon=":material/play_arrow:", type="primary"):
                confirm.ask(activate(key, rebuild))
            if st.button("Drop …", icon=":material/delete:"):
                confirm.ask(drop(key, rebuild))
        if now == "activating" and activation:
            if activation["paused"]:
                _button("Resume", "play_arrow", key, identity, "resume")
            else:
                _button("Pause", "pause", key, identity, "pause")
            if not activation["rollback"] and st.button("Roll back …", icon=":material/undo:"):
                confirm.ask(roll_back(key, rebuild, "cancel"))
        if now == "active" and st.button("Roll back …", icon=":material/undo:"):
            confirm.ask(roll_back(key, rebuild, "rollback"))


def _button(label: str, icon: str, key: str, identity: str, verb: str) -> None:
    st.button(label, icon=f":material/{icon}:", on_click=steer, args=(key, identity, verb))


def steer(key: str, identity: str, verb: str) -> None:
    """Do it now: it takes nothing away."""
    states.attempt(_STEER, functools.partial(jobs.steer_rebuild, key, identity, verb))


def activate(key: str, rebuild: Rebuild) -> confirm.Step:
    """The live overlay goes over to it."""
    plan_ = rebuild["plan"]
    assert plan_ is not None
    planned, now = rebuild["base_version"], client.overlay_now(key)["version"]
    moved = (
        f"It was planned at version {number(planned)}, and the overlay is at version {number(now)} now: what is "
        "opened and closed is fitted to what changed meanwhile, so these figures may differ a little. "
        if now != planned
        else f"It was planned at version {number(planned)}, which is the live one. "
    )
    return confirm.Step(
        title="Activate: plan",
        meaning="First the new links are opened, then those no longer needed are closed, in batches. "
        f"{moved}Brokers may come and go meanwhile, and it can be paused and rolled back.",
        numbers=(
            ("Opened", number(plan_["opened"]), "Links that are opened first"),
            ("Closed", number(plan_["closed"]), "Links that are closed last"),
            ("Kept", number(plan_["kept"]), "Links that stay"),
            ("Max at peak", number(plan_["peak"]["max_degree"]), "Maximum degree while old and new are open"),
            ("Planned at", number(planned), "The version of the overlay that the plan was computed on"),
            ("Version now", number(now), "The version of the live overlay"),
        ),
        typed="activate",
        button="Activate",
        done="The activation has begun.",
        act=functools.partial(jobs.steer_rebuild, key, rebuild["id"], "activate"),
    )


def roll_back(key: str, rebuild: Rebuild, verb: str) -> confirm.Step:
    """Back to the links of before: what the activation closed comes back, what it opened goes."""
    activation = rebuild["activation"]
    assert activation is not None
    under_way = verb == "cancel"
    so_far = "When this was asked for, the activation had" if under_way else "The activation"
    more = ", and it goes on until it is rolled back" if under_way and not activation["paused"] else ""
    return confirm.Step(
        title="Roll back: plan",
        meaning=f"{so_far} opened {count(activation['opened'], 'link')} and closed {number(activation['closed'])}"
        f"{more}. What it closed is opened again first, then what it opened is closed, in batches. Every topic stays "
        "connected. Links are fitted to brokers that came or went since, so these figures may differ a little.",
        numbers=(
            ("Come back", number(activation["closed"]), "Links that the activation closed"),
            ("Go", number(activation["opened"]), "Links that the activation opened"),
        ),
        typed="roll back",
        button="Roll back",
        done="The rollback has begun.",
        act=functools.partial(jobs.steer_rebuild, key, rebuild["id"], verb),
    )


def drop(key: str, rebuild: Rebuild) -> confirm.Step:
    """Forget the candidates."""
    return confirm.Step(
        title="Drop this plan",
        meaning="Its links are forgotten. The live overlay does not change.",
        typed="drop",
        button="Drop",
        done="The plan was dropped.",
        act=functools.partial(jobs.steer_rebuild, key, rebuild["id"], "drop"),
    )


def plan(rebuild: Rebuild, made: RebuildPlan) -> None:
    """What it changes, as figures, charts and tables."""
    before, after = made["before"], made["after"]
    figures.show(
        (
            ("Kept", number(made["kept"]), "Links that stay"),
            ("Opened", number(made["opened"]), "Links that are opened first"),
            ("Closed", number(made["closed"]), "Links that are closed last"),
            ("Links before", number(before["links"]), None),
            ("Links after", number(after["links"]), None),
            ("Avg before", degree(before["average_degree"]), "Average degree before"),
            ("Avg after", degree(after["average_degree"]), "Average degree after"),
        )
    )
    st.subheader("Before, at the peak, after", anchor=False)
    charts.stages(before, made["peak"], after, f"stages-{rebuild['id']}")
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="histograms-part"):
            st.subheader("Degrees", anchor=False)
            logarithmic = charts.lopsided(
                before["degree_histogram"], after["degree_histogram"]
            ) and st.toggle("Logarithmic", key="_symlog", help="Shows the few with many links")
            charts.histograms(before, after, f"histograms-{rebuild['id']}", logarithmic=bool(logarithmic))
        with st.container(key="changed-part"):
            most_changed(rebuild, made)
    keep_curve(rebuild, made)


def most_changed(rebuild: Rebuild, made: RebuildPlan) -> None:
    """The brokers that will notice it most."""
    rows = made.get("most_changed") or []
    if not rows:
        return
    st.subheader("Brokers most changed", anchor=False)
    table = pd.DataFrame(rows, columns=["broker", "opened", "closed", "degree_before", "degree_after"])
    listing.show(
        table,
        f"changed-{rebuild['id']}",
        opens="broker",
        page="views/broker.py",
        param="broker",
        columns=list(table.columns),
        config={
            "opened": listing.whole("Opened", 74),
            "closed": listing.whole("Closed", 74),
            "degree_before": listing.whole("Before", 74, "Degree before"),
            "degree_after": listing.whole("After", 74, "Degree after"),
        },
        name_label="Broker",
        name_width=250,
        max_height=316,
        alt="Brokers most changed",
    )


def keep_curve(rebuild: Rebuild, made: RebuildPlan) -> None:
    """What keeping more of the links would cost and save, and a way to run it so."""
    curve = made.get("keep_curve") or []
    if not curve:
        return
    st.subheader("What if more links were kept?", anchor=False)
    table = pd.DataFrame(curve)
    table["changed"] = table["opened"] + table["closed"]
    with st.container(horizontal=True, gap="medium"):
        with st.container(key="curve-degree-part"):
            charts.kept(table, "curve")
        with st.container(key="curve-table-part"):
            listing.plain(
                table[["keep", "links", "opened", "closed", "average_degree", "max_degree"]],
                {
                    "keep": st.column_config.NumberColumn("Keep", format="%.2f", width=70),
                    "links": listing.whole("Links", 74),
                    "opened": listing.whole("Opened", 78),
                    "closed": listing.whole("Closed", 78),
                    "average_degree": st.column_config.NumberColumn("Avg degree", format="%.2f", width=94),
                    "max_degree": listing.whole("Max degree", 94),
                },
                alt="Figures by how many links are kept",
            )
            if access.may_change():
                keeps = [point["keep"] for point in curve]
                with st.container(horizontal=True, vertical_alignment="bottom"):
                    chosen = st.select_slider(
                        "Keep", keeps, format_func="{:g}".format, key="_keep", width=240
                    )
                    if st.button("Run it again with this", icon=":material/replay:"):
                        again(rebuild, float(chosen))


def again(rebuild: Rebuild, keep: float) -> None:
    """The form, filled in like this rebuild but for how much it keeps."""
    st.session_state[_AGAIN] = {
        "algorithm": rebuild["algorithm"],
        "params": jobs.given(rebuild) | {"keep": keep},
        "like": f"the rebuild {literal(title(rebuild))} of {moment(rebuild['created_at'])} UTC, but for keep {keep:g}",
    }
    st.switch_page(
        "views/rebuilds.py",
        query_params={"algorithm": rebuild["algorithm"], "engine": rebuild["engine"]},
    )


page()
