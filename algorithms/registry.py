"""The registry: each algorithm declares its parameters, guarantee and paper once.

The API, the console, the command line and Spark all read this registry; :func:`build` is the one way to run an
algorithm by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.errors import BadInput, UnknownAlgorithm, UnknownParameter
from algorithms.interests import Interests
from algorithms.overlay import Overlay
from algorithms.progress import Progress, part_of, silent
from algorithms.prune import pruned

Value = int | float | str | bool | None
Check = Callable[[Mapping[str, Value], int | None], None]
"""Raises :class:`BadInput` where (parsed) parameters do not go together, or not with so many brokers (None: not known yet)."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of an algorithm: its type, default, range, and the words it takes instead of a number.

    >>> parts = Parameter("parts", int, "auto", "how many parts", minimum=1, words=("auto",))
    >>> parts.parse("4"), parts.parse("auto")
    (4, 'auto')
    >>> parts.parse(0)
    Traceback (most recent call last):
    algorithms.errors.BadInput: parts: must be a whole number or auto, at least 1 (got 0)
    """

    name: str
    kind: type[int] | type[float] | type[str] | type[bool]
    default: Value
    help: str
    minimum: float | None = None
    maximum: float | None = None
    words: tuple[str, ...] = ()
    """For ``str`` the choices; for numbers, words that stand for a value chosen by the algorithm ("auto")."""

    def parse(self, value: object) -> Value:
        """The value in its own type, or :class:`BadInput`; text is read as the command line would."""
        if value is None and self.default is None:
            return None
        if self.words and value in self.words:
            return str(value)
        if self.kind is str:
            return self._one_of_the_words(value)
        if self.kind is bool:
            return self._truth(value)
        return self._number(value)

    def _one_of_the_words(self, value: object) -> str:
        if self.words or not isinstance(value, str):
            raise BadInput(
                self.name, value, f"must be one of {', '.join(self.words)}" if self.words else "must be text"
            )
        return value

    def _truth(self, value: object) -> bool:
        known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in known:
            return known[value.lower()]
        raise BadInput(self.name, value, "must be true or false")

    def _number(self, value: object) -> int | float:
        wanted = "a whole number" if self.kind is int else "a number"
        if self.words:
            wanted += f" or {' or '.join(self.words)}"
        try:
            if isinstance(value, bool) or not isinstance(value, (int, float, str)):
                raise ValueError
            number: int | float = value if not isinstance(value, str) else self._from_text(value)
            if not math.isfinite(number) or (self.kind is int and number != int(number)):
                raise ValueError
        except (ValueError, OverflowError):
            raise BadInput(self.name, value, f"must be {wanted}") from None
        low, high = self.minimum, self.maximum
        if (low is not None and number < low) or (high is not None and number > high):
            bounds = " and ".join(
                ([f"at least {_plain(low)}"] if low is not None else [])
                + ([f"at most {_plain(high)}"] if high is not None else [])
            )
            raise BadInput(self.name, value, f"must be {wanted}, {bounds}")
        return int(number) if self.kind is int else float(number)

    def _from_text(self, text: str) -> int | float:
        return int(text) if self.kind is int else float(text)

    def describe(self) -> dict[str, Any]:
        """This parameter as plain JSON."""
        return {
            "name": self.name,
            "type": self.kind.__name__,
            "default": self.default,
            "help": self.help,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "words": list(self.words),
        }


def _plain(limit: float) -> str:
    return f"{int(limit)}" if limit == int(limit) else f"{limit:g}"


SEED = Parameter(
    "seed", int, 0, "the same interests and seed give the same links", minimum=0, maximum=2**63 - 1
)
PRUNE = Parameter("prune", bool, False, "take away every link that no topic needs for its k; paths may grow")
MEMORY = Parameter("memory_mb", int, 2048, "bound on the kernels' own tables, in megabytes", minimum=16)


@dataclass(frozen=True)
class Algorithm:
    """A way from interests to links, with what it promises and where it comes from.

    >>> gm = find_algorithm("gm")
    >>> gm.paper, [parameter.name for parameter in gm.parameters]
    ('Chockler et al. 2007, Algorithms 1-3 and section 6.4 (greedy-merge-min-tco)', ['seed', 'ties', 'rounds', 'memory_mb', 'prune'])
    >>> gm.parse({"rounds": "2"})["rounds"]
    2
    """

    name: str
    summary: str
    guarantee: str
    paper: str
    parameters: tuple[Parameter, ...]
    run: Callable[..., NDArray[np.int32]] = field(repr=False)
    connects: int | str = 1
    """How connected every topic is, at the least: a number, or the parameter that says it."""
    sticky: bool = False
    """Whether ``run`` takes ``earlier``, the links of an overlay to rebuild, and can hold on to them."""
    check: Check | None = field(default=None, repr=False)
    """What no parameter can tell by itself."""

    def checked(self, params: Mapping[str, object], brokers: int | None = None) -> dict[str, Value]:
        """:meth:`parse`, and what ``run`` would refuse for an overlay of so many brokers is refused before it runs.

        >>> find_algorithm("dc").checked({"parts": 3}, brokers=2)
        Traceback (most recent call last):
        algorithms.errors.BadInput: parts: must be auto, or from 1 to the number of brokers, 2 (got 3)
        """
        values = self.parse(params)
        if self.check is not None:
            self.check(values, brokers)
        return values

    def parse(self, params: Mapping[str, object]) -> dict[str, Value]:
        """All parameters with their values: the given ones checked, the others by default."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name, value in params.items():
            if name not in known:
                raise UnknownParameter(self.name, name, value, known)
        return {name: p.parse(params[name]) if name in params else p.default for name, p in known.items()}

    def promised_k(self, values: Mapping[str, object]) -> int:
        """The k of the overlays that come of these (parsed) parameters.

        >>> find_algorithm("gm2").promised_k({}), find_algorithm("hararypt").promised_k({"k": 4})
        (2, 4)
        """
        return int(str(values[self.connects])) if isinstance(self.connects, str) else self.connects

    def asked_for(self, k: int) -> dict[str, Any]:
        """The parameters that ask for k-connected topics, where that is a choice.

        >>> find_algorithm("weave").asked_for(2), find_algorithm("gm").asked_for(1)
        ({'k': 2}, {})
        """
        return {self.connects: k} if isinstance(self.connects, str) else {}

    def describe(self) -> dict[str, Any]:
        """This algorithm as plain JSON."""
        return {
            "name": self.name,
            "summary": self.summary,
            "guarantee": self.guarantee,
            "paper": self.paper,
            "parameters": [parameter.describe() for parameter in self.parameters],
        }


_ALGORITHMS: dict[str, Algorithm] = {}


def algorithm(
    name: str,
    *,
    summary: str,
    guarantee: str,
    paper: str,
    parameters: tuple[Parameter, ...] = (),
    connects: int | str = 1,
    sticky: bool = False,
    check: Check | None = None,
) -> Callable[[Callable[..., NDArray[np.int32]]], Callable[..., NDArray[np.int32]]]:
    """Register a function ``(interests, *, seed, progress, **parameters) -> links`` under a name.

    What ``check`` refuses the function may take for granted, when it is run by :func:`build`.

    One that does not prune by a parameter of its own gets one, and is pruned by :func:`build`.
    """

    def register(run: Callable[..., NDArray[np.int32]]) -> Callable[..., NDArray[np.int32]]:
        prunes = any(parameter.name == PRUNE.name for parameter in parameters)
        declared = (SEED, *parameters) if prunes else (SEED, *parameters, PRUNE)
        runs = run if prunes else _then_pruned(run, connects)
        _ALGORITHMS[name] = Algorithm(
            name, summary, guarantee, paper, declared, runs, connects, sticky, check
        )
        return run

    return register


def _then_pruned(
    run: Callable[..., NDArray[np.int32]], connects: int | str
) -> Callable[..., NDArray[np.int32]]:
    def run_and_prune(
        interests: Interests, *, progress: Progress, prune: bool = False, **values: Any
    ) -> NDArray[np.int32]:
        if not prune:
            return run(interests, progress=progress, **values)
        links = run(interests, progress=part_of(progress, 0.0, 0.8), **values)
        k = values[connects] if isinstance(connects, str) else connects
        # Pruned links must be distinct, and an algorithm may give one from both of its ends.
        distinct = Overlay.from_links(interests, links).links
        return pruned(interests, distinct, k, progress=part_of(progress, 0.8, 1.0))

    return run_and_prune


def algorithms() -> tuple[Algorithm, ...]:
    """Every registered algorithm, in the order of their names.

    >>> [algorithm.name for algorithm in algorithms()][-3:]
    ['ringpt', 'treept', 'weave']
    """
    return tuple(_ALGORITHMS[name] for name in sorted(_ALGORITHMS))


def find_algorithm(name: str) -> Algorithm:
    """The algorithm of that name, or :class:`UnknownAlgorithm` naming the nearest one.

    >>> find_algorithm("weave").summary
    'Greedy merge by a weighted score: rare topics and small components first; the fewest links'
    >>> find_algorithm("wave")
    Traceback (most recent call last):
    algorithms.errors.UnknownAlgorithm: algorithm: no such algorithm, did you mean 'weave'? (got 'wave')
    """
    if name not in _ALGORITHMS:
        raise UnknownAlgorithm(name, _ALGORITHMS)
    return _ALGORITHMS[name]


def build(
    name: str,
    interests: Interests,
    *,
    progress: Progress = silent,
    earlier: Overlay | None = None,
    **params: object,
) -> Overlay:
    """Run one algorithm by name; ``earlier`` is an overlay of the same brokers, for an algorithm that can hold on to it.

    >>> interests = Interests.from_mapping({"a": ["x"], "b": ["x", "y"], "c": ["y"]})
    >>> build("gm", interests).link_names()
    [('a', 'b'), ('b', 'c')]
    """
    chosen = find_algorithm(name)
    values: dict[str, object] = dict(chosen.checked(params, len(interests.brokers)))
    if earlier is not None:
        if not chosen.sticky:
            raise BadInput("from", name, "this algorithm does not rebuild from earlier links")
        if earlier.interests.brokers != interests.brokers:
            raise BadInput("from", earlier, "these are links of other brokers")
        values["earlier"] = earlier.links
    return Overlay.from_links(interests, chosen.run(interests, progress=progress, **values))
