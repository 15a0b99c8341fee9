"""MinMax-ODA and Low-ODA: topic-connected overlays of low maximum degree.

At each step two pairs compete: e1, the best of those that do not raise the maximum degree of the overlay, and e2, the
best of all. MinMax-ODA takes e1 as long as there is one; Low-ODA takes it if rho times its contribution is at least
e2's (low, Algorithm 1). A pair that contributes nothing is never taken, which MinMax-ODA as worded would do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.engine import UNBOUNDED, Limits, connect_low_degree
from algorithms.interests import Interests
from algorithms.progress import Progress
from algorithms.registry import MEMORY, Parameter, algorithm

RHO = Parameter(
    "rho",
    float,
    3.0,
    "how many times as much a link must contribute to be allowed to raise the maximum degree",
    minimum=1,
)


@algorithm(
    "minmax-oda",
    summary="Always the best link that does not raise the maximum degree",
    guarantee="topic-connected; maximum degree at most a logarithmic factor above the lowest possible",
    paper="Onus and Richa 2009; 2016, section 1.1 (low-oda-2d-oda)",
    parameters=(MEMORY,),
)
def minmax_oda(
    interests: Interests, *, seed: int, progress: Progress, memory_mb: int = 2048
) -> NDArray[np.int32]:
    """MinMax-ODA: Low-ODA for an unbounded rho."""
    return connect_low_degree(
        interests, rho=UNBOUNDED, seed=seed, limits=Limits(memory_mb), progress=progress
    ).links


@algorithm(
    "low-oda",
    summary="The best link that keeps the maximum degree, unless another contributes more than rho times as much",
    guarantee="topic-connected; average and maximum degree both sublinear factors above the lowest possible",
    paper="Onus and Richa 2016, Algorithm 1 (low-oda-2d-oda)",
    parameters=(RHO, MEMORY),
)
def low_oda(
    interests: Interests, *, seed: int, progress: Progress, rho: float = 3.0, memory_mb: int = 2048
) -> NDArray[np.int32]:
    """Low-ODA; rho = 1 is GM with ties broken by degree."""
    return connect_low_degree(
        interests, rho=min(rho, UNBOUNDED), seed=seed, limits=Limits(memory_mb), progress=progress
    ).links
