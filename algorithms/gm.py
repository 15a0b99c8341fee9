"""GM, the greedy merge algorithm: the link that joins most topic components, again and again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.interests import Interests
from algorithms.registry import Progress, algorithm


@algorithm(
    "gm",
    summary="Greedy merge: always the link that joins most topic components",
    guarantee="topic-connected; links at most a logarithmic factor above the fewest possible",
    paper="Chockler et al. 2007, Algorithms 1-3 (greedy-merge-min-tco)",
)
def greedy_merge(interests: Interests, *, seed: int, progress: Progress) -> NDArray[np.int32]:
    """Exact GM by recomputing every pair: for tiny interests only."""
    subscribed = np.zeros((len(interests.brokers), len(interests.topics)), bool)
    for t in range(len(interests.topics)):
        subscribed[interests.subscriber_indices(t), t] = True
    label = np.where(subscribed, np.arange(len(interests.brokers))[:, None], -1)
    links: list[tuple[int, int]] = []
    while True:
        best, pair = 0, (0, 0)
        for v in range(len(interests.brokers)):
            gain = (subscribed[v] & subscribed[v + 1 :] & (label[v] != label[v + 1 :])).sum(axis=1)
            if len(gain) and gain.max() > best:
                best, pair = int(gain.max()), (v, v + 1 + int(gain.argmax()))
        if not best:
            return np.array(links, np.int32).reshape(-1, 2)
        v, w = pair
        for t in np.flatnonzero(subscribed[v] & subscribed[w] & (label[v] != label[w])):
            label[label[:, t] == label[w, t], t] = label[v, t]
        links.append(pair)
        progress(0.0, "joining topic components")
