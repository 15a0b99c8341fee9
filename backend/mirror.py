"""The mirror: the live overlay in memory, with per-topic analyses kept until a change touches the topic.

Reads take the mirror of the moment and work on it in threads; it never changes under them, because a change makes a
new mirror.
"""

from __future__ import annotations

from functools import cached_property

from algorithms import Overlay
from algorithms.analysis import TopicAnalysis, topic_analysis
from backend.errors import NotFound
from backend.store import Policy, StoredOverlay


class Mirror:
    """One version of the overlay, and what was asked of it so far."""

    def __init__(self, stored: StoredOverlay) -> None:
        self.version: int = stored.version
        self.policy: Policy = stored.policy
        self.overlay: Overlay = stored.overlay
        self._analyses: dict[str, TopicAnalysis] = {}

    def topic(self, name: str) -> TopicAnalysis:
        """The analysis of one topic."""
        known = self._analyses.get(name)
        if known is None:
            if name not in self.topic_sizes:
                raise NotFound(f"topic: no such topic (got {name!r})", field="topic")
            known = self._analyses[name] = topic_analysis(self.overlay, name)
        return known

    @cached_property
    def topic_sizes(self) -> dict[str, int]:
        """Subscribers by topic, in the order of the names."""
        interests = self.overlay.interests
        return dict(zip(interests.topics, interests.topic_sizes().tolist(), strict=True))

    @cached_property
    def topics_apart(self) -> list[str]:
        """The topics that are not connected; none, unless somebody edited the database by hand."""
        return self.overlay.topics_apart()

    @cached_property
    def degree_histogram(self) -> list[tuple[int, int]]:
        """(degree, brokers of that degree), ascending, without empty degrees."""
        degrees = self.overlay.degrees()
        counts = [0] * (int(degrees.max(initial=0)) + 1)
        for degree in degrees.tolist():
            counts[degree] += 1
        return [(degree, count) for degree, count in enumerate(counts) if count]
