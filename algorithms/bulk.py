"""The algorithms that Spark runs by parts, and what each may be told there.

Parameters are those that the algorithms declare in the registry, as far as they make sense by parts, and those of the
division into parts. The manager refuses by this table what a job would refuse.
"""

from __future__ import annotations

from collections.abc import Mapping

from algorithms.divide_conquer import DIVIDE, PARTS, SCORE
from algorithms.errors import UnknownAlgorithm, UnknownParameter
from algorithms.gm import TIES
from algorithms.registry import MEMORY, SEED, Parameter, Value, find_algorithm

MAX_PART = Parameter("max_part", int, 50_000, "brokers that one task is handed at the most", minimum=2)
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


def parse_bulk(algorithm: str, given: Mapping[str, object]) -> dict[str, Value]:
    """All parameters of a bulk algorithm: the given ones checked, the others by default.

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
        # How many brokers there are, a job learns when it reads them.
        chosen.check({**chosen.parse({}), **values}, ANY_NUMBER)
    return values
