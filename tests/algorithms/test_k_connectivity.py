"""The growing-set test against igraph, and what it says about a topic that fails."""

from __future__ import annotations

import random

import numpy as np
import pytest

from algorithms import BadInput, Interests, Overlay
from algorithms.analysis.k_connectivity import Shortfall, topic_connectivity, topics_below
from tests.algorithms.twins.connectivity import connectivity
from tests.algorithms.twins.steps import Pair


def one_topic(size: int, links: list[Pair]) -> Overlay:
    interests = Interests.from_mapping({f"b{v:02d}": ["x"] for v in range(size)})
    return Overlay.from_links(interests, np.array(links, np.int32).reshape(-1, 2))


def random_graph(draw: random.Random) -> tuple[int, list[Pair]]:
    """Graphs around the edge between k-connected and not: dense ones, rings with chords, two clusters and a few bridges."""
    size = draw.randint(2, 12)
    pairs = [(v, w) for v in range(size) for w in range(v + 1, size)]
    shape = draw.choice(["dense", "ring", "clusters"])
    if shape == "dense":
        share = draw.choice([0.4, 0.6, 0.8, 0.95])
        return size, [pair for pair in pairs if draw.random() < share]
    if shape == "ring":
        reach = draw.choice([1, 2])
        return size, [
            (v, w)
            for v, w in pairs
            if (w - v) % size <= reach or (v - w) % size <= reach or draw.random() < 0.1
        ]
    half = size // 2
    return size, [(v, w) for v, w in pairs if (v < half) == (w < half) or draw.random() < 0.25]


def test_a_thousand_graphs_agree_with_igraph() -> None:
    draw = random.Random(5)
    failing = 0
    for _ in range(1000):
        size, links = random_graph(draw)
        overlay = one_topic(size, links)
        true = connectivity(size, links)
        assert topic_connectivity(overlay, 4).tolist() == [min(true, 4)]
        k = min(true + draw.choice([0, 1]), size + 1)
        k = max(k, 1)
        shortfalls = topics_below(overlay, k)
        assert bool(shortfalls) == (true < min(k, size - 1))
        assert overlay.is_ktco(k) == (not shortfalls)
        for shortfall in shortfalls:
            failing += 1
            check_shortfall(overlay, shortfall, k)
    assert 350 <= failing <= 650, "about half of the graphs must fail"


def check_shortfall(overlay: Overlay, shortfall: Shortfall, k: int) -> None:
    graph = overlay.topic_graph(shortfall.topic)
    a, b = shortfall.parted
    if shortfall.missing_link:
        assert graph.vcount() <= k + 1
        assert not graph.are_adjacent(a, b)
        return
    assert len(shortfall.separator) < k
    assert not {a, b} & set(shortfall.separator)
    graph.delete_vertices(list(shortfall.separator))
    assert graph.distances(a, b)[0][0] == float("inf")


def test_separators_need_links_of_unbounded_room() -> None:
    """Two triangles joined by two brokers: with links of room one the failing search would stop short of the cut."""
    overlay = one_topic(
        8,
        [
            (0, 1),
            (0, 2),
            (1, 2),
            (5, 6),
            (5, 7),
            (6, 7),
            *((v, w) for v in (3, 4) for w in (0, 1, 2, 5, 6, 7)),
        ],
    )
    (shortfall,) = topics_below(overlay, 3)
    assert shortfall.separator == ("b03", "b04")
    assert str(shortfall) == "x: without b03, b04, " + " and ".join(shortfall.parted) + " are apart"


def test_small_topics_must_be_cliques() -> None:
    """ktco definition 1: at most k subscribers, and k + 1 by the definition of connectivity."""
    ring = one_topic(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    assert ring.is_ktco(2)
    (shortfall,) = ring.topics_below(3)
    assert shortfall.missing_link
    assert str(shortfall) in {
        "x: must be a clique, but b00 and b02 are not linked",
        "x: must be a clique, but b01 and b03 are not linked",
    }
    assert one_topic(4, [(v, w) for v in range(4) for w in range(v + 1, 4)]).is_ktco(1000)


def test_a_topic_apart_is_said_to_be() -> None:
    overlay = one_topic(4, [(0, 1), (2, 3)])
    (shortfall,) = topics_below(overlay, 1)
    assert shortfall.separator == ()
    assert str(shortfall).endswith("are apart")
    assert topic_connectivity(overlay).tolist() == [0]


def test_nothing_and_nobody_are_k_connected() -> None:
    empty = Overlay.from_links(Interests.from_mapping({}), np.empty((0, 2), np.int32))
    assert empty.is_ktco(3)
    assert topics_below(empty, 3) == []
    assert topic_connectivity(empty).tolist() == []
    assert one_topic(1, []).is_ktco(5)
    assert topic_connectivity(one_topic(1, [])).tolist() == [1]


@pytest.mark.parametrize("k", [0, -1, True, 1.5, "2", None])
def test_k_must_be_a_whole_number_from_1(k: object) -> None:
    overlay = one_topic(2, [(0, 1)])
    with pytest.raises(BadInput, match=r"^k: must be a whole number, at least 1"):
        overlay.is_ktco(k)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"^max_k: must be"):
        topic_connectivity(overlay, k)  # type: ignore[arg-type]
