"""Rebuilds: the form made from the registry, plans beside each other, activation and the way back."""

from __future__ import annotations

import json
import time
from typing import cast

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import ui.answers
from algorithms import Algorithm, algorithms
from tests.ui.fake_api import FakeApi
from tests.ui.fake_jobs import FakeRebuild
from tests.ui.pages import button, metrics, open_page, said, seen, specification
from ui import algorithm_form, client, states


def given(api: FakeApi, **params: object) -> FakeRebuild:
    request = {"algorithm": "weave", "params": params, "engine": "local"}
    name = f"r{len(api.rebuilds) + 1}"
    api.rebuilds[name] = FakeRebuild(name, request, api.overlay, api.actor, 0.0)
    return api.rebuilds[name]


def test_the_form_shows_guarantee_and_paper_of_the_choice(app: AppTest) -> None:
    open_page(app, "rebuilds")
    assert "Guarantee: topic-connected (k-connected for k >= 2)" in said(app)
    app.selectbox(key="algorithm").set_value("gm").run()
    assert "Guarantee: topic-connected; links at most a logarithmic factor" in said(app)
    assert "Paper: Chockler et al. 2007" in said(app)
    assert app.query_params["algorithm"] == "gm"


def test_only_what_differs_from_the_default_is_sent(app: AppTest, api: FakeApi) -> None:
    open_page(app, "rebuilds")
    app.slider[0].set_value(0.4)
    next(field for field in app.text_input if field.label == "rho").input("1.5")
    next(box for box in app.checkbox if box.label == "prune").check()
    app.run()
    button(app, "Run").click().run()
    params = {"keep": 0.4, "rho": 1.5, "prune": True}
    body = {"algorithm": "weave", "params": params, "engine": "local", "seed": 0}
    assert api.sent == [("POST", "/v1/rebuilds", body)]
    assert list(app.dataframe[0].value["state"]) == ["planned"]


def test_the_seed_goes_beside_the_parameters_and_is_shown_with_them(app: AppTest, api: FakeApi) -> None:
    open_page(app, "rebuilds", algorithm="gm")
    next(field for field in app.number_input if field.label == "seed").set_value(7).run()
    button(app, "Run").click().run()
    assert api.sent[-1][2] == {"algorithm": "gm", "params": {}, "engine": "local", "seed": 7}
    assert not app.error
    assert list(app.dataframe[0].value["rebuild"]) == ["gm seed=7"]
    open_page(app, "rebuild", rebuild="r1")
    assert seen(app.title[0].value) == "gm (seed 7)"


@pytest.mark.parametrize("algorithm", algorithms(), ids=lambda algorithm: algorithm.name)
def test_what_an_algorithm_can_give_is_read_as_the_registry_means_it(algorithm: Algorithm) -> None:
    described = cast(ui.answers.Algorithm, algorithm.describe())
    most = algorithm_form.most_connected(described)
    if isinstance(algorithm.connects, str):
        assert algorithm.connects == algorithm_form.CONNECTS
        assert most > 2
    else:
        assert most == algorithm.connects


def test_a_policy_of_two_connections_is_asked_for_by_default(app: AppTest, api: FakeApi) -> None:
    api.overlay.policy |= {"k": 2}
    open_page(app, "rebuilds")
    assert next(box for box in app.number_input if box.label == "k").value == 2
    assert app.slider[0].label == "Keep links that exist"
    app.slider[0].set_value(0.0).run()
    button(app, "Run").click().run()
    assert api.sent[-1][2]["params"] == {"k": 2}
    assert not app.error
    app.slider[0].set_value(0.5).run()
    button(app, "Run").click().run()
    assert api.sent[-1][2]["params"] == {"k": 2, "keep": 0.5}
    assert not app.error
    assert list(app.dataframe[0].value["state"]) == ["planned", "planned"]


def test_the_form_begins_with_the_policys_algorithm_and_marks_those_that_give_less(
    app: AppTest, api: FakeApi
) -> None:
    api.overlay.policy |= {"algorithm": "gm2", "k": 2}
    open_page(app, "rebuilds")
    assert app.selectbox(key="algorithm").value == "gm2"
    names = app.selectbox(key="algorithm").options
    assert {"gm2", "weave", "ringpt", "gm · not 2-connected"} < set(names)
    button(app, "Run").click().run()
    assert api.rebuilds["r1"].state() == "planned"
    app.selectbox(key="algorithm").set_value("gm").run()
    assert "The policy asks for k = 2, which `gm` cannot give." in said(app)
    assert button(app, "Run").disabled
    api.overlay.policy |= {"algorithm": "gm"}
    client.overlay.clear()
    app.query_params.clear()
    open_page(app, "rebuilds")
    assert app.selectbox(key="algorithm").value == "weave", "the policy's own cannot keep its promise"


def test_an_engine_is_offered_where_it_runs_the_algorithm_with_its_own_parameters(
    app: AppTest, api: FakeApi
) -> None:
    open_page(app, "rebuilds")
    assert app.button_group[0].options == ["local"]
    app.selectbox(key="algorithm").set_value("dc").run()
    assert app.button_group[0].options == ["local", "spark"]
    assert "max_part" not in {field.label for field in app.number_input}
    app.button_group[0].set_value("spark").run()
    next(field for field in app.number_input if field.label == "max_part").set_value(100).run()
    button(app, "Run").click().run()
    body = {"algorithm": "dc", "params": {"max_part": 100}, "engine": "spark", "seed": 0}
    assert api.sent[-1][2] == body
    app.selectbox(key="algorithm").set_value("low-oda").run()
    assert app.button_group[0].options == ["local"]


def test_the_engine_is_in_the_url(app: AppTest, api: FakeApi) -> None:
    open_page(app, "rebuilds", algorithm="dc", engine="spark")
    assert app.button_group[0].value == "spark"
    app.button_group[0].set_value("local").run()
    assert dict(app.query_params) == {"algorithm": "dc"}
    app.button_group[0].set_value("spark").run()
    assert dict(app.query_params) == {"algorithm": "dc", "engine": "spark"}
    app.selectbox(key="algorithm").set_value("gm").run()
    assert dict(app.query_params) == {"algorithm": "gm"}
    open_page(app, "rebuilds", algorithm="low-oda", engine="spark")
    assert app.button_group[0].value == "local"


def test_plans_stand_beside_each_other(app: AppTest, api: FakeApi) -> None:
    given(api)
    given(api, keep=0.4)
    given(api, keep=0.8).ended = "dropped"
    open_page(app, "rebuilds")
    table = app.dataframe[0].value
    assert set(table["rebuild"]) == {"weave", "weave keep=0.4"}
    assert set(table["kept"]) == {given(api).plan()["kept"]}
    app.toggle(key="ended").set_value(True).run()
    assert "weave keep=0.8" in set(app.dataframe[0].value["rebuild"])


def test_a_running_rebuild_shows_its_progress_and_can_be_cancelled(app: AppTest, api: FakeApi) -> None:
    given(api).seconds = 600.0
    open_page(app, "rebuilds")
    assert "`weave` by `nightshift`" in said(app)
    assert "No plan yet" in said(app)
    button(app, "Cancel").click().run()
    assert api.rebuilds["r1"].state() == "cancelled"


def test_a_cancel_that_is_refused_says_so_beside_its_button_for_a_while(
    app: AppTest, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(api).seconds = 600.0
    open_page(app, "rebuilds")
    api.trouble_with_sending = (409, "Conflict", "rebuild: it is over")
    button(app, "Cancel").click().run()
    for _ in range(2):
        assert ["**Conflict**" in box.value for box in app.error] == [True]
        app.run()
    open_page(app, "rebuild", rebuild="r1")
    assert not app.error, "what one page asked for is not the other's to tell"
    open_page(app, "rebuilds")
    monkeypatch.setattr(states, "REFUSAL_SECONDS", 0)
    app.run()
    assert not app.error


def test_a_plan_is_read_before_it_is_activated(app: AppTest, api: FakeApi) -> None:
    plan = given(api).plan()
    open_page(app, "rebuild", rebuild="r1")
    assert (
        f"Activating it opens {plan['opened']} links, keeps {plan['kept']}, then closes {plan['closed']}"
        in said(app)
    )
    assert metrics(app)["Kept"] == str(plan["kept"])
    assert len(app.dataframe[0].value) == 20
    assert list(app.dataframe[1].value["keep"]) == [0.0, 0.2, 0.4, 0.6, 0.8]
    button(app, "Activate …").click().run()
    assert not api.sent
    assert button(app, "Activate").disabled
    assert metrics(app)["Max at peak"] == str(plan["peak"]["max_degree"])
    assert "It was planned at version 1, which is the live one." in said(app)


def test_a_plan_of_an_older_version_says_so_before_it_is_activated(app: AppTest, api: FakeApi) -> None:
    given(api)
    open_page(app, "rebuild", rebuild="r1")
    leaver = "/region/5/broker-20"
    api.overlay.apply(
        api.overlay.plan([{"op": "leave", "broker": leaver}]), "leave", leaver, "another person"
    )
    button(app, "Activate …").click().run()
    assert "It was planned at version 1, and the overlay is at version 2 now" in said(app)
    assert "is fitted to what changed meanwhile" in said(app)
    assert metrics(app)["Planned at"] == "1"
    assert metrics(app)["Version now"] == "2"


def test_rolling_back_says_how_many_links_come_back_and_go(app: AppTest, api: FakeApi) -> None:
    rebuild = given(api)
    rebuild.activated = 0.0
    plan = rebuild.plan()
    open_page(app, "rebuild", rebuild="r1")
    button(app, "Roll back …").click().run()
    assert f"The activation opened {plan['opened']} links and closed {plan['closed']}." in said(app)
    assert metrics(app)["Come back"] == str(plan["closed"])
    assert metrics(app)["Go"] == str(plan["opened"])
    assert not api.sent


def test_rolling_back_on_the_way_counts_what_was_done_so_far(app: AppTest, api: FakeApi) -> None:
    rebuild = given(api)
    rebuild.seconds = 100_000.0
    rebuild.activated = time.monotonic() - 50_000
    open_page(app, "rebuild", rebuild="r1")
    button(app, "Roll back …").click().run()
    opened = rebuild.plan()["opened"]
    assert (
        f"When this was asked for, the activation had opened {opened} links and closed 0, and it goes on"
        in said(app)
    )


@pytest.mark.parametrize(
    ("change", "sentence", "offered"),
    [
        ({"activated": 0.0}, "**Active**", {"Roll back …"}),
        ({"activated": 0.0, "rolled_back": 0.0}, "**Rolled back**", {"Activate …", "Drop …"}),
        ({"error": "out of memory"}, "**Failed.** out of memory", set()),
        ({"ended": "dropped"}, "**Dropped.**", set()),
        ({"ended": "cancelled"}, "**Cancelled.**", set()),
        ({}, "**Planned.**", {"Activate …", "Drop …"}),
    ],
)
def test_each_state_says_what_it_is_and_offers_what_it_allows(
    app: AppTest, api: FakeApi, change: dict[str, object], sentence: str, offered: set[str]
) -> None:
    rebuild = given(api)
    for name, value in change.items():
        setattr(rebuild, name, value)
    open_page(app, "rebuild", rebuild="r1")
    assert sentence in said(app)
    assert {b.label for b in app.button if b.label.endswith("…") and b.label[0] in "RAD"} == offered


def test_an_activation_is_watched_paused_and_resumed(app: AppTest, api: FakeApi) -> None:
    rebuild = given(api)
    rebuild.seconds = 1000.0
    rebuild.activated = time.monotonic() - 300
    open_page(app, "rebuild", rebuild="r1")
    assert "**Being activated.**" in said(app)
    assert "Opening the new links." in said(app)
    button(app, "Pause").click().run()
    assert "**Paused.**" in said(app)
    button(app, "Resume").click().run()
    assert "**Being activated.**" in said(app)


def test_a_rollback_that_is_paused_says_so_and_is_resumed(app: AppTest, api: FakeApi) -> None:
    rebuild = given(api)
    rebuild.seconds = 1000.0
    rebuild.activated = time.monotonic() - 300
    rebuild.rolled_back = rebuild.paused_at = time.monotonic()
    open_page(app, "rebuild", rebuild="r1")
    assert "**Paused on the way back.**" in said(app)
    assert "Roll back …" not in {b.label for b in app.button}
    button(app, "Resume").click().run()
    assert "**Being rolled back**" in said(app)


def test_an_activation_that_is_held_up_says_by_what(app: AppTest, api: FakeApi) -> None:
    rebuild = given(api)
    rebuild.seconds = 1000.0
    rebuild.activated = time.monotonic() - 300
    rebuild.error = "waiting: the server is read-only"
    open_page(app, "rebuild", rebuild="r1")
    assert "**Held up**, and tried again by itself: waiting: the server is read-only" in said(app)
    assert "**Being activated.**" in said(app)
    open_page(app, "overview", problems="True")
    assert "is held up, and tried again by itself: waiting: the server is read-only" in said(app)
    assert "**No problems.**" not in said(app)
    rebuild.paused_at = time.monotonic()
    st.cache_data.clear()
    open_page(app, "rebuild", rebuild="r1")
    assert "Held up" not in said(app), "nothing is tried while it is paused"


def test_running_again_keeps_more(app: AppTest, api: FakeApi) -> None:
    given(api, rho=1.5)
    open_page(app, "rebuild", rebuild="r1")
    app.select_slider(key="_keep").set_value(0.4)
    button(app, "Run it again with this").click().run()
    assert app.title[0].value == "Rebuilds"
    # AppTest itself stays where it was.
    open_page(app, "rebuilds")
    assert (
        "Filled in like the rebuild `weave (rho 1.5)` of 2026-03-01 22:00:00 UTC, but for keep 0.4."
        in said(app)
    )
    assert app.slider[0].value == 0.4
    button(app, "Run").click().run()
    assert api.sent[-1][2]["params"] == {"keep": 0.4, "rho": 1.5}
    open_page(app, "topics")
    open_page(app, "rebuilds")
    assert "Filled in" not in said(app)
    assert app.slider[0].value == 0.5


def test_who_may_read_only_sees_plans_and_nothing_else(app: AppTest, api: FakeApi) -> None:
    api.scope = "read"
    given(api)
    open_page(app, "rebuilds")
    assert not app.slider
    assert "Running a rebuild needs a key with the scope operate" in said(app)
    open_page(app, "rebuild", rebuild="r1")
    assert metrics(app)["Kept"]
    assert not [b for b in app.button if b.label != "Use another key"]


def test_a_refusal_names_the_field(app: AppTest, api: FakeApi) -> None:
    open_page(app, "rebuilds")
    api.scope = "read"
    button(app, "Run").click().run()
    assert "**Not allowed**" in app.error[0].value


def test_a_rebuild_that_is_gone_leads_back(app: AppTest) -> None:
    open_page(app, "rebuild", rebuild="r99")
    assert "No such rebuild" in said(app)


def test_diameters_that_are_lower_bounds_are_marked(app: AppTest, api: FakeApi) -> None:
    given(api)
    given(api, keep=0.4).sampled = 3
    open_page(app, "rebuilds")
    table = app.dataframe[0].value.set_index("rebuild")
    assert list(table.loc["weave", ["mean_diameter", "max_diameter"]]) == ["3.60", "9"]
    assert list(table.loc["weave keep=0.4", ["mean_diameter", "max_diameter"]]) == ["≥ 3.60", "≥ 9"]
    open_page(app, "rebuild", rebuild="r2")
    drawn = [specification(chart) for chart in app.get("vega_lite_chart")[:4]]
    assert all("datum.bound" in json.dumps(chart) for chart in drawn)
