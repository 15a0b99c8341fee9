"""Every name that the library offers shows itself at work: a doctest each, which tests/algorithms runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import algorithms
from algorithms import Interests, Overlay

LIBRARY = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
MODULES = [
    "algorithms",
    *("algorithms.live", "algorithms.churn", "algorithms.analysis", "algorithms.files"),
    *("algorithms.workloads", "algorithms.completion", "algorithms.bound"),
]
ALIASES = {"Progress", "Distribution", "Sizes", "Floats", "Kind"}
"""Types of parameters have no docstring of their own."""


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
