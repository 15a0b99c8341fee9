"""What operators do, from beginning to end: the real console, API and Neo4j with the demo overlay, in Chromium.

Each journey leaves the overlay as it found it, or changes what no other one counts on.
"""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.ui.browser import cell, figure, metric, opened, settled
from tests.ui.system import Stack

pytestmark = [pytest.mark.browser, pytest.mark.neo4j]

PATIENCE_MS = 90_000


def broker_address(stack: Stack, identity: str) -> str:
    return f"{stack.console}/broker?broker={quote(identity, safe='')}"


def confirm(page: Page, word: str, button: str) -> None:
    """Type the word of the dialog and press its button."""
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name=button, exact=True)).to_be_disabled()
    dialog.get_by_role("textbox").last.fill(word)
    expect(dialog.get_by_role("button", name=button, exact=True)).to_be_enabled()
    dialog.get_by_role("button", name=button, exact=True).click()
    expect(dialog).to_have_count(0)


def test_a_broker_leaves_in_one_window_and_the_other_shows_it(stack: Stack, browser: Browser) -> None:
    leaver = "/journeys/leaver"
    topics = ["/diagnostics", "/localization/kinematic_state"]
    stack.call("POST", "/v1/brokers", {"id": leaver, "topics": topics})
    links = stack.get(f"/v1/brokers/{quote(leaver, safe='')}")["links"]
    before = stack.get("/v1/overlay")
    with opened(browser) as one:
        other = one.context.new_page()
        other.goto(stack.console)
        expect(other.get_by_test_id("stMetric").first).to_be_visible()
        expect(figure(other, "Brokers")).to_have_text(str(before["brokers"]))
        one.goto(broker_address(stack, leaver))
        expect(one.get_by_role("heading", name=leaver)).to_be_visible()
        assert metric(one, "Degree") == str(len(links))
        one.get_by_role("button", name="Leave …").click()
        dialog = one.get_by_role("dialog")
        expect(dialog.get_by_text("leaves the overlay with all its subscriptions")).to_be_visible()
        confirm(one, leaver, "Let it leave")
        expect(one.get_by_text(re.compile(rf"left\. Version {before['version'] + 1}"))).to_be_visible()
        expect(one.get_by_text("No such broker")).to_be_visible()
        expect(figure(other, "Brokers")).to_have_text(str(before["brokers"] - 1))
    assert stack.get("/v1/overlay")["topics_apart"] == 0


def test_a_subscription_is_planned_read_and_made(stack: Stack, browser: Browser) -> None:
    broker = stack.get("/v1/brokers?sort=-degree&limit=1")["items"][0]["id"]
    with opened(browser) as page:
        page.goto(broker_address(stack, broker))
        page.get_by_role("button", name="Subscribe …", exact=True).click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("combobox").fill("/journeys/new topic")
        page.keyboard.press("Enter")
        expect(dialog.get_by_text("Planned at")).to_be_visible()
        # An open list of choices hides the rest of the dialog from roles.
        page.keyboard.press("Tab")
        confirm(page, broker, "Subscribe")
        expect(page.get_by_text("subscribed to 1 topic.")).to_be_visible()
    path = f"/v1/brokers/{quote(broker, safe='')}"
    assert "/journeys/new topic" in stack.get(path)["topics"]
    stack.call("DELETE", f"{path}/topics/{quote('/journeys/new topic', safe='')}")


def test_a_read_key_looks_and_changes_nothing(stack: Stack, browser: Browser) -> None:
    key = stack.call("POST", "/v1/keys", {"name": "auditor", "scope": "read"})["key"]
    broker = stack.get("/v1/brokers?limit=1")["items"][0]["id"]
    with opened(browser) as page:
        page.goto(broker_address(stack, broker))
        page.get_by_role("button", name="Use another key").click()
        page.get_by_label("API key").fill(key)
        page.get_by_role("button", name="Open the console").click()
        expect(page.get_by_text("auditor", exact=True)).to_be_visible()
        expect(page.locator(".st-key-identity").get_by_text("read only")).to_be_visible()
        expect(page.get_by_text("Yours may read only.")).to_be_visible()
        expect(page.get_by_role("button", name="Leave …")).to_have_count(0)
        assert key not in page.url
        page.get_by_role("link", name="Rebuilds").click()
        expect(page.get_by_text("Running a rebuild needs a key")).to_be_visible()


def test_a_question_is_asked_in_cypher(stack: Stack, browser: Browser) -> None:
    hubs = stack.call("POST", "/v1/queries/hubs/run", {"params": {"limit": 3}})
    with opened(browser) as page:
        page.goto(f"{stack.console}/queries?query=hubs&limit=3")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_text(re.compile(r"^3 rows in"))).to_be_visible()
        for row in range(3):
            expect(cell(page, row, 0)).to_have_text(str(hubs["rows"][row][0]))
        page.get_by_text("Cypher", exact=True).first.click()
        expect(page.get_by_test_id("stCode").last).to_contain_text("MATCH")
        settled(page)


def test_brokers_fail_in_what_if_and_the_repair_is_read(stack: Stack, browser: Browser) -> None:
    before = stack.get("/v1/overlay")["version"]
    most = [row["id"] for row in stack.get("/v1/brokers?sort=-degree&limit=5")["items"]]
    expected = stack.call("POST", "/v1/what-if", {"leave": most})
    with opened(browser) as page:
        page.goto(f"{stack.console}/what-if")
        page.get_by_role("button", name="The five with most links").click()
        sentence = re.compile(
            rf"If these 5 brokers fail, {len(expected['topics_apart'])} topics? comes? apart"
        )
        expect(page.get_by_text(sentence)).to_be_visible()
        expect(page.locator(".st-key-before-part canvas").first).to_be_visible()
        expect(page.locator(".st-key-after-part canvas").first).to_be_visible()
        expect(page.get_by_text("Failed broker").first).to_be_visible()
        expect(page.get_by_role("heading", name="Links", exact=True)).to_be_visible()
        assert metric(page, "Topics apart") == str(len(expected["topics_apart"]))
        assert metric(page, "Opened") == str(len(expected["opened"]))
        assert "leave=" in page.url
        shared = page.url
    with opened(browser, "dark") as page:
        page.goto(shared)
        expect(page.get_by_text(sentence)).to_be_visible()
    assert stack.get("/v1/overlay")["version"] == before


def test_what_happened_is_found_and_two_versions_are_compared(stack: Stack, browser: Browser) -> None:
    guest = "/journeys/guest"
    start = stack.get("/v1/overlay")["version"]
    stack.call("POST", "/v1/brokers", {"id": guest, "topics": ["/diagnostics"]})
    stack.call("DELETE", f"/v1/brokers/{quote(guest, safe='')}")
    with opened(browser) as page:
        page.goto(f"{stack.console}/history?broker={quote(guest, safe='')}&change={start + 1}")
        expect(page.get_by_role("heading", name=f"Version {start + 1}: join {guest}")).to_be_visible()
        page.goto(f"{stack.console}/history?view=compare&from={start}&to={start + 1}")
        expect(page.get_by_text("1 broker joined, 0 left")).to_be_visible()
        page.goto(f"{stack.console}/history?view=compare&from={start}&to={start + 2}")
        expect(page.get_by_text("0 brokers joined, 0 left")).to_be_visible()
        page.goto(f"{stack.console}/topic?topic=%2Fdiagnostics&version={start + 1}")
        expect(page.get_by_text(f"As it was at version {start + 1}.")).to_be_visible()
        page.locator(".st-key-drawing canvas").first.wait_for()
        members = stack.get("/v1/topics/%2Fdiagnostics")["subscribers"]
        assert metric(page, "Subscribers") == str(members + 1)


def test_200_rounds_of_churn_are_simulated_and_read(stack: Stack, browser: Browser) -> None:
    before = stack.get("/v1/overlay")["version"]
    with opened(browser) as page:
        page.goto(f"{stack.console}/simulator")
        page.get_by_role("button", name="Simulate", exact=True).click()
        expect(page.get_by_text("Run A", exact=True).first).to_be_visible()
        expect(page.get_by_role("button", name="Apply run A")).to_be_visible(timeout=PATIENCE_MS)
        expect(page.get_by_test_id("stVegaLiteChart")).to_have_count(6)
        expect(page.get_by_role("button", name="Run A as CSV")).to_be_visible()
        run = stack.get(f"/v1/simulations/{page.url.rpartition('=')[2]}")
        assert run["state"] == "done"
        assert len(run["rounds"]) == 200
        opened_links = sum(done["opened"] for done in run["rounds"])
        assert opened_links > 0
        figures = ["Rounds", "Brokers at the end", "Average degree at the end", "Maximum degree at any time"]
        for row, name in enumerate([*figures, "Links opened"]):
            expect(cell(page, row, 0)).to_have_text(name)
        expect(cell(page, 0, 1)).to_have_text("200")
        expect(cell(page, 1, 1)).to_have_text(f"{run['rounds'][-1]['brokers']:,}")
        expect(cell(page, 2, 1)).to_have_text(f"{run['rounds'][-1]['average_degree']:.2f}")
        expect(cell(page, 4, 1)).to_have_text(f"{opened_links:,}")
        expect(page.locator(".st-key-chart-drift-part [aria-label*='Round: 200']").first).to_be_attached()
    assert stack.get("/v1/overlay")["version"] == before


def test_the_churn_of_a_run_is_applied_to_the_live_overlay(stack: Stack, browser: Browser) -> None:
    request = {"source": "live", "rounds": 6, "strategy": "shadow", "k": 1, "seed": 7}
    run = stack.call("POST", "/v1/simulations", request)["id"]
    stack.wait(f"/v1/simulations/{run}", ("done",))
    before = stack.get("/v1/overlay")["version"]
    with opened(browser) as page:
        page.goto(f"{stack.console}/simulator?runs={run}")
        page.get_by_role("button", name="Apply run A").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("The 6 rounds of this run are done to the live overlay")).to_be_visible()
        assert stack.get("/v1/overlay")["version"] == before, "nothing is done before it is confirmed"
        confirm(page, "apply", "Apply to the live overlay")
        expect(page.get_by_text("Applied to the live overlay.", exact=True)).to_be_visible(
            timeout=PATIENCE_MS
        )
    applied = stack.wait(f"/v1/simulations/{run}", ("applied",))["applied"]
    assert applied == {"done": 6, "total": 6, "skipped": 0}
    overlay = stack.get("/v1/overlay")
    assert overlay["version"] == before + 6
    assert overlay["topics_apart"] == 0
    assert len(stack.get(f"/v1/changes?after={before}")["items"]) == 6


def test_problems_only_is_empty_while_all_is_well(stack: Stack, browser: Browser) -> None:
    with opened(browser) as page:
        page.goto(stack.console)
        expect(page.get_by_test_id("stMetric").first).to_be_visible()
        settled(page)
        # Once, though drift is measured meanwhile and the page drawn anew.
        page.get_by_text("Problems only").click()
        expect(page.get_by_text("No problems.")).to_be_visible()
        assert "problems=True" in page.url
        page.goto(f"{stack.console}/topics?problems=True")
        expect(page.get_by_text("No topic apart or less connected than the policy asks.")).to_be_visible()


def test_a_rebuild_is_run_read_activated_and_rolled_back(stack: Stack, browser: Browser) -> None:
    rebuilds = len(stack.get("/v1/rebuilds")["items"])
    links = stack.get("/v1/overlay")["links"]
    with opened(browser) as page:
        page.goto(f"{stack.console}/rebuilds?algorithm=gm")
        expect(page.get_by_text("Guarantee: topic-connected")).to_be_visible()
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_role("heading", name="Plans")).to_be_visible()
        found = stack.until("/v1/rebuilds", lambda page: len(page["items"]) > rebuilds)["items"]
        assert len(found) == rebuilds + 1
        plan = stack.wait(f"/v1/rebuilds/{found[0]['id']}", ("planned", "failed"))["plan"]
        page.goto(f"{stack.console}/rebuild?rebuild={found[0]['id']}")
        expect(page.get_by_text("Planned.")).to_be_visible()
        expect(page.get_by_role("heading", name="Brokers most changed")).to_be_visible()
        assert metric(page, "Kept") == str(plan["kept"])
        assert metric(page, "Opened") == str(plan["opened"])
        page.get_by_role("button", name="Activate …").click()
        confirm(page, "activate", "Activate")
        expect(page.get_by_text("Active: its links are the live overlay's.")).to_be_visible(
            timeout=PATIENCE_MS
        )
        assert stack.get("/v1/overlay")["links"] == plan["after"]["links"]
        page.get_by_role("button", name="Roll back …").click()
        confirm(page, "roll back", "Roll back")
        # Not "being rolled back", which a part of the words would find as well.
        expect(page.get_by_text("Rolled back: the links of before are live again.")).to_be_visible(
            timeout=PATIENCE_MS
        )
    overlay = stack.get("/v1/overlay")
    assert overlay["links"] == links
    assert overlay["topics_apart"] == 0
