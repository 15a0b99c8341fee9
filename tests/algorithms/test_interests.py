"""Interests: ids apart from dense ints, rows both ways, and what cannot be an id."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algorithms import BadInput, Interests
from tests.algorithms.strategies import any_interests


@given(any_interests())
def test_rows_and_columns_hold_the_same_relation(interests: Interests) -> None:
    by_broker = {(b, t) for b in interests.brokers for t in interests.topics_of(b)}
    by_topic = {(b, t) for t in interests.topics for b in interests.subscribers_of(t)}
    assert by_broker == by_topic
    assert len(by_broker) == interests.subscriptions
    assert interests.broker_sizes().sum() == interests.topic_sizes().sum() == interests.subscriptions
    for v in range(len(interests.brokers)):
        row = interests.broker_topics[interests.broker_start[v] : interests.broker_start[v + 1]]
        assert (np.diff(row) > 0).all()
    for t in range(len(interests.topics)):
        assert (np.diff(interests.subscriber_indices(t)) > 0).all()


@given(
    st.dictionaries(
        st.text("ab1☃é /'", min_size=1, max_size=4), st.sets(st.text("xyz0", min_size=1, max_size=2))
    )
)
def test_dense_ids_are_ranks_in_code_point_order(topics_by_broker: dict[str, set[str]]) -> None:
    interests = Interests.from_mapping(topics_by_broker)
    assert list(interests.brokers) == sorted(topics_by_broker)
    assert list(interests.topics) == sorted(set().union(*topics_by_broker.values()))
    for broker, topics in topics_by_broker.items():
        assert interests.topics_of(broker) == sorted(topics)


def test_the_order_of_rows_does_not_matter() -> None:
    one = Interests.from_rows(["b", "a", "b"], ["x", "x", "y"])
    other = Interests.from_rows(["b", "b", "a"], ["y", "x", "x"])
    assert one.brokers == other.brokers
    assert one.broker_topics.tolist() == other.broker_topics.tolist()
    assert one.topic_brokers.tolist() == other.topic_brokers.tolist()


def test_duplicate_rows_are_collapsed_and_counted() -> None:
    interests = Interests.from_rows(["a", "a", "b", "a"], ["x", "x", "x", "x"])
    assert (interests.subscriptions, interests.duplicates) == (2, 2)


def test_ids_that_look_like_numbers_stay_strings() -> None:
    interests = Interests.from_mapping({"10": ["1"], "9": ["1", "01"], "009": ["1e3"]})
    assert interests.brokers == ("009", "10", "9")
    assert interests.topics_of("9") == ["01", "1"]


def test_a_broker_without_topics_is_a_broker() -> None:
    interests = Interests.from_mapping({"a": [], "b": ["x"]})
    assert interests.topics_of("a") == []
    assert interests.broker_sizes().tolist() == [0, 1]


def test_nothing_at_all() -> None:
    interests = Interests.from_mapping({})
    assert (interests.brokers, interests.topics, interests.subscriptions) == ((), (), 0)
    assert interests.topic_sizes().tolist() == []


def test_arrays_are_read_only_and_of_the_stated_types() -> None:
    interests = Interests.from_mapping({"a": ["x"], "b": ["x"]})
    for array in (
        interests.broker_start,
        interests.broker_topics,
        interests.topic_start,
        interests.topic_brokers,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert interests.broker_start.dtype == interests.topic_start.dtype == np.int64
    assert interests.broker_topics.dtype == interests.topic_brokers.dtype == np.int32


def test_ten_thousand_subscriptions_on_one_broker() -> None:
    interests = Interests.from_mapping({"hub": [f"t{t}" for t in range(10_000)], "leaf": ["t7"]})
    assert interests.broker_sizes().tolist() == [10_000, 1]
    assert interests.subscribers_of("t7") == ["hub", "leaf"]


UNFIT = [
    ("", "an id cannot be empty"),
    (".", "cannot stand in a URL path"),
    ("..", "cannot stand in a URL path"),
    ("a\nb", "no control characters"),
    ("a\tb", "no control characters"),
    ("nul\x00", "no control characters"),
    ("\x7f", "no control characters"),
    ("\ud800", "no control characters"),
    ("x" * 257, "at most 256 characters"),
]


@pytest.mark.parametrize(("unfit", "reason"), UNFIT, ids=[repr(unfit[:6]) for unfit, _ in UNFIT])
def test_unfit_ids_are_refused_by_field(unfit: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as broker:
        Interests.from_mapping({unfit: ["x"]})
    with pytest.raises(BadInput, match=reason) as topic:
        Interests.from_mapping({"a": [unfit]})
    assert (broker.value.field, topic.value.field) == ("broker", "topic")
    assert broker.value.value == unfit


@pytest.mark.parametrize(
    "fit", ["x" * 256, "...", "/sensing/lidar", "a b", 'quote"s', "it's", "%2F", "日本", "🚀", "-1"]
)
def test_unusual_ids_are_fine(fit: str) -> None:
    assert Interests.from_mapping({fit: [fit]}).subscribers_of(fit) == [fit]


def test_an_id_is_a_string() -> None:
    with pytest.raises(BadInput, match="an id is a string"):
        Interests.from_mapping({1: ["x"]})  # type: ignore[dict-item]


def test_unknown_names_are_named() -> None:
    interests = Interests.from_mapping({"a": ["x"]})
    for ask, field in ((interests.topics_of, "broker"), (interests.subscribers_of, "topic")):
        with pytest.raises(BadInput, match=f"no such {field}") as error:
            ask("q")
        assert (error.value.field, error.value.value) == (field, "q")


def test_dense_rows_need_ascending_ids() -> None:
    rows = np.zeros(1, np.int32)
    with pytest.raises(BadInput, match="ids must ascend"):
        Interests.from_dense(["b", "a"], ["x"], rows, rows)
