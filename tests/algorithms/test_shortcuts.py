"""Shortcuts: new links only, within every limit, and smaller topic diameters for no more links than GM."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import Interests, build
from algorithms.analysis import measure
from algorithms.shortcuts import A_BROKER, ABOVE_MEAN, shortcuts
from algorithms.workloads import Distribution, generate
from tests.algorithms.strategies import any_interests
from tests.algorithms.twins.steps import topics_by_broker


@given(any_interests(), st.integers(0, 9))
@settings(max_examples=80, deadline=None)
def test_new_links_within_the_limits(interests: Interests, most: int) -> None:
    links = build("weave", interests).links
    more = shortcuts(interests, links, most)
    assert len(more) <= most
    both = set(map(tuple, np.concatenate([links, more]).tolist()))
    assert len(both) == len(links) + len(more)
    topics = topics_by_broker(interests)
    overlap = [len(topics[v] & topics[w]) for v, w in more]
    assert overlap == sorted(overlap, reverse=True)
    assert all(common > 1 for common in overlap)
    if len(more):
        assert np.bincount(more.ravel()).max() <= A_BROKER
        degree = np.bincount(np.concatenate([links, more]).ravel())
        mean = 2 * len(links) / len(interests.brokers)
        assert degree[more.ravel()].max() <= mean + ABOVE_MEAN


@pytest.mark.parametrize("distribution", ["uniform", "zipf", "exponential"])
def test_shorter_than_greedy_merge_for_no_more_links(distribution: Distribution) -> None:
    interests = generate(brokers=400, topics=100, subscriptions=20, distribution=distribution, seed=1)
    merged, woven = build("gm", interests), build("weave", interests)
    half, whole = (build("weave", interests, shortcuts=share) for share in (0.5, 1))
    assert len(woven.links) < len(half.links) < len(whole.links) <= len(merged.links)
    spans = [measure(overlay).topic_diameter_mean or 0.0 for overlay in (woven, half, whole)]
    assert spans == sorted(spans, reverse=True)
    assert spans[-1] < (measure(merged).topic_diameter_mean or 0.0)
