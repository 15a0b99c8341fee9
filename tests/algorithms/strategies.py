"""Hypothesis strategies for small interests of every shape that has tripped an implementation."""

from __future__ import annotations

from hypothesis import strategies as st

from algorithms import Interests

Draw = st.DrawFn

NOTHING_TO_LINK: list[dict[str, list[str]]] = [{}, {"a": []}, {"a": ["x"]}, {"a": ["x"], "b": ["y"], "c": []}]
"""Interests whose every overlay has no links."""


@st.composite
def uniform_interests(draw: Draw, max_brokers: int = 9, max_topics: int = 7) -> Interests:
    """Every broker picks any set of topics, often none."""
    topics = draw(st.integers(1, max_topics))
    chosen = draw(st.lists(st.sets(st.integers(0, topics - 1)), min_size=1, max_size=max_brokers))
    return named(chosen)


@st.composite
def skewed_interests(draw: Draw, max_brokers: int = 9, max_topics: int = 7) -> Interests:
    """Low topics are popular and one or two brokers subscribe to nearly all: heavy tails both ways."""
    topics = draw(st.integers(2, max_topics))
    brokers = draw(st.integers(2, max_brokers))
    chosen = []
    for v in range(brokers):
        if v < draw(st.integers(0, 2)):
            chosen.append(set(range(topics)) - draw(st.sets(st.integers(0, topics - 1), max_size=1)))
        else:
            # The smaller of two draws: topic 0 is the most popular.
            pairs = draw(
                st.lists(st.tuples(st.integers(0, topics - 1), st.integers(0, topics - 1)), max_size=3)
            )
            chosen.append({min(a, b) for a, b in pairs})
    return named(chosen)


@st.composite
def lonely_topics(draw: Draw, max_brokers: int = 8, max_topics: int = 6) -> Interests:
    """Interests in which some topics have one subscriber, as half of the topics of real interests do."""
    chosen = _sets(draw(uniform_interests(max_brokers, max_topics)))
    for v in draw(st.lists(st.integers(0, len(chosen) - 1), min_size=1, max_size=4)):
        chosen[v] = chosen[v] | {100 + v}
    return named(chosen)


@st.composite
def everyone_in_one_topic(draw: Draw, max_brokers: int = 9, max_topics: int = 6) -> Interests:
    """One topic that every broker subscribes to, and others."""
    return named([topics | {1000} for topics in _sets(draw(uniform_interests(max_brokers, max_topics)))])


@st.composite
def separate_interests(draw: Draw, max_brokers: int = 5, max_topics: int = 4) -> Interests:
    """Two or three groups of brokers with no topic in common: several components of the bipartite graph."""
    chosen: list[set[int]] = []
    for group in range(draw(st.integers(2, 3))):
        chosen += [
            {50 * group + t for t in topics}
            for topics in _sets(draw(uniform_interests(max_brokers, max_topics)))
        ]
    return named(draw(st.permutations(chosen)))


@st.composite
def equal_brokers(draw: Draw, max_brokers: int = 8, max_topics: int = 5) -> Interests:
    """Brokers that all have the same topics: nothing but ties."""
    topics = set(range(draw(st.integers(1, max_topics))))
    return named([topics] * draw(st.integers(1, max_brokers)))


def any_interests() -> st.SearchStrategy[Interests]:
    """Small interests of any shape, brokers without topics included."""
    return st.one_of(
        uniform_interests(),
        skewed_interests(),
        lonely_topics(),
        everyone_in_one_topic(),
        separate_interests(),
        equal_brokers(),
    )


@st.composite
def divided_interests(draw: Draw, max_parts: int = 4) -> tuple[Interests, list[int]]:
    """Interests and the part of each broker; a part may be empty."""
    interests = draw(any_interests())
    size = len(interests.brokers)
    return interests, draw(st.lists(st.integers(0, max_parts - 1), min_size=size, max_size=size))


def named(chosen: list[set[int]]) -> Interests:
    """Interests from one set of topic numbers a broker; names keep the order of the numbers."""
    return Interests.from_mapping(
        {f"b{v:03d}": [f"t{t:04d}" for t in sorted(topics)] for v, topics in enumerate(chosen)}
    )


def _sets(interests: Interests) -> list[set[int]]:
    return [{int(topic[1:]) for topic in interests.topics_of(broker)} for broker in interests.brokers]
