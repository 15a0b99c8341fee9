"""The algorithms that Spark runs by parts, and what each may be told there.

Parameters are those that the algorithms declare in the registry, as far as they make sense by parts, and those of the
division into parts. The manager refuses by this table what a job would refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from algorithms import registry
from algorithms.divide_conquer import DIVIDE, PARTS, SCORE
from algorithms.errors import BadInput, UnknownAlgorithm, UnknownParameter
from algorithms.gm import TIES
from algorithms.registry import SEED, Parameter, Value, find_algorithm

MAX_PART = Parameter("max_part", int, 50_000, "brokers that one task is handed at the most", minimum=2)
# Tasks run on executors, of whose neighbours they know nothing: unlike the threads of one process they share no bound.
MEMORY = replace(registry.MEMORY, help="bound on the tables of each task's kernel, in megabytes")
ORDER = Parameter(
    "order",
    str,
    "id",
    "the brokers' order, shared by all topics: by id, random, or each next to the one most alike (one task)",
    words=("id", "random", "nearest"),
)

ANY_NUMBER = 2**31 - 1


def _declared(algorithm: str, name: str) -> Parameter:
    return next(p for p in find_algorithm(algorithm).parameters if p.name == name)


BULK: dict[str, tuple[Parameter, ...]] = {
    "dc": (SEED, PARTS, DIVIDE, SCORE, TIES, MEMORY, MAX_PART),
    "gm": (SEED, TIES, MEMORY, MAX_PART),
    "gm2": (SEED, PARTS, DIVIDE, TIES, MEMORY, MAX_PART),
    "degree-cover": (
        SEED,
        PARTS,
        DIVIDE,
        Parameter("k", int, 2, "topics survive the failure of any one broker", minimum=2, maximum=2),
        _declared("degree-cover", "needs"),
        MEMORY,
        MAX_PART,
    ),
    "hararypt": (SEED, _declared("hararypt", "k"), ORDER, _declared("hararypt", "even_if_cheaper"), MAX_PART),
}


def parse_bulk(algorithm: str, given: Mapping[str, object], brokers: int | None = None) -> dict[str, Value]:
    """All parameters of a bulk algorithm: the given ones checked, the others by default.

    ``brokers``: how many there are, where that is known before a job reads them.

    >>> parse_bulk("gm", {"ties": "row"})
    {'seed': 0, 'ties': 'row', 'memory_mb': 2048, 'max_part': 50000}
    """
    if algorithm not in BULK:
        raise UnknownAlgorithm(algorithm, BULK)
    known = {parameter.name: parameter for parameter in BULK[algorithm]}
    for name, value in given.items():
        if name not in known:
            raise UnknownParameter(f"{algorithm} on Spark", name, value, known)
    values = {name: p.parse(given[name]) if name in given else p.default for name, p in known.items()}
    chosen = find_algorithm(algorithm)
    if chosen.check is not None:
        chosen.check({**chosen.parse({}), **values}, ANY_NUMBER)
    order = values.get("order")
    if order not in (None, "nearest") and values["max_part"] != MAX_PART.default:
        raise BadInput(
            "max_part", values["max_part"], f"bounds the one task of the order nearest, not of {order}"
        )
    if brokers is not None:
        check_size(algorithm, values, brokers)
    return values


def check_size(algorithm: str, values: Mapping[str, Value], brokers: int) -> None:
    """Raise :class:`BadInput` for what cannot be done with so many brokers, whatever their interests.

    >>> check_size("dc", parse_bulk("dc", {"parts": 3}), 2)
    Traceback (most recent call last):
    algorithms.errors.BadInput: parts: must be auto, or from 1 to the number of brokers, 2 (got 3)
    """
    max_part, parts, order = values["max_part"], values.get("parts", "auto"), values.get("order")
    assert isinstance(max_part, int)
    if algorithm == "gm" and brokers > max_part:
        raise BadInput(
            "max_part", max_part, f"gm is one task for all {brokers} brokers: raise it, or take dc"
        )
    if order == "nearest" and brokers > max_part:
        raise BadInput("order", order, f"is made in one task, of {max_part} brokers at most, not {brokers}")
    if not isinstance(parts, int):
        return
    if parts > brokers:
        raise BadInput("parts", parts, f"must be auto, or from 1 to the number of brokers, {brokers}")
    if (least := -(-brokers // parts)) > max_part:
        raise BadInput(
            "parts",
            parts,
            f"some part would have {least} brokers or more, and a task is handed {max_part} at most: "
            "ask for more parts, or raise max_part",
        )
