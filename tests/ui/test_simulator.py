"""The simulator: what is asked for, progress, two runs against each other, and the churn made real."""

from __future__ import annotations

import time
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from backend.policy import Policy
from tests.ui.fake_api import FakeApi
from tests.ui.fake_jobs import FakeSimulation
from tests.ui.pages import button, calls, metrics, open_page, said, seen, specification
from ui import client, jobs, simulated, url_state


def given(api: FakeApi, **more: Any) -> FakeSimulation:
    request = {
        "source": "live",
        "rounds": 200,
        "join_share": 0.5,
        "strategy": "weave",
        "k": 1,
        "seed": 1,
    } | more
    name = str(len(api.simulations) + 1)
    api.simulations[name] = FakeSimulation(name, request, api.overlay, api.actor, 0.0)
    return api.simulations[name]


def test_no_run_yet(app: AppTest) -> None:
    open_page(app, "simulator")
    assert "No run yet" in said(app)
    assert "Nothing live changes." in said(app)


def test_the_form_is_sent_as_the_api_takes_it(app: AppTest, api: FakeApi) -> None:
    open_page(app, "simulator")
    app.number_input(key="_rounds_wanted").set_value(120)
    app.slider(key="_failure_share").set_value(5)
    app.selectbox(key="_strategy").set_value("shadow").run()
    button(app, "Simulate").click().run()
    assert api.sent[-1][2] == {
        "source": "live",
        "rounds": 120,
        "join_share": 0.5,
        "subscription_share": 0.0,
        "newcomers": "workload",
        "failure_share": 0.05,
        "failure_every": 100,
        "strategy": "shadow",
        "k": 1,
        "rho": 3.0,
        "lambda": 3,
        "seed": 0,
    }
    assert app.query_params["runs"] == "1"
    assert "**Run A** · shadow · live overlay" in said(app)


def test_a_workload_is_described(app: AppTest, api: FakeApi) -> None:
    open_page(app, "simulator")
    app.segmented_control(key="_source").set_value("workload").run()
    app.selectbox(key="_w_distribution").set_value("zipf").run()
    button(app, "Simulate").click().run()
    assert api.sent[-1][2]["workload"] == {
        "brokers": 1000,
        "topics": 200,
        "subscriptions": 20,
        "distribution": "zipf",
        "exponent": 1.0,
        "seed": 0,
    }
    assert "zipf workload of 1,000 brokers" in said(app)
    assert not [b for b in app.button if b.label.startswith("Apply")]


def test_two_runs_stand_against_each_other(app: AppTest, api: FakeApi) -> None:
    given(api)
    given(api, strategy="naive")
    given(api, strategy="rebuild")
    open_page(app, "simulator", runs="1,2")
    table = app.dataframe[0].value
    assert list(table.columns) == ["figure", "A", "B"]
    figures = table.set_index("figure")
    assert figures.loc["Rounds", "A"] == "200"
    drift = dict(zip(("A", "B"), table.iloc[-1, 1:], strict=True))
    assert drift["A"] != drift["B"]
    assert len(app.get("vega_lite_chart")) == 6
    app.multiselect(key="runs").set_value(["2", "3"]).run()
    assert app.query_params["runs"] == "2,3"
    assert "**Run B** · rebuild" in said(app)


def test_a_running_one_shows_its_progress_and_stops(app: AppTest, api: FakeApi) -> None:
    run = given(api)
    run.began -= 30_100
    run.seconds = 60_000.0
    open_page(app, "simulator", runs="1")
    first = len(app.get("vega_lite_chart"))
    assert first == 6
    app.run()
    assert "after=100" in calls(api, "/v1/simulations/1")[-1]
    button(app, "Stop").click().run()
    assert run.state() == "cancelled"
    assert "Stopped after 100 rounds." in said(app)


def test_applying_asks_first_and_names_what_it_does(app: AppTest, api: FakeApi) -> None:
    given(api)
    open_page(app, "simulator", runs="1")
    button(app, "Apply run A to the live overlay …").click().run()
    assert not api.sent
    assert "are done to the **live** overlay" in said(app)
    assert button(app, "Apply to the live overlay").disabled


def test_what_was_applied_says_so(app: AppTest, api: FakeApi) -> None:
    given(api).applied = 0.0
    open_page(app, "simulator", runs="1")
    assert "Applied to the live overlay." in said(app)


def test_rounds_that_were_skipped_are_counted(app: AppTest, api: FakeApi) -> None:
    run = given(api)
    run.applied, run.skipped = 0.0, 2
    open_page(app, "simulator", runs="1")
    assert "Applied to the live overlay." in said(app)
    assert "2 rounds skipped: they no longer fit the live overlay" in said(app)


def test_applying_stops_and_says_how_far_it_came(app: AppTest, api: FakeApi) -> None:
    run = given(api)
    run.applied, run.began, run.seconds = time.monotonic(), time.monotonic() - 60_000, 6_000.0
    run.skipped = 1
    open_page(app, "simulator", runs="1")
    assert "1 round skipped: it no longer fits" in said(app)
    assert "Waiting" not in said(app)
    run.waiting = "waiting: Neo4j does not answer"
    st.cache_data.clear()
    app.run()
    assert "Waiting: Neo4j does not answer" in said(app)
    button(app, "Stop").click().run()
    assert api.sent[-1][:2] == ("DELETE", "/v1/simulations/1")
    assert "Stopped when 100 of 200 rounds had been applied to the live overlay. They stay." in said(app)
    assert "Stop" not in [b.label for b in app.button]


def test_a_stop_that_is_refused_says_so(app: AppTest, api: FakeApi) -> None:
    run = given(api)
    run.began, run.seconds = time.monotonic() - 30_000, 60_000.0
    open_page(app, "simulator", runs="1")
    api.trouble_with_sending = (409, "Conflict", "simulation: it is over")
    button(app, "Stop").click().run()
    assert ["**Conflict**" in box.value for box in app.error] == [True]
    api.trouble_with_sending = None
    button(app, "Stop").click().run()
    assert not app.error
    assert run.state() == "cancelled"


@pytest.mark.parametrize("policy", [{"k": 2, "lambda": 1000, "rho": 5000.0}, {"lambda": 200, "rho": 1e300}])
def test_any_policy_the_api_takes_gives_the_form_its_first_values(
    app: AppTest, api: FakeApi, policy: dict[str, float]
) -> None:
    api.overlay.policy = Policy().changed(policy).properties()
    open_page(app, "simulator")
    button(app, "Simulate").click().run()
    assert api.sent[-1][2]["lambda"] == policy["lambda"]
    assert api.sent[-1][2]["rho"] == min(policy["rho"], url_state.MOST)
    assert not app.error


def test_who_may_read_only_stops_nothing(app: AppTest, api: FakeApi) -> None:
    api.scope = "read"
    run = given(api)
    run.applied, run.began, run.seconds = time.monotonic(), time.monotonic() - 60_000, 6_000.0
    open_page(app, "simulator", runs="1")
    assert "Stop" not in [b.label for b in app.button]


def test_a_start_without_an_answer_is_not_said_to_be_tried_again(app: AppTest, api: FakeApi) -> None:
    open_page(app, "simulator")
    api.trouble_with_sending = (503, "Not ready", "Starting")
    button(app, "Simulate").click().run()
    assert "**Not ready**\n\nStarting. It may have been done all the same" in seen(app.warning[0].value)
    assert "Trying again" not in said(app)


def test_a_failed_run_says_why(app: AppTest, api: FakeApi) -> None:
    given(api).error = "not enough memory"
    open_page(app, "simulator", runs="1")
    assert "**Failed.** not enough memory" in said(app)


def test_who_may_read_only_sees_runs_and_nothing_else(app: AppTest, api: FakeApi) -> None:
    api.scope = "read"
    given(api)
    open_page(app, "simulator", runs="1")
    assert "Simulating needs a key with the scope operate" in said(app)
    assert [b.label for b in app.button] == ["Use another key"]


def test_charts_of_two_runs_have_the_same_rounds_and_name_their_means(app: AppTest, api: FakeApi) -> None:
    given(api)
    given(api, strategy="naive", rounds=80)
    open_page(app, "simulator", runs="1,2")
    domains = [specification(c)["encoding"]["x"]["scale"] for c in app.get("vega_lite_chart")]
    assert domains == [{"domain": [0, 200]}] * 6
    assert "**Links changed a round** · mean of 5 rounds" in said(app)
    assert "**Time to plan (ms)** · mean of 5 rounds" in said(app)
    assert "**Average degree** ·" not in said(app)


def test_a_short_run_that_is_over_does_not_promise_a_measurement(app: AppTest, api: FakeApi) -> None:
    given(api, rounds=30)
    given(api, rounds=60).seconds = 60_000.0
    api.simulations["2"].began -= 30_100
    open_page(app, "simulator", runs="1")
    assert "Not measured: it is every 50 rounds." in said(app)
    assert "mean of" not in said(app), "30 rounds are drawn as they are"
    open_page(app, "simulator", runs="2")
    assert "Not measured yet: it is every 50 rounds." in said(app)


def test_a_run_that_is_gone_is_left_out(app: AppTest, api: FakeApi) -> None:
    given(api)
    open_page(app, "simulator", runs="1,99")
    assert list(app.dataframe[0].value.columns) == ["figure", "A"]


def test_it_says_that_the_api_is_away(app: AppTest, api: FakeApi) -> None:
    given(api)
    open_page(app, "simulator", runs="1")
    api.trouble = (503, "Not ready", "")
    client.overlay.clear()
    app.run()
    assert "**Not ready**" in said(app)


def test_the_rounds_of_a_long_run_are_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def get(path: str, _key: str, *, after: int) -> dict[str, Any]:
        asked.append(after)
        return {"rounds": [{"round": n} for n in range(after + 1, min(after + 10, 24) + 1)], "next": 24}

    monkeypatch.setattr(client, "get", get)
    monkeypatch.setattr("streamlit.session_state", {})
    run = jobs.simulation("a key", "a run")
    assert [row["round"] for row in run["rounds"]] == list(range(1, 25))
    assert asked == [0, 10, 20]
    assert len(jobs.simulation("a key", "a run")["rounds"]) == 24
    assert asked == [0, 10, 20, 24]


def test_what_is_applied_is_named_with_who_repairs_it_and_both_versions(app: AppTest, api: FakeApi) -> None:
    given(api, strategy="rebuild", rebuild_every=50, failure_share=0.25, failure_every=100, k=1, rounds=200)
    rounds = api.simulations["1"].rounds()
    leaver = "/region/5/broker-20"
    api.overlay.apply(api.overlay.plan([{"op": "leave", "broker": leaver}]), "leave", leaver, "another")
    api.overlay.policy |= {"k": 2, "strategy": "shadow"}
    open_page(app, "simulator", runs="1")
    button(app, "Apply run A to the live overlay …").click().run()
    failures = [n for n, done in enumerate(rounds) if done["change"].startswith("failure")]
    failed = sum(rounds[n - 1]["brokers"] - rounds[n]["brokers"] for n in failures)
    joins = sum(done["change"].startswith("join") for done in rounds)
    assert failed > 2
    assert f"{joins} joins, {198 - joins} leaves and 2 failures of {failed} brokers in all." in said(app)
    assert (
        "The live policy repairs (shadow, k = 2, rho 3, lambda 3), not what was simulated (weave, k = 1, rho 3, lambda 3)"
        in said(app)
    )
    assert "Its 4 rebuilds are not done." in said(app)
    assert "It was simulated on version 1, and the overlay is at version 2 now." in said(app)
    shown = metrics(app)
    assert (shown["Fail"], shown["Simulated at"], shown["Version now"]) == (str(failed), "1", "2")


def test_a_plan_of_one_round_is_said_in_the_singular(app: AppTest, api: FakeApi) -> None:
    given(api, rounds=1, join_share=0.0)
    open_page(app, "simulator", runs="1")
    assert "weave, 1 round, live overlay" in app.multiselect(key="runs").options[0]
    button(app, "Apply run A to the live overlay …").click().run()
    assert "The 1 round of this run are done" not in said(app)
    assert "one change each: 1 leave. The live policy repairs (weave, k = 1, rho 3, lambda 3). " in said(app)


@pytest.mark.parametrize(
    ("every", "sentence"),
    [(20, "Not measured: it is every 20 rounds."), (0, "Not measured: it was not asked for.")],
)
def test_how_often_the_drift_is_measured_is_the_requests(
    app: AppTest, api: FakeApi, every: int, sentence: str
) -> None:
    given(api, rounds=10, drift_every=every)
    open_page(app, "simulator", runs="1")
    assert sentence in said(app)


def test_a_long_run_is_thinned_before_it_is_drawn_and_means_are_over_all_rounds() -> None:
    rounds: list[Any] = [
        {
            "round": n,
            "change": "join",
            "brokers": n,
            "links": n,
            "average_degree": 2.0,
            "max_degree": 3,
            "opened": n % 7,
            "closed": n % 3,
            "plan_ms": n * 0.1,
            "drift": 0.1 if n % 50 == 0 else None,
        }
        for n in range(1, 10_001)
    ]
    run: Any = {"request": {"strategy": "weave"}, "rounds": rounds}
    table = simulated.points("A", run, 250)
    assert len(table) < 600
    assert set(table["round"]) >= {50, 10_000}
    last = table.iloc[-1]
    assert last["plan_ms"] == pytest.approx(sum(one["plan_ms"] for one in rounds[-250:]) / 250)
    assert last["changed"] == pytest.approx(sum(one["opened"] + one["closed"] for one in rounds[-250:]) / 250)
    whole = simulated.points("A", run | {"rounds": rounds[:20]}, 1)
    assert list(whole["plan_ms"]) == pytest.approx([one["plan_ms"] for one in rounds[:20]])


def test_rounds_of_runs_that_are_off_show_are_not_kept(app: AppTest, api: FakeApi) -> None:
    given(api)
    given(api, strategy="naive")
    open_page(app, "simulator", runs="1")
    app.multiselect(key="runs").set_value(["2"]).run()
    assert set(app.session_state["_rounds"]) == {"2"}


def test_a_start_that_did_not_come_to_its_turn_is_not_made_later(app: AppTest, api: FakeApi) -> None:
    open_page(app, "simulator")
    api.trouble = (503, "Not ready", "Starting")
    client.overlay.clear()
    button(app, "Simulate").click().run()
    assert "**Not ready**" in said(app)
    api.trouble = None
    app.run()
    assert not api.simulations
