"""The registry: what every algorithm declares, and how wrong names and values are refused."""

from __future__ import annotations

import json

import pytest

from algorithms import (
    BadInput,
    Cancelled,
    Interests,
    Parameter,
    UnknownAlgorithm,
    UnknownParameter,
    algorithms,
    build,
    find_algorithm,
)
from algorithms.workloads import generate
from tests.algorithms.strategies import NOTHING_TO_LINK

NAMES = [algorithm.name for algorithm in algorithms()]
SMALL = Interests.from_mapping({"a": ["x", "y"], "b": ["y", "z"], "c": ["x", "z"], "d": []})


def test_the_names_are_those_others_rely_on() -> None:
    assert {"gm", "cd-oda", "cd-oda-i", "cd-oda-ii", "2d-oda", "ringpt", "cyclept", "treept"} <= set(NAMES)
    assert sorted(NAMES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_says_what_it_is(name: str) -> None:
    chosen = find_algorithm(name)
    assert chosen.summary
    assert "connected" in chosen.guarantee
    assert chosen.paper
    assert len({parameter.name for parameter in chosen.parameters}) == len(chosen.parameters)
    described = json.loads(json.dumps(chosen.describe()))
    assert described["name"] == name
    for parameter in chosen.parameters:
        assert parameter.help
        assert parameter.parse(parameter.default) == parameter.default


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_connects_every_topic_and_repeats_itself(name: str) -> None:
    interests = generate(brokers=60, topics=15, subscriptions=4, distribution="zipf", exponent=1.0, seed=3)
    overlay = build(name, interests, seed=5)
    assert overlay.is_tco()
    assert (build(name, interests, seed=5).links == overlay.links).all()
    assert build(name, interests, seed="5").links.tolist() == overlay.links.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_takes_empty_and_single_inputs(name: str) -> None:
    for nothing in NOTHING_TO_LINK:
        assert len(build(name, Interests.from_mapping(nothing)).links) == 0
    assert build(name, Interests.from_mapping({"a": ["x"], "b": ["x"]})).link_names() == [("a", "b")]


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_reports_progress_and_can_be_cancelled(name: str) -> None:
    seen: list[float] = []

    def note(done: float, stage: str) -> None:
        seen.append(done)
        assert stage

    build(name, SMALL, progress=note)
    assert seen
    assert all(0 <= done <= 1 for done in seen)

    def stop(_done: float, _stage: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        build(name, SMALL, progress=stop)


@pytest.mark.parametrize(
    ("wrong", "nearest"), [("gn", "gm"), ("cd-oda-iii", "cd-oda-ii"), ("2d_oda", "2d-oda")]
)
def test_an_unknown_algorithm_names_the_nearest(wrong: str, nearest: str) -> None:
    with pytest.raises(UnknownAlgorithm, match=f"did you mean '{nearest}'") as error:
        build(wrong, SMALL)
    assert (error.value.field, error.value.value) == ("algorithm", wrong)


def test_an_algorithm_unlike_any_gets_no_suggestion() -> None:
    with pytest.raises(UnknownAlgorithm) as error:
        find_algorithm("zzzzzzzz")
    assert "did you mean" not in str(error.value)


def test_an_unknown_parameter_names_the_nearest() -> None:
    with pytest.raises(
        UnknownParameter, match="ringpt takes no such parameter, did you mean 'order'"
    ) as error:
        build("ringpt", SMALL, ordr="id")
    assert error.value.field == "ordr"
    with pytest.raises(UnknownParameter, match="2d-oda takes no such parameter"):
        build("2d-oda", SMALL, order="id")


SEED = Parameter("seed", int, 0, "", minimum=0)
RHO = Parameter("rho", float, 3.0, "", minimum=1)
PARTS = Parameter("parts", int, "auto", "", minimum=1, maximum=9, words=("auto",))
ORDER = Parameter("order", str, "id", "", words=("id", "random"))
PRUNE = Parameter("prune", bool, False, "")
FROM = Parameter("from", str, None, "")


@pytest.mark.parametrize(
    ("parameter", "given", "value"),
    [
        (SEED, "7", 7),
        (SEED, 7.0, 7),
        (RHO, "1.5", 1.5),
        (RHO, 2, 2.0),
        (PARTS, "auto", "auto"),
        (PARTS, "4", 4),
        (ORDER, "random", "random"),
        (PRUNE, "yes", True),
        (PRUNE, False, False),
        (FROM, None, None),
        (FROM, "links.csv", "links.csv"),
    ],
)
def test_values_are_read_as_the_command_line_gives_them(
    parameter: Parameter, given: object, value: object
) -> None:
    parsed = parameter.parse(given)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("parameter", "given", "reason"),
    [
        (SEED, "x", "must be a whole number"),
        (SEED, 1.5, "must be a whole number"),
        (SEED, True, "must be a whole number"),
        (SEED, None, "must be a whole number"),
        (SEED, float("inf"), "must be a whole number"),
        (SEED, -1, "at least 0"),
        (RHO, 0.5, "must be a number, at least 1"),
        (RHO, "nan", "must be a number"),
        (RHO, [3], "must be a number"),
        (PARTS, 0, "a whole number or auto, at least 1 and at most 9"),
        (PARTS, 10, "at least 1 and at most 9"),
        (ORDER, "nearest", "must be one of id, random"),
        (ORDER, 1, "must be one of id, random"),
        (PRUNE, "perhaps", "must be true or false"),
        (PRUNE, 2, "must be true or false"),
        (FROM, 3, "must be text"),
    ],
)
def test_wrong_values_are_refused(parameter: Parameter, given: object, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as error:
        parameter.parse(given)
    assert error.value.field == parameter.name
