"""The form of an algorithm's parameters, made from the registry: nothing about any algorithm is known here."""

from __future__ import annotations

import math
import re
from typing import Any

import streamlit as st

from ui import url_state
from ui.answers import Algorithm, Parameter

KEEP, CONNECTS = "keep", "k"
KEEP_FIRST, KEEP_MOST = 0.5, 2.0
"""What an operator wants of a rebuild, and the end of the slider."""
PLAIN = ("int", "float")
STEERING = ("seed", "memory_mb")
MOST_SEED = (1 << 31) - 1
"""The API takes no larger one, whatever the algorithms themselves take."""


def most_connected(algorithm: Algorithm) -> float:
    """The largest k that it can be asked for: by a parameter of that name, or as its guarantee says."""
    for parameter in algorithm["parameters"]:
        if parameter["name"] == CONNECTS:
            return math.inf if parameter["maximum"] is None else parameter["maximum"]
    promised = re.search(r"\b(\d+)-connected", algorithm["guarantee"].partition(";")[0])
    return int(promised[1]) if promised else 1


def starting_k(algorithm: Algorithm, engine: str, k: int) -> int:
    """What the field of k begins with: what the policy asks, where the algorithm gives less by default."""
    for parameter in algorithm["engines"][engine]:
        if parameter["name"] == CONNECTS:
            return max(k, int(parameter["default"]))
    return k


def show(algorithm: Algorithm, engine: str, given: dict[str, Any], k: int) -> dict[str, Any]:
    """Draw one field a parameter of the engine; return those that differ from their default.

    ``given`` are values to start with, of a rebuild that is run again; ``k`` is what the policy asks.
    """
    values: dict[str, Any] = {}
    given = {CONNECTS: starting_k(algorithm, engine, k)} | given
    form = f"{algorithm['name']}-{engine}"
    parameters = sorted(algorithm["engines"][engine], key=lambda parameter: parameter["name"] != KEEP)
    for parameter in parameters:
        if parameter["name"] == KEEP:
            values[KEEP] = keep_slider(parameter, given, form)
    # What decides about the links first; what only steers the computation last.
    rest = sorted(
        (parameter for parameter in parameters if parameter["name"] != KEEP),
        key=lambda parameter: parameter["name"] in STEERING,
    )
    with st.container(horizontal=True, gap="small"):
        for parameter in rest:
            values[parameter["name"]] = field(parameter, given, form)
    defaults = {parameter["name"]: parameter["default"] for parameter in parameters}
    return {name: value for name, value in values.items() if value != defaults[name]}


def keep_slider(parameter: Parameter, given: dict[str, Any], form: str) -> float:
    """How many of the links that exist to keep: from a fresh build to one that changes little."""
    start = min(KEEP_MOST, float(given.get(KEEP, KEEP_FIRST)))
    return st.slider(
        "Keep links that exist",
        0.0,
        KEEP_MOST,
        start,
        0.1,
        key=_key(form, parameter, given),
        width=420,
        help=f"{_sentence(parameter['help'])} 0 is a fresh build; 0.5 keeps most of the gain for half of the "
        "changes.",
    )


def field(parameter: Parameter, given: dict[str, Any], form: str) -> Any:
    """One field, by the parameter's type; an empty one stands for "not given" where that is the default."""
    name, default, words = parameter["name"], parameter["default"], parameter["words"]
    start = given.get(name, default)
    key, help_text = _key(form, parameter, given), _sentence(parameter["help"])
    if parameter["type"] == "bool":
        # Where the default is left to the algorithm, a box that is not ticked leaves it there.
        return st.checkbox(name, bool(start), key=key, help=help_text, width=190) or (
            None if default is None else False
        )
    if parameter["type"] == "str" and words:
        return st.selectbox(
            name, words, words.index(start) if start in words else 0, key=key, help=help_text, width=190
        )
    if parameter["type"] in PLAIN and (words or default is None):
        return _number_or_word(parameter, start, key, help_text)
    if parameter["type"] in PLAIN:
        whole = parameter["type"] == "int"
        kind: type[int] | type[float] = int if whole else float
        low, high = parameter["minimum"], parameter["maximum"]
        if name == "seed":
            high = MOST_SEED
        return st.number_input(
            name,
            min_value=None if low is None else kind(low),
            max_value=None if high is None or high > url_state.MOST else kind(high),
            value=kind(start),
            step=1 if whole else 0.1,
            key=key,
            help=help_text,
            width=190,
        )
    return st.text_input(name, str(start or ""), key=key, help=help_text, width=190)


def _number_or_word(parameter: Parameter, start: Any, key: str, help_text: str) -> Any:
    """A number, one of the words, or nothing: a field of text, checked by the API, which names what is wrong."""
    hint = " or ".join(["a number", *parameter["words"]])
    shown = "" if start is None else str(start)
    typed = (
        st.text_input(parameter["name"], shown, key=key, help=help_text, placeholder=hint, width=190) or ""
    ).strip()
    if not typed:
        return parameter["default"]
    try:
        return int(typed) if parameter["type"] == "int" else float(typed)
    except ValueError:
        return typed


def _key(form: str, parameter: Parameter, given: dict[str, Any]) -> str:
    """Another algorithm or engine, and another rebuild to run again, start with their own values."""
    return f"_parameter-{form}-{parameter['name']}-{sorted(given.items(), key=str)}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
