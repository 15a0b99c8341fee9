"""Rebuilds and simulations: the calls, and what their pages share.

A running job is asked for again and again, so nothing here is cached longer than a moment; what was started is never
started twice by a rerun.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, cast

import streamlit as st

from ui import client
from ui.answers import Progress, Rebuild, Round, Simulation
from ui.client import segment
from ui.wording import plain

A_DAY = timedelta(days=1)
SECONDS = 0.7
"""How often a page looks at a running job."""
_ROUNDS = "_rounds"


@st.cache_data(ttl=1, max_entries=16, show_spinner=False)
def rebuilds(key: str) -> list[Rebuild]:
    """All rebuilds, the newest first."""
    found = cast(list[Rebuild], client.get("/v1/rebuilds", key)["items"])
    return sorted(found, key=lambda rebuild: rebuild["created_at"], reverse=True)


@st.cache_data(ttl=0.5, max_entries=16, show_spinner=False)
def rebuild(key: str, identity: str) -> Rebuild:
    """One rebuild with its plan."""
    return cast(Rebuild, client.get(f"/v1/rebuilds/{segment(identity)}", key))


def start_rebuild(key: str, algorithm: str, params: dict[str, Any], engine: str) -> Rebuild:
    """Compute a new set of links beside the live ones; the API takes the seed beside the other parameters."""
    others = {name: value for name, value in params.items() if name != "seed"}
    body = {"algorithm": algorithm, "params": others, "engine": engine, "seed": params.get("seed", 0)}
    return cast(Rebuild, _sent(client.send("POST", "/v1/rebuilds", key, body)))


def steer_rebuild(key: str, identity: str, verb: str) -> None:
    """activate, pause, resume, cancel, rollback; or drop."""
    path = f"/v1/rebuilds/{segment(identity)}"
    if verb == "drop":
        _sent(client.send("DELETE", path, key))
    else:
        _sent(client.send("POST", f"{path}/{verb}", key, {} if verb == "activate" else None))


@st.cache_data(ttl=1, max_entries=16, show_spinner=False)
def simulations(key: str) -> list[Simulation]:
    """All simulations without their rounds, the newest first."""
    found = cast(list[Simulation], client.get("/v1/simulations", key)["items"])
    return sorted(found, key=lambda run: run["created_at"], reverse=True)


def simulation(key: str, identity: str) -> Simulation:
    """One simulation with all rounds so far; only the new ones are fetched."""
    known: dict[str, list[Round]] = st.session_state.setdefault(_ROUNDS, {})
    rounds = known.get(identity, [])
    while True:
        after = rounds[-1]["round"] if rounds else 0
        run = cast(Simulation, client.get(f"/v1/simulations/{segment(identity)}", key, after=after))
        new = [r for r in run["rounds"] if r["round"] > after]
        rounds = known[identity] = run["rounds"] = rounds + new
        if not new or rounds[-1]["round"] >= run["next"]:  # they come in pages
            return run


def keep_rounds(shown: Sequence[str]) -> None:
    """Of no run but these: a run may have 100,000, and a session looks at many."""
    known: dict[str, list[Round]] = st.session_state.get(_ROUNDS, {})
    for identity in set(known) - set(shown):
        del known[identity]


def start_simulation(key: str, request: dict[str, Any]) -> Simulation:
    """Simulate churn on a copy."""
    return cast(Simulation, _sent(client.send("POST", "/v1/simulations", key, request)))


def stop_simulation(key: str, identity: str) -> None:
    """Stop a simulation that runs or is being applied; what it did so far stays."""
    _sent(client.send("DELETE", f"/v1/simulations/{segment(identity)}", key))


def apply_simulation(key: str, identity: str) -> None:
    """Do the same churn to the live overlay."""
    _sent(client.send("POST", f"/v1/simulations/{segment(identity)}/apply", key))


def _sent(answer: Any) -> Any:
    for read in (rebuilds, rebuild, simulations):
        read.clear()
    return answer


def failed_lately(rebuilds: list[Rebuild], now: datetime) -> list[Rebuild]:
    """Those that somebody should look at: failed since the last one that came to a plan, and within a day."""
    worked = max((rebuild["created_at"] for rebuild in rebuilds if rebuild["plan"]), default="")
    return [
        rebuild
        for rebuild in rebuilds
        if rebuild["state"] == "failed"
        and rebuild["created_at"] > worked
        and now - datetime.fromisoformat(rebuild["created_at"]) < A_DAY
    ]


def held_up(rebuild: Rebuild) -> bool:
    """Whether its activation meets something that keeps it from getting on: it tries again, and says what it is."""
    activation = rebuild["activation"]
    paused = activation is not None and activation["paused"]
    return rebuild["state"] == "activating" and bool(rebuild["error"]) and not paused


def given(rebuild: Rebuild) -> dict[str, Any]:
    """What the rebuild was given, the seed among the other parameters as on the form."""
    return rebuild["params"] | ({"seed": rebuild["seed"]} if rebuild["seed"] else {})


def bar(progress: Progress | None, waiting: str) -> None:
    """How far a job is, in words and as a bar."""
    share = min(1.0, max(0.0, float(progress["share"]))) if progress else 0.0
    stage = (progress["stage"] if progress else "") or waiting
    st.progress(share, text=f"{plain(stage[0].upper() + stage[1:])} · {share:.0%}")
