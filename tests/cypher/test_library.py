"""The heads of the analysts' library: what they say is what the statements do."""

from __future__ import annotations

import re

import pytest

from cypher.library import BadHead, Query, parse, queries

LIBRARY = queries()
GOOD = """// Who?
//
// Group: degrees
// Parameters:
//   $limit (integer, default 20, at least 1): rows
// Columns:
//   broker: its id
// Example:
//   :param limit => 20
MATCH (b:Broker) RETURN b.id AS broker LIMIT $limit
"""


def statement(query: Query) -> str:
    return "\n".join(line for line in query.cypher.splitlines() if not line.startswith("//"))


def test_there_are_questions_enough() -> None:
    assert len(LIBRARY) >= 25
    assert len({query.title for query in LIBRARY.values()}) == len(LIBRARY)
    assert {query.group for query in LIBRARY.values()} == {
        *("overlay", "degrees", "interests", "links", "robustness"),
        *("backups", "agents", "history", "rebuilds"),
    }


def test_what_people_ask_first_is_there() -> None:
    assert set(LIBRARY) >= {
        *("degree_distribution", "hubs", "max_degree_growth"),
        *("topics_by_size", "unlinked_pairs", "idle_topics", "equal_interests"),
        *("links_for_one_topic", "links_by_topics", "links_between"),
        *("topics_on_one_broker", "brokers_splitting_topics", "topic_path"),
        *("busy_backups", "churn_by_day", "who_changed_what", "overlay_at_version", "rebuild_against_live"),
    }


@pytest.mark.parametrize("name", LIBRARY)
def test_the_parameters_described_are_those_used(name: str) -> None:
    query = LIBRARY[name]
    assert set(re.findall(r"\$(\w+)", statement(query))) == {parameter.name for parameter in query.parameters}
    assert all(parameter.example is not None for parameter in query.parameters)


@pytest.mark.parametrize("name", LIBRARY)
def test_the_file_is_one_reading_statement(name: str) -> None:
    text = statement(LIBRARY[name])
    assert ";" not in LIBRARY[name].cypher
    assert not re.search(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|DROP|LOAD|apoc|gds)\b", text)
    assert "//" not in text
    assert re.fullmatch(r"[a-z_]+", name)
    assert max(map(len, LIBRARY[name].cypher.splitlines())) <= 160


@pytest.mark.parametrize("name", LIBRARY)
def test_what_scans_the_history_says_so(name: str) -> None:
    """Changes are found by version or by time; a list in them is found by looking through."""
    scans = re.search(r"\(\w*:Change\)", LIBRARY[name].cypher) is not None
    assert ("Looks through " in LIBRARY[name].notes) is scans


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("// Who?", "// Who", "question mark"),
        ("// Group: degrees\n", "", "Group"),
        ("(integer, default 20, at least 1)", "(whole, default 20)", "cannot be read"),
        ("at least 1", "above 1", "above 1"),
        ("default 20", "default twenty", "twenty"),
        ("//   broker: its id\n", "", "no column"),
        ("//   :param limit => 20\n", "", "every parameter"),
        (":param limit => 20", ":param size => 20", "every parameter"),
        ("// Parameters:", "// Settings:", "Settings:"),
    ],
)
def test_a_head_that_cannot_be_read_is_named(old: str, new: str, said: str) -> None:
    assert parse("who", GOOD).parameters[0].default == 20
    with pytest.raises(BadHead, match=re.escape(said)) as error:
        parse("who", GOOD.replace(old, new))
    assert str(error.value).startswith("who.cypher: ")
