"""What a topology that exists is worth: is every topic connected, at what degrees, against a fresh build."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

import algorithms
from algorithms import Interests, Overlay
from algorithms.completion import completed
from algorithms.components import common_slots
from algorithms.progress import Progress, silent

TOPICS_NAMED = 20
HUBS_NAMED = 10
LINKS_NAMED = 1000


def figures(overlay: Overlay) -> dict[str, Any]:
    """Links and degrees."""
    return {
        "links": len(overlay.links),
        "average_degree": overlay.average_degree,
        "max_degree": overlay.max_degree,
    }


def build_fresh(name: str, interests: Interests, k: int, progress: Progress = silent) -> Overlay:
    """A new overlay by an algorithm of the registry, a kTCO whatever the algorithm promises."""
    chosen = algorithms.find_algorithm(name)
    overlay = algorithms.build(name, interests, progress=progress, **chosen.asked_for(k))
    return overlay if overlay.is_ktco(k) else completed(overlay, k)


def without_idle_links(overlay: Overlay) -> tuple[Overlay, list[tuple[str, str]]]:
    """The overlay without links whose ends share no topic, and those links: they carry nothing."""
    interests = overlay.interests
    room = np.empty((2, int(interests.broker_sizes().max(initial=0))), np.int64)
    start, topics = interests.broker_start, interests.broker_topics
    serves = np.array(
        [common_slots(start, topics, a, b, room[0], room[1]) > 0 for a, b in overlay.links.tolist()], bool
    )
    names = interests.brokers
    idle = [(names[a], names[b]) for a, b in overlay.links[~serves].tolist()]
    return (Overlay.from_links(interests, overlay.links[serves]), idle) if idle else (overlay, [])


def published(k: int) -> str:
    """The algorithm of the papers that a topology is measured by, whatever the policy builds with."""
    return "gm" if k == 1 else "gm2"


def score(overlay: Overlay, fresh: Overlay, algorithm: str, classic: Overlay, k: int) -> dict[str, Any]:
    """What operators want to know before they adopt a topology.

    ``fresh``: what the policy's algorithm would build; ``classic``: what the :func:`published` one would.
    """
    interests = overlay.interests
    components = overlay.topic_components()
    apart = np.flatnonzero(components > 1)
    apart = apart[np.argsort(-components[apart], kind="stable")]
    sizes = interests.topic_sizes()
    weak = overlay.topics_below(k) if k > 1 else []
    degrees, fresh_degrees = overlay.degrees(), fresh.degrees()
    hubs = np.argsort(-degrees, kind="stable")[:HUBS_NAMED].tolist()
    return {
        **figures(overlay),
        "k": k,
        "tco": not len(apart),
        "ktco": not len(apart) and not weak,
        "topics_apart": len(apart),
        "topics_apart_first": [
            {"topic": interests.topics[t], "subscribers": int(sizes[t]), "components": int(components[t])}
            for t in apart[:TOPICS_NAMED].tolist()
        ],
        "topics_below_k": len(weak) if k > 1 else len(apart),
        "topics_below_k_first": [asdict(topic) for topic in weak[:TOPICS_NAMED]],
        "hubs": [
            {
                "broker": interests.brokers[v],
                "degree": int(degrees[v]),
                "degree_in_fresh": int(fresh_degrees[v]),
            }
            for v in hubs
            if degrees[v]
        ],
        "fresh": {"algorithm": algorithm, **figures(fresh)},
        "links_to_fresh": _share(overlay, fresh),
        "published": {"algorithm": published(k), **figures(classic)},
        "links_to_published": _share(overlay, classic),
    }


def _share(overlay: Overlay, other: Overlay) -> float | None:
    return len(overlay.links) / len(other.links) if len(other.links) else None
