"""Queries: the analysts' library, read-only; the Cypher is there to copy."""

from __future__ import annotations

import json
from typing import Any, cast

import pandas as pd
import streamlit as st

from ui import access, client, listing, palette, query_chart, states, url_state, visit, watch
from ui.answers import Query, QueryParameter, QueryResult
from ui.client import segment
from ui.wording import count, literal

RUN_SECONDS = 60.0
# Shown first: it needs no parameter and says something about every overlay.
FIRST = "hubs"
_RESULT = "_query_result"


@st.cache_data(ttl=60, max_entries=8, show_spinner=False)
def library(key: str) -> list[Query]:
    """Every query, without its text."""
    return cast(list[Query], client.get("/v1/queries", key)["items"])


@st.cache_data(ttl=60, max_entries=64, show_spinner=False)
def described(key: str, name: str) -> Query:
    """One query with its text."""
    return cast(Query, client.get(f"/v1/queries/{segment(name)}", key))


def page() -> None:
    """Choose, fill in, run, read."""
    st.title("Queries", anchor=False)
    key = access.required_key()
    known = {query["name"]: query for query in library(key)}
    if not known:
        states.empty("No queries", "The library of this installation is empty.")
        return
    first = FIRST if FIRST in known else next(iter(known))
    url_state.sync("query", first, url_state.one_of(*known))
    name = st.selectbox(
        "Question",
        list(known),
        key="query",
        format_func=lambda n: f"{known[n]['group'].capitalize()} · {known[n]['title']}",
        on_change=url_state.push,
        # The parameters in the URL are those of the query before.
        args=("query", first, *{p["name"] for query in known.values() for p in query["parameters"]}),
    )
    query = described(key, name)
    if query.get("notes"):
        st.markdown(str(query.get("notes")))
    params = parameters(query)
    st.button("Run", type="primary", icon=":material/play_arrow:", on_click=visit.click, args=(_RESULT,))
    if visit.clicked(_RESULT):
        run(key, query["name"], params)
    with st.expander("Cypher", icon=":material/code:"):
        st.caption("Read-only. To be pasted into any Neo4j browser.")
        if query.get("example") and query["parameters"]:
            st.code(query["example"], language=None)
        st.code(query.get("cypher", ""), language="cypher")
    result(query, params)
    watch.follow_theme(palette.theme())


def parameters(query: Query) -> dict[str, Any]:
    """One field a parameter, kept in the URL; what is left empty has the query's own default."""
    given: dict[str, Any] = {}
    with st.container(horizontal=True, gap="small"):
        for parameter in query["parameters"]:
            value = field(query, parameter)
            if value is not None and value != "":
                given[parameter["name"]] = value
            elif parameter["default"] == "":
                given[parameter["name"]] = ""
    return given


def field(query: Query, parameter: QueryParameter) -> Any:
    """A field by the parameter's type; queries have parameters of one name and different types."""
    name, default, help_text = parameter["name"], parameter["default"], parameter["description"]
    key = f"_query-{query['name']}-{name}"

    def push(default: object) -> dict[str, Any]:
        return {"on_change": url_state.push, "args": (name, default), "kwargs": {"key": key}}

    if parameter["type"] == "boolean":
        url_state.sync(name, bool(default), url_state.whether, key)
        return st.checkbox(name, key=key, help=help_text, width=200, **push(bool(default)))
    if parameter["type"] == "string":
        hint = f"for example {parameter['example']}" if parameter.get("example") else None
        url_state.sync(name, str(default or ""), str, key)
        return st.text_input(
            name, key=key, help=help_text, placeholder=hint, width=320, **push(str(default or ""))
        )
    whole = parameter["type"] == "integer"
    kind: type[int] | type[float] = int if whole else float
    low, high = parameter.get("minimum"), parameter.get("maximum")
    low = -url_state.MOST if low is None else low
    high = url_state.MOST if high is None else min(high, url_state.MOST)
    start = None if default is None else kind(default)
    url_state.sync(name, start, url_state.between(kind, low, high), key)
    return st.number_input(
        name,
        min_value=kind(low),
        max_value=kind(high),
        value=None,
        step=1 if whole else 0.1,
        key=key,
        help=help_text,
        width=180,
        **push(start),
    )


def given(params: dict[str, Any]) -> str:
    """Parameters in words: "limit 10, part nothing"."""
    said = (f"{name} {'nothing' if value == '' else literal(str(value))}" for name, value in params.items())
    return ", ".join(said) or "no parameters"


def run(key: str, name: str, params: dict[str, Any]) -> None:
    """Ask, and keep the answer until another one is asked for."""
    try:
        path = f"/v1/queries/{segment(name)}/run"
        answer: Any = client.send("POST", path, key, {"params": params}, seconds=RUN_SECONDS)
    except client.ApiError as error:
        answer = error
    st.session_state[_RESULT] = (name, params, answer)


def result(query: Query, params: dict[str, Any]) -> None:
    """What was found, as a table, a chart and a file; ``params`` are those on the form, which may be others by now."""
    kept: tuple[str, dict[str, Any], QueryResult | client.ApiError] | None = st.session_state.get(_RESULT)
    if kept is None or kept[0] != query["name"]:
        st.caption(
            " · ".join(f"{literal(column['name'])} {column['description']}" for column in query["columns"])
        )
        return
    _, asked, answer = kept
    if isinstance(answer, client.ApiError):
        if answer.status == 401:
            # A key that was refused is asked for anew, and the next one is not to be blamed for it.
            st.session_state.pop(_RESULT)
        again = "A question changes nothing: run it again in a moment."
        states.action_failed(answer, again, "Ask it with other parameters.")
        return
    if asked != params:
        st.warning(
            f"**Answered with {given(asked)}.** Run it for what stands above.", icon=":material/update:"
        )
    table = pd.DataFrame(answer["rows"], columns=answer["columns"])
    cut = ", cut off: there are more" if answer["truncated"] else ""
    st.caption(f"{count(len(table), 'row')} in {answer['seconds']:,.2f} s{cut}.")
    if table.empty:
        states.empty(
            "No rows", "The question has no answer in the overlay as it is. Other parameters may have."
        )
        return
    shown = table.map(_words)
    # A name may have any sign in it that could stand between two.
    file = table.map(lambda cell: json.dumps(cell, ensure_ascii=False) if isinstance(cell, list) else cell)
    numeric = [c for c in shown.columns if pd.api.types.is_numeric_dtype(shown[c])]
    words = [c for c in shown.columns if c not in numeric]
    views = ["Table", "Chart"] if numeric and len(shown) > 1 else ["Table"]
    for tab, view in zip(st.tabs(views), views, strict=True):
        with tab:
            if view == "Table":
                _table(query, shown)
                listing.as_csv("As CSV", file, f"{query['name']}.csv")
            else:
                query_chart.show(shown, numeric, words)


def _words(cell: Any) -> Any:
    """A cell as it is read: names behind each other, yes or no."""
    if isinstance(cell, list):
        return ", ".join(map(str, cell))
    return ("no", "yes")[cell] if isinstance(cell, bool) else cell


def _table(query: Query, shown: pd.DataFrame) -> None:
    meanings = {column["name"]: column["description"] for column in query["columns"]}
    config: dict[str, Any] = {
        name: (
            st.column_config.NumberColumn(name, format="localized", help=meanings.get(name))
            if pd.api.types.is_numeric_dtype(shown[name])
            else st.column_config.TextColumn(name, help=meanings.get(name))
        )
        for name in shown.columns
    }
    listing.plain(shown, config, alt=query["title"], max_height=600)


page()
