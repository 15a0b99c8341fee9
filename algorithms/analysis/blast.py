"""Blast radius: how many topics come apart when a broker fails, before any repair, for all brokers at once."""

from __future__ import annotations

import numpy as np

from algorithms.analysis.cuts import topic_cuts
from algorithms.analysis.subgraphs import TopicSubgraphs
from algorithms.interests import Longs
from algorithms.overlay import Overlay


def blast_radii(overlay: Overlay) -> Longs:
    """For each broker, in how many topics it is an articulation broker.

    >>> from algorithms import Interests
    >>> path = Overlay.from_names(Interests.from_mapping({b: ["x"] for b in "abc"}), [("a", "b"), ("b", "c")])
    >>> blast_radii(path).tolist()
    [0, 1, 0]
    """
    cuts = topic_cuts(TopicSubgraphs.of(overlay))
    held = overlay.interests.topic_brokers[cuts.articulates]
    return np.bincount(held, minlength=len(overlay.interests.brokers))
