"""The measures of a whole overlay: what it costs (degrees) and what it gives (diameters, what a failure breaks)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from algorithms.analysis.cuts import topic_cuts
from algorithms.analysis.diameters import APART, VISITS, topic_diameters
from algorithms.analysis.subgraphs import TopicSubgraphs
from algorithms.interests import Interests
from algorithms.overlay import Overlay


@dataclass(frozen=True)
class Measures:
    """What :func:`measure` finds. Diameters are over connected topics of two subscribers or more, else None.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"]})
    >>> found = measure(Overlay.from_names(interests, [("a", "b")]))
    >>> found.topics_apart, found.topic_components, found.degree_histogram, found.describe()["links"]
    (1, 2, {0: 1, 1: 2}, 1)
    """

    brokers: int
    topics: int
    subscriptions: int
    links: int
    average_degree: float
    max_degree: int
    forced_max_degree: int
    """No topic-connected overlay of these interests has a lower maximum degree: see :func:`forced_degrees`."""
    degree_histogram: dict[int, int]
    """How many brokers have each degree that occurs."""
    topics_apart: int
    topic_components: int
    """Over all topics; equals the number of topics when none is apart."""
    topic_diameter_max: int | None
    topic_diameter_mean: float | None
    topic_diameters_sampled: int
    """How many of the diameters are sampled, that is lower bounds."""
    topic_blocks: int
    articulation_brokers: int
    """Brokers whose failure would cut at least one topic apart."""
    topics_with_articulation: int
    """Topics that the failure of one broker would cut apart, or further apart."""
    bridges: int
    """Links whose loss would cut at least one topic apart."""

    def describe(self) -> dict[str, Any]:
        """These measures as plain JSON."""
        return asdict(self)


def measure(overlay: Overlay, *, visits: int = VISITS) -> Measures:
    """Measure an overlay; ``visits`` bounds the work spent on the diameter of one topic.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x", "y"]})
    >>> found = measure(Overlay.from_names(interests, [("a", "b"), ("b", "c")]))
    >>> found.max_degree, found.forced_max_degree, found.topic_diameter_max, found.articulation_brokers
    (2, 1, 2, 1)
    """
    interests = overlay.interests
    sizes = interests.topic_sizes()
    graphs = TopicSubgraphs.of(overlay)
    components = overlay.topic_components()
    mean, largest, sampled = _spans(graphs, visits)
    cuts = topic_cuts(graphs)
    degrees, counts = np.unique(overlay.degrees(), return_counts=True)
    cut_topics = np.repeat(np.arange(len(sizes)), sizes)[cuts.articulates]
    return Measures(
        brokers=len(interests.brokers),
        topics=len(interests.topics),
        subscriptions=interests.subscriptions,
        links=len(overlay.links),
        average_degree=overlay.average_degree,
        max_degree=overlay.max_degree,
        forced_max_degree=int(forced_degrees(interests).max(initial=0)),
        degree_histogram=dict(zip(degrees.tolist(), counts.tolist(), strict=True)),
        topics_apart=int((components > 1).sum()),
        topic_components=int(components.sum()),
        topic_diameter_max=largest,
        topic_diameter_mean=mean,
        topic_diameters_sampled=sampled,
        topic_blocks=int(cuts.blocks.sum()),
        articulation_brokers=len(np.unique(interests.topic_brokers[cuts.articulates])),
        topics_with_articulation=len(np.unique(cut_topics)),
        bridges=len(np.unique(cuts.bridge_ends, axis=0)),
    )


def overlay_diameters(overlay: Overlay, visits: int = VISITS) -> tuple[float | None, int | None, int]:
    """The mean and the largest topic diameter, and how many were sampled, that is are lower bounds.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["x", "y"]})
    >>> overlay_diameters(Overlay.from_names(interests, [("a", "b"), ("b", "c")]))
    (1.5, 2, 0)
    """
    return _spans(TopicSubgraphs.of(overlay), visits)


def _spans(graphs: TopicSubgraphs, visits: int) -> tuple[float | None, int | None, int]:
    diameters, sampled = topic_diameters(graphs, visits)
    spans = diameters[(diameters != APART) & (graphs.interests.topic_sizes() > 1)]
    if not len(spans):
        return None, None, int(sampled.sum())
    return float(spans.mean()), int(spans.max()), int(sampled.sum())


def forced_degrees(interests: Interests) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many links each broker must have in any topic-connected overlay, because of its topics of two subscribers.

    >>> forced_degrees(Interests.from_mapping({"a": ["x", "y"], "b": ["x"], "c": ["y"]})).tolist()
    [2, 1, 1]
    """
    firsts = interests.topic_start[:-1][interests.topic_sizes() == 2]
    ends = np.stack([interests.topic_brokers[firsts], interests.topic_brokers[firsts + 1]], axis=1)
    return np.bincount(np.unique(ends, axis=0).ravel(), minlength=len(interests.brokers))
