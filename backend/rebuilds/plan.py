"""The plan of a rebuild: which links stay, open and close, and what that does to degrees and topic diameters.

At the peak, when all new links are open and none of the old ones is closed yet, both sets are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms import Overlay, build
from algorithms.analysis import measure
from algorithms.interests import Ints
from algorithms.progress import Progress

MOST_CHANGED = 20
KEEPS = (0.0, 0.25, 0.5, 1.0)
BROKERS_FOR_A_CURVE = 20_000
"""A larger overlay takes minutes to build so many times; its plan shows the one that was asked for."""


def make_plan(before: Overlay, after: Overlay, report: Progress) -> dict[str, Any]:
    """The plan of going over from one overlay to another of the same interests."""
    report(0.0, "measuring the overlay before")
    old, new = _keys(before), _keys(after)
    peak = Overlay.from_links(before.interests, np.concatenate([before.links, after.links]))
    figures = {}
    for i, (name, overlay) in enumerate((("before", before), ("peak", peak), ("after", after))):
        report(i / 3, f"measuring the overlay {name}" if name != "peak" else "measuring the peak")
        figures[name] = _figures(overlay)
    opened = after.links[~np.isin(new, old, assume_unique=True)]
    closed = before.links[~np.isin(old, new, assume_unique=True)]
    return {
        "links": len(new),
        "kept": len(new) - len(opened),
        "opened": len(opened),
        "closed": len(closed),
        **figures,
        "most_changed": _most_changed(before, after, opened, closed),
        "keep_curve": None,
    }


def keep_curve(
    before: Overlay, after: Overlay, params: dict[str, Any], seed: int, report: Progress
) -> list[dict[str, Any]] | None:
    """How links, degrees and changes move with ``keep``; None where the builds would take too long."""
    if len(before.interests.brokers) > BROKERS_FOR_A_CURVE:
        return None
    old = _keys(before)
    rows = []
    asked = float(params.get("keep", 0.0))
    wanted = sorted({*KEEPS, asked})
    for i, keep in enumerate(wanted):
        report(i / len(wanted), f"what keep {keep:g} would give")
        if keep == asked:
            overlay = after
        else:
            overlay = build("weave", before.interests, earlier=before, seed=seed, **{**params, "keep": keep})
        new = _keys(overlay)
        kept = len(np.intersect1d(old, new, assume_unique=True))
        rows.append(
            {
                "keep": keep,
                "links": len(new),
                "opened": len(new) - kept,
                "closed": len(old) - kept,
                "average_degree": overlay.average_degree,
                "max_degree": overlay.max_degree,
            }
        )
    return rows


def _figures(overlay: Overlay) -> dict[str, Any]:
    found = measure(overlay)
    return {
        "links": found.links,
        "average_degree": found.average_degree,
        "max_degree": found.max_degree,
        "mean_diameter": found.topic_diameter_mean,
        "max_diameter": found.topic_diameter_max,
        "diameters_sampled": found.topic_diameters_sampled,
        "topics_apart": found.topics_apart,
        "degree_histogram": sorted(found.degree_histogram.items()),
    }


def _keys(overlay: Overlay) -> NDArray[np.int64]:
    """A number for each link, ascending; the same in overlays of the same brokers."""
    return overlay.links[:, 0].astype(np.int64) * len(overlay.interests.brokers) + overlay.links[:, 1]


def _most_changed(before: Overlay, after: Overlay, opened: Ints, closed: Ints) -> list[dict[str, Any]]:
    brokers = before.interests.brokers
    opens, closes = (np.bincount(links.ravel(), minlength=len(brokers)) for links in (opened, closed))
    changes = opens + closes
    was, will = before.degrees(), after.degrees()
    # Dense ids ascend with the names, so equals come in the order of their names.
    first = np.argsort(-changes, kind="stable")[:MOST_CHANGED]
    return [
        {
            "broker": brokers[v],
            "opened": int(opens[v]),
            "closed": int(closes[v]),
            "degree_before": int(was[v]),
            "degree_after": int(will[v]),
        }
        for v in first.tolist()
        if changes[v]
    ]
