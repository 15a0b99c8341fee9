"""Faults under load: what was acknowledged is there, once; nothing half done remains; the system comes back by itself.

All tests of this file play on one stage, one after the other, so each also judges what the earlier ones left behind.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator

import pytest

from tests.backend.bolt_proxy import Moment
from tests.backend.faults.clients import Crowd, crowd, send
from tests.backend.faults.judge import check_repeats, judge
from tests.backend.faults.stage import PATIENCE, Stage, stage

# The first test's time includes the start of a Neo4j and two APIs, with kernels to compile.
pytestmark = [pytest.mark.neo4j, pytest.mark.timeout(900)]

MOMENTS: tuple[Moment, ...] = ("before", "after")
CUTS: tuple[tuple[Moment, ...], ...] = (
    ("before",),
    ("after",),
    ("after", "before"),
    ("before", "after", "after"),
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("faults")) as up:
        yield up


def test_bolt_is_cut_inside_commits(played: Stage) -> None:
    """Before the server got the commit, and after it committed and before its answer: settled by the group's id."""
    cuts = len(played.proxy.cuts)
    with crowd("cut", [played.cut_off]) as clients:
        clients.wait_for(20)
        for moments in CUTS:
            wanted = len(played.proxy.cuts) + len(moments)
            played.proxy.cut_next_commits(*moments)
            wait(lambda wanted=wanted: len(played.proxy.cuts) >= wanted)
            clients.wait_for(10)
    assert len(played.proxy.cuts) == cuts + 7
    assert judge(played, clients) >= 60
    assert set(clients.statuses) <= {200, 201}, (
        "an outcome that was unknown for a moment is nobody's business"
    )
    check_repeats(clients, played.beside)


def test_two_apis_and_clients_that_hang_up(played: Stage) -> None:
    """Both processes commit to one database; keys that were sent to one are repeated at the other."""
    with crowd("two", played.apis, keyed=10, plain=4, hang_up=0.2) as clients:
        clients.wait_for(80)
        played.proxy.cut_next_commits("after", "before")
        clients.wait_for(80)
    judge(played, clients)
    check_repeats(clients, played.beside)
    check_repeats(clients, played.cut_off)


def test_the_api_is_killed(played: Stage) -> None:
    """``kill -9`` of the only API there is: started again, it finds everything."""
    with crowd("api killed", [played.beside]) as clients:
        clients.wait_for(40)
        played.beside.kill()
        played.beside.start()
        played.beside.wait_until_ready()
        clients.wait_for(40)
    judge(played, clients)
    check_repeats(clients, played.beside)


def test_neo4j_is_killed(played: Stage) -> None:
    """``kill -9`` of Neo4j: changes are refused while it is away, reads go on, and all is well when it is back."""
    with crowd("neo4j killed", played.apis) as clients:
        clients.wait_for(40)
        played.kill_neo4j()
        for api in played.apis:
            wait(lambda api=api: send(api, "POST", "/v1/brokers", {"id": "nobody", "topics": []})[0] == 503)
            status, headers, answer = send(api, "POST", "/v1/brokers", {"id": "nobody", "topics": []})
            assert (status, headers["retry-after"]) == (503, "1"), answer
            assert answer["type"] == "urn:topicweave:problem:not-ready"
            assert send(api, "GET", "/v1/overlay")[0] == 200
            assert send(api, "GET", "/v1/brokers/nobody")[0] == 404
        played.neo4j.start()
        clients.wait_for(60)
    assert 503 in clients.statuses
    judge(played, clients)
    for api in played.apis:
        check_repeats(clients, api)


@pytest.mark.long
def test_neo4j_stands_still(played: Stage) -> None:
    """A suspended server breaks no connection; it is given up when it has said nothing for a while."""
    with crowd("neo4j suspended", played.apis) as clients:
        clients.wait_for(40)
        played.signal_neo4j(signal.SIGSTOP)
        try:
            for api in played.apis:
                assert send(api, "POST", "/v1/brokers", {"id": "nobody", "topics": []})[0] == 503
                assert send(api, "GET", "/v1/brokers/nobody")[0] == 404
        finally:
            played.signal_neo4j(signal.SIGCONT)
        clients.wait_for(60)
    judge(played, clients)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_everything_at_once_for_long(played: Stage) -> None:
    """Ten minutes in which anything may be killed or cut at any time."""
    choose = random.Random(8)
    ending = time.monotonic() + 600
    kept: list[Crowd] = []
    while time.monotonic() < ending:
        with crowd(f"long {len(kept)}", played.apis, keyed=16, plain=6, hang_up=0.1) as clients:
            for _ in range(6):
                clients.wait_for(choose.randint(1, 60))
                what = choose.choice(["cut", "cut", "cut", "kill an API", "kill Neo4j"])
                if what == "cut":
                    played.proxy.cut_next_commits(*choose.choices(MOMENTS, k=choose.randint(1, 4)))
                elif what == "kill an API":
                    api = choose.choice(played.apis)
                    api.kill()
                    time.sleep(choose.random())
                    api.start()
                    api.wait_until_ready()
                else:
                    played.kill_neo4j()
                    time.sleep(choose.uniform(0, 30))
                    played.neo4j.start()
            clients.wait_for(20)
        kept.append(clients)
        judge(played, *kept)
        check_repeats(clients, choose.choice(played.apis))


def wait(condition: object, patience: float = PATIENCE) -> None:
    """Until it holds."""
    assert callable(condition)
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)
