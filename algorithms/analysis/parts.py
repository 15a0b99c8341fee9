"""What dividing the brokers into parts costs and saves: inner and outer links, star sets, potential neighbours.

C. Chen, H.-A. Jacobsen, R. Vitenberg, "Star merge and divide-and-conquer algorithms for publish/subscribe
topic-connected overlay design", 2010, section VII
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.errors import BadInput
from algorithms.overlay import Overlay


@dataclass(frozen=True)
class PartMeasures:
    """What :func:`measure_parts` finds.

    >>> from algorithms import Interests
    >>> overlay = Overlay.from_names(Interests.from_mapping({"a": ["x"], "b": ["x"]}), [("a", "b")])
    >>> measure_parts(overlay, np.array([0, 1])).describe()["outer_links"]
    1
    """

    parts: int
    """Parts that have brokers."""
    inner_links: int
    """Links within a part."""
    outer_links: int
    """Links across parts."""
    star_set_mean: float
    star_set_max: int
    """Stars a part."""
    pn_ratio: float
    """The largest share of all brokers that one broker may be linked to, and whose interests it has to know: those of
    its own part, and for a star the stars of all others."""

    def describe(self) -> dict[str, Any]:
        """These measures as plain JSON."""
        return asdict(self)


def measure_parts(
    overlay: Overlay, part_of_broker: NDArray[np.integer], is_star: NDArray[np.bool_] | None = None
) -> PartMeasures:
    """Measure a division of an overlay's brokers; without ``is_star`` every broker is a star, as in Naive Merge.

    >>> from algorithms import Interests
    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x"], "c": ["x"], "d": ["x"]})
    >>> overlay = Overlay.from_names(interests, [("a", "b"), ("b", "c"), ("c", "d")])
    >>> found = measure_parts(overlay, np.array([0, 0, 1, 1]), np.array([False, True, True, False]))
    >>> found.inner_links, found.outer_links, found.star_set_mean, found.pn_ratio
    (2, 1, 1.0, 0.5)
    """
    brokers = len(overlay.interests.brokers)
    stars = np.ones(brokers, np.bool_) if is_star is None else is_star
    for field, given in (("part_of_broker", part_of_broker), ("is_star", stars)):
        if given.shape != (brokers,):
            raise BadInput(
                field, f"array of shape {given.shape}", f"must have one entry for each of {brokers} brokers"
            )
    _, part = np.unique(part_of_broker, return_inverse=True)
    sizes = np.bincount(part)
    star_sizes = np.bincount(part[stars], minlength=len(sizes))
    known = sizes[part] - 1 + np.where(stars, stars.sum() - star_sizes[part], 0)
    ends = part[overlay.links]
    inner = int((ends[:, 0] == ends[:, 1]).sum())
    return PartMeasures(
        parts=len(sizes),
        inner_links=inner,
        outer_links=len(overlay.links) - inner,
        star_set_mean=float(star_sizes.mean()) if len(sizes) else 0.0,
        star_set_max=int(star_sizes.max(initial=0)),
        pn_ratio=float(known.max() / brokers) if brokers else 0.0,
    )
