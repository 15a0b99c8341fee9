"""Completion: what is missing is added, what is there stays, and nothing is added where nothing is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import BadInput, Interests, Overlay, build
from algorithms.completion import completed, missing_links
from tests.algorithms.strategies import any_interests


@settings(max_examples=60, deadline=None)
@given(any_interests(), st.sampled_from([1, 2, 3]), st.integers(0, 3), st.floats(0, 1))
def test_any_part_of_an_overlay_is_completed(interests: Interests, k: int, seed: int, share: float) -> None:
    whole = build("gm", interests) if k == 1 else build("degree-cover", interests, k=k)
    kept = np.random.default_rng(seed).random(len(whole.links)) < share
    part = Overlay.from_links(interests, whole.links[kept])
    full = completed(part, k, seed=seed)
    assert full.is_ktco(k)
    assert set(part.link_names()) <= set(full.link_names())
    assert len(full.links) == len(part.links) + len(missing_links(part, k, seed=seed)), "no link twice"
    assert len(missing_links(full, k)) == 0


def test_from_nothing_it_is_as_good_as_weave() -> None:
    interests = Interests.from_mapping({f"b{i}": [f"t{i % 5}", f"t{i % 7}", "all"] for i in range(60)})
    nothing = Overlay.from_names(interests, [])
    assert len(missing_links(nothing)) == len(build("weave", interests).links)


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", True])
def test_k_is_a_whole_number(k: object) -> None:
    with pytest.raises(BadInput, match="k"):
        missing_links(Overlay.from_names(Interests.from_mapping({}), []), k)  # type: ignore[arg-type]
