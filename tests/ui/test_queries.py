"""The analysts' library: parameters, the answer as a table and a chart, the Cypher to copy."""

from __future__ import annotations

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.fake_api import KEY, FakeApi
from tests.ui.pages import button, names, open_page, said, seen
from ui import listing, query_chart


def test_a_query_shows_its_cypher_and_what_it_answers(app: AppTest) -> None:
    open_page(app, "queries")
    assert "MATCH (b:Broker)" in app.code[-1].value
    assert "`degree` its links" in said(app)
    assert not app.dataframe


def test_it_runs_with_its_parameters(app: AppTest, api: FakeApi) -> None:
    open_page(app, "queries", query="top_brokers")
    app.number_input(key="_query-top_brokers-limit").set_value(3)
    app.text_input(key="_query-top_brokers-part").input("region").run()
    button(app, "Run").click().run()
    assert api.sent == [("POST", "/v1/queries/top_brokers/run", {"params": {"limit": 3, "part": "region"}})]
    assert len(names(app, "broker")) == 3
    assert "3 rows in 0.01 s." in said(app)
    assert len(app.get("vega_lite_chart")) == 1


def test_its_parameters_are_in_the_url(app: AppTest, api: FakeApi) -> None:
    open_page(app, "queries", query="top_brokers", limit="3", part="region")
    assert app.number_input(key="_query-top_brokers-limit").value == 3
    button(app, "Run").click().run()
    assert api.sent[-1][2] == {"params": {"limit": 3, "part": "region"}}
    app.number_input(key="_query-top_brokers-limit").set_value(4).run()
    assert dict(app.query_params) == {"query": "top_brokers", "limit": "4", "part": "region"}
    app.text_input(key="_query-top_brokers-part").input("").run()
    assert "part" not in app.query_params
    app.selectbox(key="query").set_value("topics_at_risk").run()
    assert dict(app.query_params) == {"query": "topics_at_risk"}
    app.selectbox(key="query").set_value("top_brokers").run()
    assert app.number_input(key="_query-top_brokers-limit").value == 10


@pytest.mark.parametrize("limit", ["many", "0", "1e9", "nan", "10001"])
def test_nonsense_in_the_url_is_ignored(app: AppTest, limit: str) -> None:
    open_page(app, "queries", query="top_brokers", limit=limit)
    assert app.number_input(key="_query-top_brokers-limit").value == 10


def test_an_empty_number_stands_for_its_default(app: AppTest, api: FakeApi) -> None:
    open_page(app, "queries", query="top_brokers", limit="3")
    app.number_input(key="_query-top_brokers-limit").set_value(None).run()
    assert "limit" not in app.query_params
    button(app, "Run").click().run()
    assert api.sent[-1][2] == {"params": {"limit": 10, "part": ""}}


def test_who_may_read_only_may_ask(app: AppTest, api: FakeApi) -> None:
    api.scope = "read"
    open_page(app, "queries")
    button(app, "Run").click().run()
    assert names(app, "broker")


def test_no_rows_says_so(app: AppTest) -> None:
    open_page(app, "queries")
    app.selectbox(key="query").set_value("topics_at_risk").run()
    assert app.query_params["query"] == "topics_at_risk"
    button(app, "Run").click().run()
    assert "No rows" in said(app)


def test_a_refusal_is_shown_with_its_detail(app: AppTest, api: FakeApi) -> None:
    open_page(app, "queries")
    api.trouble = (422, "Bad value", "limit: at least 1")
    button(app, "Run").click().run()
    assert "**Bad value**" in app.error[0].value
    assert "limit: at least 1. Ask it with other parameters." in seen(app.error[0].value)


def test_an_api_that_is_away_is_not_said_to_be_asked_again(app: AppTest, api: FakeApi) -> None:
    open_page(app, "queries")
    api.trouble_with_sending = (504, "Too slow", "It took more than 30 s")
    button(app, "Run").click().run()
    assert "A question changes nothing: run it again in a moment." in app.warning[0].value
    assert "Trying again" not in said(app)


def test_its_file_tells_the_parts_of_a_list_apart(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str, pd.DataFrame] = {}
    monkeypatch.setattr(listing, "as_csv", lambda _label, frame, name: files.update({name: frame}))
    columns = ["broker", "topics", "degree", "linked"]
    found = {"columns": columns, "rows": [["b", ["a, b", "ü"], 3, True]], "seconds": 0.1, "truncated": False}
    app.session_state["_query_result"] = ("top_brokers", {"limit": 10, "part": ""}, found)
    open_page(app, "queries", query="top_brokers")
    assert (names(app, "topics"), names(app, "linked")) == (["a, b, ü"], ["yes"])
    assert list(files["top_brokers.csv"]["topics"]) == ['["a, b", "ü"]']
    assert list(files["top_brokers.csv"]["degree"]) == [3]


def test_an_answer_says_what_it_answers_once_other_parameters_stand_above(app: AppTest, api: FakeApi) -> None:
    open_page(app, "queries", query="top_brokers", limit="3")
    button(app, "Run").click().run()
    assert not app.warning
    app.number_input(key="_query-top_brokers-limit").set_value(4).run()
    assert "**Answered with limit `3`, part nothing.** Run it for what stands above." in app.warning[0].value
    assert len(names(app, "broker")) == 3
    button(app, "Run").click().run()
    assert not app.warning
    assert len(names(app, "broker")) == 4


def test_a_refused_key_is_not_held_against_the_next(app: AppTest, api: FakeApi) -> None:
    open_page(app, "queries")
    api.trouble_with_sending = (401, "The key is refused", "no such key")
    button(app, "Run").click().run()
    assert app.text_input[0].label == "API key"
    api.trouble_with_sending = None
    app.text_input[0].input(KEY)
    app.button[0].click().run()
    open_page(app, "queries")
    assert not app.error
    button(app, "Run").click().run()
    assert names(app, "broker")


def test_each_bar_is_one_row() -> None:
    rows = pd.DataFrame({"a": ["x", "x", "y"], "b": ["y", "z", "z"], "topics": [30, 28, 7]})
    assert query_chart.one_name_a_row(rows, "a", ["a", "b"]) == ["x · y", "x · z", "y · z"]
    assert query_chart.one_name_a_row(rows, "b", ["b"]) == ["y · 1", "z · 2", "z · 3"]
    assert query_chart.one_name_a_row(rows.head(2), "b", ["a", "b"]) == ["y", "z"]
