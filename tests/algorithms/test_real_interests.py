"""Every registered algorithm on the small real files; igraph is the judge."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import igraph
import pytest

from algorithms import Interests, Overlay, algorithms, build
from algorithms.analysis import measure
from algorithms.files import read_interests

DATA = Path(__file__).parents[1] / "data"
SHAPES = {
    "ros_autoware": (94, 303, 483),
    "ha_codeowners": (738, 1_082, 1_418),
    "dt_codeowners": (6_002, 8_662, 14_891),
}


@cache
def interests_of(name: str) -> Interests:
    return read_interests(DATA / f"{name}.csv.gz")


def connected_by_igraph(overlay: Overlay) -> bool:
    """Whether igraph finds every topic connected; topics of one subscriber need no graph."""
    interests = overlay.interests
    whole = igraph.Graph(n=len(interests.brokers), edges=overlay.links)
    members = [interests.subscriber_indices(t) for t in range(len(interests.topics))]
    return all(whole.induced_subgraph(m.tolist()).is_connected() for m in members if len(m) > 1)


@pytest.mark.parametrize("name", SHAPES)
def test_the_files_are_what_their_table_says(name: str) -> None:
    interests = interests_of(name)
    assert (len(interests.brokers), len(interests.topics), interests.subscriptions) == SHAPES[name]
    assert interests.duplicates == 0


@pytest.mark.parametrize("algorithm", [algorithm.name for algorithm in algorithms()])
@pytest.mark.parametrize("name", SHAPES)
def test_every_algorithm_on_every_file(name: str, algorithm: str) -> None:
    interests = interests_of(name)
    overlay = build(algorithm, interests)
    assert connected_by_igraph(overlay)
    found = measure(overlay)
    assert (found.topics_apart, found.topic_diameters_sampled) == (0, 0)
    assert found.max_degree >= found.forced_max_degree
    if "oda" in algorithm and algorithm not in ("minmax-oda", "low-oda"):
        assert found.topic_diameter_max == 2
