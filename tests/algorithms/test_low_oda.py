"""MinMax-ODA and Low-ODA as users call them."""

from __future__ import annotations

import pytest

from algorithms import BadInput, build
from tests.algorithms.instances import lemma_1
from tests.algorithms.test_gm import random_interests


@pytest.mark.parametrize("rho", [0.99, 0, -1, "nan", "many", None])
def test_bad_rho_is_named(rho: object) -> None:
    with pytest.raises(BadInput) as caught:
        build("low-oda", random_interests(5, 3, 2), rho=rho)
    assert caught.value.field == "rho"


def test_minmax_takes_no_rho() -> None:
    with pytest.raises(BadInput, match="rho"):
        build("minmax-oda", random_interests(5, 3, 2), rho=3)


def test_a_larger_rho_trades_links_for_degree() -> None:
    interests = lemma_1(12)
    links = [len(build("low-oda", interests, rho=rho).links) for rho in (1, 2, 100)]
    degrees = [build("low-oda", interests, rho=rho).max_degree for rho in (1, 2, 100)]
    assert links == sorted(links)
    assert degrees == sorted(degrees, reverse=True)
    assert len(build("minmax-oda", interests).links) == links[-1]


def test_an_enormous_rho_is_minmax() -> None:
    interests = random_interests(80, 12, 5)
    assert (build("low-oda", interests, rho=1e300).links == build("minmax-oda", interests).links).all()
