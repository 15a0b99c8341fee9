"""Names in the drawing: short but telling, and out of each other's way."""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ET

import pytest

from ui.broker_names import MAX_LENGTH, TILE, Box, Disc, names, places, short, tiles, width


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


def test_names_of_one_drawing_differ() -> None:
    ids = [
        "/perception/north/lidar_driver",
        "/perception/south/lidar_driver",
        "/lidar_driver",
        "/control/gate",
        "/a_very_long_place_of_its_own/south/lidar_driver_two_with_a_long_name",
        "/another_very_long_place/south/lidar_driver_two_with_a_long_name",
    ]
    found = names(ids)
    assert found["/control/gate"] == "gate"
    assert found[ids[0]] == "north/lidar_driver"
    assert found["/lidar_driver"] == "/lidar_driver"
    assert len(set(found.values())) == len(ids)
    assert all(len(name) <= MAX_LENGTH for name in found.values())


def test_neighbours_do_not_lie_on_each_other() -> None:
    discs = [Disc("broker-one", 0, 0, 8), Disc("broker-two", 40, 0, 8), Disc("broker-three", 20, 24, 8)]
    boxes = list(places(discs).values())
    assert len(boxes) == 3
    for rank, box in enumerate(boxes):
        assert all(box.overlap(other) == 0 for other in boxes[rank + 1 :])


def test_a_name_without_room_is_left_out() -> None:
    """A crowd: the first have their names, and no name lies on another or on a disc."""
    discs = [
        Disc(f"a-rather-long-name-{row}-{place}", 30 * place, 22 * row, 9)
        for row in range(4)
        for place in range(4)
    ]
    found = places(discs)
    assert discs[0].id in found
    assert 2 < len(found) < len(discs)
    covered = [Box(disc.x, disc.y, 18, 18) for disc in discs]
    for name, box in found.items():
        others = [other for known, other in found.items() if known != name]
        assert not any(box.overlap(other) for other in [*others, *covered])


def test_wide_letters_take_more_room() -> None:
    assert width("ill") < width("abc") < width("ABC") < width("mmm") < width("漢字仮")


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


def test_a_name_keeps_off_links_and_inside_the_drawing() -> None:
    """A link that leaves downwards sends the name above its broker; the edge sends it inwards."""
    disc = Disc("broker", 0, 0, 8)
    assert places([disc])["broker"].y > 0
    assert places([disc], [((0, 0), (0, 100))])["broker"].y < 0
    long = Disc("a-rather-long-name", 90, 0, 8)
    box = places([long], half_width=100)["a-rather-long-name"]
    assert box.x + box.width / 2 <= 100


def test_crossing_is_a_length() -> None:
    box = Box(0, 0, 10, 10)
    assert box.crossing(((-20, 0), (20, 0))) == pytest.approx(10)
    assert box.crossing(((0, 0), (0, 20))) == pytest.approx(5)
    assert box.crossing(((-20, 6), (20, 6))) == 0
    assert box.crossing(((6, -20), (20, 20))) == 0
