"""The simulator's form: where the overlay comes from, what happens to it, how it is repaired."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ui import url_state

STRATEGIES = {
    "weave": "weave: repair, low degrees first",
    "shadow": "shadow: repair through backups",
    "naive": "naive: repair among all",
    "rebuild": "rebuild: build afresh now and then",
}
SOURCES = {"live": "The live overlay", "workload": "A generated workload"}
DISTRIBUTIONS = ("uniform", "zipf", "exponential")
NEWCOMERS = {"workload": "New ones, like those there are", "departed": "Those who left come back"}


def show(policy: dict[str, Any]) -> dict[str, Any]:
    """Draw the form; return the request as the API takes it. The live policy gives the first values."""
    request: dict[str, Any] = {}
    source = st.segmented_control(
        "From", list(SOURCES), format_func=SOURCES.__getitem__, default="live", required=True, key="_source"
    )
    request["source"] = source
    if source == "workload":
        request["workload"] = workload()
    with st.container(horizontal=True, gap="small"):
        request["rounds"] = _whole(
            "Rounds", "_rounds_wanted", 200, 1, 100_000, "One join, leave or failure a round"
        )
        request["join_share"] = st.slider(
            "Joins among joins and leaves", 0.0, 1.0, 0.5, 0.05, key="_join_share", width=250
        )
        request["subscription_share"] = st.slider(
            "Rounds that change topics instead", 0.0, 1.0, 0.0, 0.05, key="_subscription_share", width=250
        )
        request["newcomers"] = st.selectbox(
            "Who joins", list(NEWCOMERS), format_func=NEWCOMERS.__getitem__, key="_newcomers", width=260
        )
    with st.container(horizontal=True, gap="small"):
        share = st.slider(
            "Brokers that fail at once (%)",
            0,
            50,
            0,
            1,
            key="_failure_share",
            width=250,
            help="Correlated failures",
        )
        request["failure_share"] = share / 100
        every = _whole(
            "Every … rounds", "_failure_every", 100, 1, 100_000, "Rounds between such failures", share == 0
        )
        request["failure_every"] = every
    with st.container(horizontal=True, gap="small"):
        strategy = st.selectbox(
            "Strategy", list(STRATEGIES), format_func=STRATEGIES.__getitem__, key="_strategy", width=300
        )
        request["strategy"] = strategy
        if strategy == "rebuild":
            request["rebuild_every"] = _whole("Rebuild every … rounds", "_rebuild_every", 50, 1, 100_000)
        request["k"] = _whole(
            "k", "_k", int(policy.get("k", 1)), 1, 2, "Topics survive the loss of any k − 1 brokers"
        )
        request["rho"] = st.number_input(
            "rho",
            1.0,
            float(url_state.MOST),
            min(float(url_state.MOST), float(policy.get("rho") or 3.0)),
            0.5,
            key="_rho",
            width=120,
            help="How many times as much a link must contribute to be allowed to raise the maximum degree",
        )
        request["lambda"] = _whole(
            "lambda", "_lambda", int(policy.get("lambda", 3)), 1, 1000, "How often backups cover a topic"
        )
        request["seed"] = _whole("seed", "_seed", 0, 0, 1 << 31, "The same seed gives the same churn")
    return request


def workload() -> dict[str, Any]:
    """A workload of the papers."""
    with st.container(horizontal=True, gap="small"):
        made: dict[str, Any] = {
            "brokers": _whole("Brokers", "_w_brokers", 1000, 1, 200_000),
            "topics": _whole("Topics", "_w_topics", 200, 1, 100_000),
            "subscriptions": _whole(
                "Topics a broker", "_w_subscriptions", 20, 1, 10_000, "Subscriptions of each broker"
            ),
        }
        made["distribution"] = st.selectbox("Popularity", DISTRIBUTIONS, key="_w_distribution", width=160)
        if made["distribution"] == "zipf":
            made["exponent"] = st.number_input("Exponent", 0.1, 5.0, 1.0, 0.1, key="_w_exponent", width=120)
        made["seed"] = _whole("Workload seed", "_w_seed", 0, 0, 1 << 31)
    return made


def _whole(
    label: str,
    key: str,
    value: int,
    low: int,
    high: int,
    help_text: str | None = None,
    disabled: bool = False,
) -> int:
    return int(
        st.number_input(label, low, high, value, 1, key=key, width=160, help=help_text, disabled=disabled)
    )
