"""Names in the drawing: short but telling, and out of each other's way."""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ET

import pytest

from ui.broker_names import MAX_LENGTH, TILE, Box, Disc, places, short, tiles


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        ("/control/vehicle_cmd_gate", "vehicle_cmd_gate"),
        ("broker-7", "broker-7"),
        ("/site/", "site"),
        ("/", "/"),
        ("x" * 100, "x" * (MAX_LENGTH - 1) + "…"),
    ],
)
def test_a_name_is_the_end_of_the_id(identity: str, name: str) -> None:
    assert short(identity) == name


def test_neighbours_do_not_lie_on_each_other() -> None:
    discs = [Disc("broker-one", 0, 0, 8), Disc("broker-two", 40, 0, 8), Disc("broker-three", 20, 24, 8)]
    boxes = list(places(discs).values())
    assert len(boxes) == 3
    for rank, box in enumerate(boxes):
        assert all(box.overlap(other) == 0 for other in boxes[rank + 1 :])


def test_overlap_is_an_area() -> None:
    assert Box(0, 0, 10, 10).overlap(Box(5, 5, 10, 10)) == 25
    assert Box(0, 0, 10, 10).overlap(Box(10, 0, 10, 10)) == 0


def test_tiles_are_one_row_and_hold_the_whole_name() -> None:
    made = tiles("<odd> & “name”", Box(100, 50, 90), "#000000", "#FFFFFF")
    assert [tile.x for tile in made] == [100 - TILE, 100, 100 + TILE]
    assert {tile.y for tile in made} == {50}
    for tile in made:
        picture = ET.fromstring(base64.b64decode(tile.url.partition(",")[2]))
        assert "".join(picture.itertext()) == "<odd> & “name”"
