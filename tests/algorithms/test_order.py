"""Orders and parts from a hash of the id: stable for ever, uniform, and free of everything but seed and id."""

from __future__ import annotations

import numpy as np

from algorithms import Interests
from algorithms.order import id_hashes, random_parts, random_ranks, seeded, subscription_hashes

IDS = [f"b{v:05d}" for v in range(20_000)]


def test_hashes_never_change() -> None:
    """Other engines and older installations rely on these very numbers."""
    assert [f"{h:016x}" for h in id_hashes(["a", "b", "ü/é ☃"])] == [
        "2f42665b399ef840",
        "754f854de3c27284",
        "4d1d17ca0d131355",
    ]
    assert [f"{h:016x}" for h in seeded(id_hashes(["a", "b"]), 1)] == ["4ab49d48e8a606b8", "babb416aed1b6c3e"]
    assert len(id_hashes([])) == 0


def test_a_broker_keeps_its_part_whoever_else_is_there() -> None:
    alone = random_parts(id_hashes(IDS[500:600]), seed=3, parts=7)
    among_all = random_parts(id_hashes(IDS), seed=3, parts=7)[500:600]
    assert (alone == among_all).all()


def test_parts_are_even_and_seeds_independent() -> None:
    hashes = id_hashes(IDS)
    counts = np.bincount(random_parts(hashes, seed=1, parts=8), minlength=8)
    assert counts.sum() == 20_000
    assert np.abs(counts - 2_500).max() < 250
    together = random_parts(hashes, 1, 8) == random_parts(hashes, 2, 8)
    assert abs(together.mean() - 1 / 8) < 0.02


def test_ranks_are_a_permutation_that_seed_and_stream_choose() -> None:
    hashes = id_hashes(IDS)
    first = random_ranks(hashes, seed=5)
    assert sorted(first.tolist()) == list(range(len(IDS)))
    for other in (random_ranks(hashes, seed=6), random_ranks(hashes, seed=5, stream=1), np.arange(len(IDS))):
        assert abs(np.corrcoef(first, other)[0, 1]) < 0.05
    assert (random_ranks(hashes, seed=2**63 - 1) != first).any()


def test_each_topic_has_an_order_of_its_own() -> None:
    interests = Interests.from_mapping({name: ["x", "y"] for name in IDS[:2_000]})
    x, y = subscription_hashes(interests, 0).reshape(2, -1)
    assert abs(np.corrcoef(np.argsort(np.argsort(x)), np.argsort(np.argsort(y)))[0, 1]) < 0.1
