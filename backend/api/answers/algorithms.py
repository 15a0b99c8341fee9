"""The shapes of the registry of algorithms."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, RootModel

from backend.api.answers.shape import Shape, example, shown


class Parameter(Shape):
    """A parameter of an algorithm, as the registry declares it."""

    model_config = example(
        name="parts",
        type="int",
        default="auto",
        help="how many parts; auto weighs the work inside against that across",
        minimum=1,
        maximum=None,
        words=["auto"],
    )
    name: str
    """Its name."""
    type: Literal["int", "float", "str", "bool"]
    """What a value must be, where it is none of `words`."""
    default: int | float | str | bool | None
    """What it is when it is left out."""
    help: str
    """What it does."""
    minimum: int | float | None
    """The least that it may be; null: no bound."""
    maximum: int | float | None
    """The most that it may be; null: no bound."""
    words: list[str]
    """Words that it may be: all that a text may be; beside the numbers, for a number."""


class Algorithm(Shape):
    """An algorithm: what it does, what it promises, and where that is proved."""

    model_config = example(
        name="dc",
        summary="Divide and conquer: greedy merge inside parts, then across their star sets",
        guarantee="topic-connected; links at most p times a logarithmic factor above the fewest possible",
        paper="Chen, Jacobsen and Vitenberg 2010, Algorithms 3-7 (star-merge-divide-and-conquer)",
        parameters=[shown(Parameter)],
        engines={"local": [shown(Parameter)], "spark": [shown(Parameter)]},
    )
    name: str
    """Its name, as rebuilds and the policy use it."""
    summary: str
    """What it does."""
    guarantee: str
    """What is promised of its links."""
    paper: str
    """Where it comes from."""
    parameters: list[Parameter]
    """Its parameters where it runs locally."""
    engines: dict[str, list[Parameter]]
    """Where it can run, `local` or `spark`, and its parameters there."""


class AlgorithmList(Shape, RootModel[list[Algorithm]]):
    """Every algorithm of the registry."""

    model_config = ConfigDict(json_schema_extra={"examples": [[shown(Algorithm)]]})
