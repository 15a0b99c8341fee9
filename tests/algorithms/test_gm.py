"""GM as users call it: parameters, edges of the input, and kernels without the compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from algorithms import BadInput, Interests, Overlay, build
from algorithms.engine import Limits, connect_largest
from algorithms.interests import Ints
from tests.algorithms.strategies import NOTHING_TO_LINK, named


@pytest.mark.parametrize("topics_by_broker", NOTHING_TO_LINK)
@pytest.mark.parametrize("name", ["gm", "minmax-oda", "low-oda", "dc"])
def test_nothing_to_link(name: str, topics_by_broker: dict[str, list[str]]) -> None:
    assert len(build(name, Interests.from_mapping(topics_by_broker)).links) == 0


@pytest.mark.parametrize("name", ["gm", "minmax-oda", "low-oda", "dc"])
def test_a_broker_with_ten_thousand_topics_and_a_topic_with_everyone(name: str) -> None:
    chosen = [set(range(10_000))] + [{0, v} for v in range(1, 300)] + [set(), {20_000}]
    overlay = build(name, named(chosen))
    assert overlay.is_tco()
    if name == "gm":
        assert len(overlay.links) == 299


@pytest.mark.parametrize("name", ["gm", "minmax-oda", "low-oda", "dc"])
def test_a_small_memory_bound_gives_a_valid_overlay(name: str) -> None:
    assert build(name, random_interests(400, 40, 8), memory_mb=16).is_tco()


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("ties", "high"), ("rounds", 0), ("rounds", "two"), ("memory_mb", 1), ("seed", -1)],
)
def test_bad_parameters_are_named(parameter: str, value: object) -> None:
    params: dict[str, Any] = {parameter: value}
    with pytest.raises(BadInput) as caught:
        build("gm", random_interests(5, 3, 2), **params)
    assert caught.value.field == parameter


def test_rounds_add_links_and_shorten_topics() -> None:
    interests = random_interests(60, 6, 3)
    once, twice = build("gm", interests), build("gm", interests, rounds=2)
    assert len(twice.links) > len(once.links)
    assert twice.is_tco()
    assert sum(map(diameter, topic_graphs(twice))) < sum(map(diameter, topic_graphs(once)))


def test_rounds_stop_when_every_pair_is_linked() -> None:
    overlay = build("gm", named([{0}, {0}, {0}]), rounds=50)
    assert len(overlay.links) == 3


def test_low_degree_ties_give_a_lower_maximum_degree() -> None:
    interests = random_interests(300, 12, 4)
    assert build("gm", interests).max_degree < build("gm", interests, ties="row").max_degree


def test_kernels_without_the_compiler_give_the_same_links() -> None:
    """A kernel that reads past an array's end fails here, as does one that leans on an overflow."""
    code = (
        "from tests.algorithms.test_gm import links_of_all_rules;"
        "print([links.tolist() for links in links_of_all_rules()])"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == str([links.tolist() for links in links_of_all_rules()])


def links_of_all_rules() -> list[Ints]:
    interests = random_interests(40, 9, 4)
    runs: list[Overlay] = [
        build("gm", interests),
        build("gm", interests, ties="random", rounds=2),
        build("low-oda", interests),
        build("minmax-oda", interests),
        build("dc", interests, parts=4),
        build("dc", interests, parts=4, score="weave"),
        build("weave", interests),
        build("weave", interests, rho=1.5),
    ]
    bits = connect_largest(interests, limits=Limits(bitsets=True))
    return [run.links for run in runs] + [bits.links, connect_largest(interests, ties="row").links]


def topic_graphs(overlay: Overlay) -> list[object]:
    return [overlay.topic_graph(topic) for topic in overlay.interests.topics]


def diameter(graph: object) -> int:
    return int(graph.diameter())  # type: ignore[attr-defined]


def random_interests(brokers: int, topics: int, size: int) -> Interests:
    random = np.random.default_rng(3)
    return named([set(random.choice(topics, size, replace=False).tolist()) for _ in range(brokers)])
