"""Overlay: links in any form become one sorted form, and igraph agrees on what is connected."""

from __future__ import annotations

import igraph
import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import BadInput, Interests, Overlay
from tests.algorithms.strategies import any_interests

ABC = Interests.from_mapping({"a": ["x", "y"], "b": ["x"], "c": ["x", "y"]})


@settings(deadline=None)
@given(any_interests(), st.data())
def test_topics_apart_are_those_igraph_finds(interests: Interests, data: st.DataObject) -> None:
    last = len(interests.brokers) - 1
    ends = data.draw(st.lists(st.tuples(st.integers(0, last), st.integers(0, last)), max_size=20))
    overlay = Overlay.from_links(interests, np.array([e for e in ends if e[0] != e[1]], np.int32))
    whole = igraph.Graph(n=len(interests.brokers), edges=overlay.links.tolist())
    apart = [
        topic
        for t, topic in enumerate(interests.topics)
        if len(whole.induced_subgraph(interests.subscriber_indices(t).tolist()).connected_components()) > 1
    ]
    assert overlay.topics_apart() == apart
    assert overlay.is_tco() == (not apart)


def test_rows_of_very_unequal_length_share_the_right_topics() -> None:
    """A hub's row is searched, not walked, in both directions."""
    hub = [f"t{t:04d}" for t in range(2_000)]
    for leaf in ("a", "z"):
        interests = Interests.from_mapping({"hub": hub, leaf: ["t0000", "t0999", "t1999", "u"]})
        overlay = Overlay.from_names(interests, [("hub", leaf)])
        assert overlay.is_tco()
        assert len(Overlay.from_names(interests, []).topics_apart()) == 3


def test_links_are_stored_once_sorted_and_read_only() -> None:
    overlay = Overlay.from_names(ABC, [("c", "a"), ("b", "a"), ("a", "c")])
    assert overlay.links.tolist() == [[0, 1], [0, 2]]
    assert overlay.links.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        overlay.links[0, 0] = 1


def test_degrees() -> None:
    overlay = Overlay.from_names(ABC, [("a", "b"), ("a", "c")])
    assert overlay.degrees().tolist() == [2, 1, 1]
    assert overlay.max_degree == 2
    assert overlay.average_degree == pytest.approx(4 / 3)
    empty = Overlay.from_names(Interests.from_mapping({}), [])
    assert (empty.max_degree, empty.average_degree, empty.is_tco(), empty.topics_apart()) == (
        0,
        0.0,
        True,
        [],
    )


def test_there_and_back_through_igraph_and_networkx() -> None:
    overlay = Overlay.from_names(ABC, [("a", "b"), ("b", "c")])
    assert Overlay.from_igraph(ABC, overlay.to_igraph()).links.tolist() == overlay.links.tolist()
    assert Overlay.from_networkx(ABC, overlay.to_networkx()).links.tolist() == overlay.links.tolist()
    assert overlay.to_igraph().vs["name"] == ["a", "b", "c"]
    assert set(overlay.to_networkx().nodes) == {"a", "b", "c"}
    shuffled = igraph.Graph.TupleList([("c", "b"), ("b", "a")])
    assert Overlay.from_igraph(ABC, shuffled).links.tolist() == overlay.links.tolist()


def test_a_topic_graph_holds_subscribers_and_the_links_between_them() -> None:
    overlay = Overlay.from_names(ABC, [("a", "b"), ("b", "c")])
    assert overlay.topic_graph("x").get_edgelist() == [(0, 1), (1, 2)]
    assert overlay.topic_graph("y").vs["name"] == ["a", "c"]
    assert overlay.topic_graph("y").ecount() == 0
    assert overlay.topics_apart() == ["y"]


@pytest.mark.parametrize(
    ("links", "reason"),
    [
        (np.array([[0, 3]]), "no broker has this dense id"),
        (np.array([[-1, 2]]), "no broker has this dense id"),
        (np.array([[1, 1]]), "a broker cannot have a link to itself"),
        (np.array([[0.0, 1.0]]), "an \\(m, 2\\) array of integers"),
        (np.array([0, 1]), "an \\(m, 2\\) array of integers"),
        (np.array([[0, 1, 2]]), "an \\(m, 2\\) array of integers"),
    ],
)
def test_bad_links_are_refused(links: np.ndarray[tuple[int, ...], np.dtype[np.int64]], reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as error:
        Overlay.from_links(ABC, links)
    assert error.value.field == "links"


def test_bad_names_are_refused() -> None:
    with pytest.raises(BadInput, match="no such broker"):
        Overlay.from_names(ABC, [("a", "q")])
    with pytest.raises(BadInput, match="link to itself"):
        Overlay.from_names(ABC, [("a", "a")])
    with pytest.raises(BadInput, match="'name' attribute"):
        Overlay.from_igraph(ABC, igraph.Graph(3))
    stranger: networkx.Graph[str] = networkx.Graph([("a", "q")])
    with pytest.raises(BadInput, match="no such broker"):
        Overlay.from_networkx(ABC, stranger)
    with pytest.raises(BadInput, match="no such topic"):
        Overlay.from_names(ABC, []).topic_graph("q")
