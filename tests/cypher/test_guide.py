"""The Cypher guide stays true: its statements run, its list of questions is the library, its commands exist."""

from __future__ import annotations

import re
import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import neo4j
import pytest

from backend.cli import topicweave
from backend.settings import Settings
from cypher.library import parse, queries

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "cypher.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.neo4j
@pytest.mark.parametrize("text", blocks("cypher"))
def test_a_statement_of_the_guide_answers(stored: neo4j.Driver, text: str) -> None:
    with stored.session(default_access_mode=neo4j.READ_ACCESS) as session:
        found = session.run(neo4j.Query(text), {"topic": "t01", "broker": "still-hub"}).data()
    assert 1 < len(found) <= 10


def test_the_guide_lists_the_library() -> None:
    listed = re.findall(r"^\| `(\w+)` \| (.+?) \| (.*?) ?\|$", GUIDE, re.MULTILINE)
    assert listed == [
        (query.name, query.title, ", ".join(f"`{one.name}`" for one in query.parameters))
        for query in queries().values()
    ]


def test_the_commands_of_the_guide_exist() -> None:
    commands = [
        line for block in blocks("sh") for line in block.splitlines() if line.startswith("topicweave")
    ]
    assert len(commands) >= 5
    for line in commands:
        _, name, *arguments = shlex.split(line, comments=True)
        command = topicweave.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        context = command.make_context(name, arguments, resilient_parsing=False)
        asked = context.params["name"]
        if asked is not None:
            known = {one.name for one in queries()[asked].parameters}
            assert {text.partition("=")[0] for text in context.params["given"]} <= known


def test_the_head_shown_can_be_read() -> None:
    (head,) = blocks("text")
    assert parse("shown", head + "RETURN 1").parameters[0].default == 20


def test_the_limits_named_are_the_defaults() -> None:
    fields = Settings.model_fields
    assert f"ends after {fields['query_seconds'].default:g} s" in GUIDE
    assert f"at most {fields['query_rows'].default:,} rows" in GUIDE


def test_the_guide_names_every_label_there_is() -> None:
    statements = "".join(
        file.read_text(encoding="utf-8") for file in (DOCS.parent / "cypher").rglob("*.cypher")
    )
    labels = set(re.findall(r"\(\w*:([A-Z]\w+)", statements))
    assert labels >= {"Broker", "Topic", "Overlay", "Change", "Rebuild"}
    assert labels == set(re.findall(r"\(:([A-Z]\w+)", GUIDE[: GUIDE.index("## Four ways")]))


def test_the_picture_shows_what_the_graph_has() -> None:
    shown = " ".join(ElementTree.parse(DOCS / "images" / "graph-schema.svg").getroot().itertext())
    for word in (
        *("Broker", "Topic", "Overlay", "Change", "Rebuild"),
        *("SUBSCRIBES", "LINK", "BACKED_UP_BY", "CANDIDATE"),
    ):
        assert word in shown
        assert word in GUIDE
