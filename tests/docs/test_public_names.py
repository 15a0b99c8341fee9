"""Every name that the library offers shows itself at work: a doctest each, which tests/algorithms runs.

What is public is decided in docs/decisions/0090-documents.md, which names these modules.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import algorithms
from algorithms import Interests, Overlay

LIBRARY = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
MODULES = [
    "algorithms",
    *("algorithms.live", "algorithms.churn", "algorithms.analysis", "algorithms.files"),
    *("algorithms.workloads", "algorithms.completion", "algorithms.bound", "algorithms.live.drift"),
    *("algorithms.analysis.k_connectivity", "algorithms.prune", "algorithms.shortcuts"),
    *("algorithms.merge", "algorithms.star_sets", "algorithms.divide_conquer", "algorithms.bulk"),
]
DECISION = (Path(__file__).parents[2] / "docs" / "decisions" / "0090-documents.md").read_text(
    encoding="utf-8"
)
ALIASES = {"Progress", "Distribution", "Sizes", "Floats", "Kind"}
"""Types of parameters have no docstring of their own."""
OWN = {"Steps"}
"""What a plan carries for the overlay that made it, in that overlay's own numbers."""


def public_names() -> list[tuple[str, str]]:
    found: dict[int, tuple[str, str]] = {}
    for name in MODULES:
        module = importlib.import_module(name)
        own = [n for n, value in vars(module).items() if getattr(value, "__module__", None) == name]
        for public in getattr(module, "__all__", None) or [n for n in own if not n.startswith("_")]:
            if public not in ALIASES:
                found.setdefault(id(getattr(module, public)), (name, public))
    return list(found.values())


def examples(value: object) -> str:
    """The code of the examples in a docstring."""
    return "".join(
        example.source for example in doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")
    )


@pytest.mark.parametrize(("module", "name"), public_names())
def test_a_public_name_has_an_example_that_uses_it(module: str, name: str) -> None:
    value = getattr(importlib.import_module(module), name)
    shown = examples(value)
    maker = {"Bound": "lower_bound", "Measures": "measure", "PartMeasures": "measure_parts"}
    maker |= {"TopicAnalysis": "topic_analysis", "Round": "simulate", "Simulation": "simulate"}
    maker |= {"Plan": "plan", "Change": "join", "Algorithm": "find_algorithm"}
    assert re.search(rf"\b{maker.get(name, name)}\b", shown)


@pytest.mark.parametrize("kind", [Interests, Overlay])
def test_every_method_is_in_an_example(kind: type) -> None:
    shown = examples(kind)
    missing = [
        name
        for name, value in vars(kind).items()
        if not name.startswith("_") and (callable(value) or isinstance(value, (classmethod, property)))
        if not re.search(rf"\.{name}\b", shown + examples(getattr(value, "__func__", value)))
    ]
    assert missing == []


def test_aliases_are_aliases() -> None:
    assert not inspect.isclass(algorithms.Progress)
    assert not inspect.isfunction(algorithms.Progress)


def test_the_guide_names_what_there_is() -> None:
    for path in set(re.findall(r"`(algorithms(?:\.\w+)+)\b", LIBRARY)):
        owner, _, name = path.rpartition(".")
        assert hasattr(importlib.import_module(owner), name), path
    for name in set(re.findall(r"`overlay\.(\w+)", LIBRARY)):
        assert hasattr(Overlay, name), name
    assert {path.rpartition(".")[0] for path in re.findall(r"`(algorithms(?:\.\w+)+)\b", LIBRARY)} <= {
        *MODULES,
        "algorithms.live",
    }


def test_the_decision_names_what_is_public() -> None:
    (row,) = [line for line in DECISION.splitlines() if line.startswith("| what is public of the library")]
    assert set(re.findall(r"`(algorithms[\w.]*)`", row)) == set(MODULES)


def answers(value: object) -> list[str]:
    """What a public function answers with, or the fields and methods of a public type, as annotated."""
    if inspect.isclass(value):
        parts = [part for name, part in vars(value).items() if not name.startswith("_")]
        calls = [getattr(part, "fget", None) or getattr(part, "__func__", part) for part in parts]
        fields = [str(kind) for name, kind in inspect.get_annotations(value).items() if name[0] != "_"]
        return [*fields, *(answer for call in calls if inspect.isfunction(call) for answer in answers(call))]
    return [str(inspect.get_annotations(value).get("return"))] if inspect.isfunction(value) else []


def test_what_public_calls_hand_out_is_public() -> None:
    public = [getattr(importlib.import_module(module), name) for module, name in public_names()]
    modules = [
        importlib.import_module(m.name) for m in pkgutil.walk_packages(algorithms.__path__, "algorithms.")
    ]
    ours = {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if inspect.isclass(kind) and kind.__module__ == module.__name__ and not name.startswith("_")
    }
    handed = {
        word: ours[word]
        for value in public
        for answer in answers(value)
        for word in re.findall(r"\w+", answer)
        if word in ours
    }
    assert len(handed) > 10
    assert [name for name, kind in handed.items() if kind not in public and name not in OWN] == []
