"""Interests and links in files: what goes in comes out, and a broken row is named by file, line and field."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from algorithms import BadFile, Interests, Overlay
from algorithms.files import KINDS, check_target, read_interests, read_links, write_interests, write_links
from algorithms.ids import why_unfit

ids = st.text(min_size=1, max_size=12).filter(lambda text: why_unfit(text) is None)


@pytest.mark.parametrize("kind", KINDS)
@given(relation=st.dictionaries(ids, st.sets(ids, min_size=1, max_size=4), min_size=2, max_size=6))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_again(tmp_path: Path, kind: str, relation: dict[str, set[str]]) -> None:
    interests = Interests.from_mapping(relation)
    write_interests(interests, tmp_path / f"interests{kind}")
    again = read_interests(tmp_path / f"interests{kind}")
    assert (again.brokers, again.topics) == (interests.brokers, interests.topics)
    np.testing.assert_array_equal(again.broker_topics, interests.broker_topics)

    overlay = Overlay.from_names(interests, zip(interests.brokers, interests.brokers[1:], strict=False))
    write_links(overlay, tmp_path / f"links{kind}")
    assert read_links(tmp_path / f"links{kind}", interests).link_names() == overlay.link_names()


def test_duplicate_rows_are_collapsed_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "interests.csv"
    path.write_text("broker,topic\na,x\nb,x\na,x\n\na,x\n")
    interests = read_interests(path)
    assert (interests.subscriptions, interests.duplicates) == (2, 2)


def test_ids_that_look_like_numbers_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "interests.csv"
    path.write_text("broker,topic\n01,1e3\n1,1e3\n")
    assert read_interests(path).brokers == ("01", "1")


def test_other_columns_and_another_order_of_columns_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "interests.csv"
    path.write_text("role,topic,broker\npub,x,a\n")
    assert read_interests(path).topics_of("a") == ["x"]


def test_files_from_windows_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "interests.csv"
    path.write_bytes("\ufeffbroker,topic\r\na,x\r\nb,x\r\n".encode())
    assert read_interests(path).subscribers_of("x") == ["a", "b"]


def test_a_header_alone_is_no_interests(tmp_path: Path) -> None:
    path = tmp_path / "interests.csv"
    path.write_text("broker,topic\n")
    assert read_interests(path).brokers == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"broker,topic\na,x\nb\n", "line 3, topic: a row has 2 fields (got 'b')"),
        (b"broker,topic\na,x\nb,y,z\n", "line 3, topic: a row has 2 fields (got 'b,y,z')"),
        (b"broker,topic\na,x\n\nb,\n", "line 4, topic: an id cannot be empty (got '')"),
        (b"broker,topic\n,x\n", "line 2, broker: an id cannot be empty (got '')"),
        (b"broker,topic\na,x\nb,\xff\n", "line 3, topic: the text is not UTF-8"),
        (b'broker,topic\n"a,x\n', "line 2, broker: unexpected end of data"),
        (b'broker,topic\na,x\n"b\nc",x\n', "line 4, broker: an id holds no control characters"),
        (b"broker,topic\n..,x\n", "line 2, broker: the ids '.' and '..' cannot stand in a URL path"),
        (b"a,x\n", "line 1, broker: the header must name the columns broker,topic (got 'a,x')"),
        (b"", "line 1, broker: the header must name the columns broker,topic"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["csv", "csv.gz"])
def test_a_broken_file_is_named_with_line_and_field(
    tmp_path: Path, text: bytes, message: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / ("interests.csv" if pack is bytes else "interests.csv.gz")
    path.write_bytes(pack(text))
    with pytest.raises(BadFile) as refusal:
        read_interests(path)
    assert str(refusal.value).startswith(f"{path}, {message}")


def test_a_file_that_is_no_file_of_its_kind(tmp_path: Path) -> None:
    for name in ("interests.csv.gz", "interests.parquet"):
        (tmp_path / name).write_bytes(b"junk")
        with pytest.raises(BadFile, match="it cannot be read"):
            read_interests(tmp_path / name)
    with pytest.raises(BadFile, match=r"the name must end in \.csv, \.csv\.gz or \.parquet"):
        read_interests(tmp_path / "interests.txt")
    with pytest.raises(BadFile, match="there is no such file"):
        read_interests(tmp_path / "missing.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(BadFile, match="this is a directory"):
        read_interests(tmp_path / "folder.csv")


def test_parquet_ids_must_be_strings(tmp_path: Path) -> None:
    path = tmp_path / "interests.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"broker": [1, 2], "topic": ["x", "x"]}), path)
    with pytest.raises(BadFile, match=r"broker: ids are strings \(got 'int64'\)"):
        read_interests(path)
    pyarrow.parquet.write_table(pyarrow.table({"broker": ["a", None], "topic": ["x", "x"]}), path)
    with pytest.raises(BadFile, match=r"broker: an id is a string \(got None\)|broker: an id is a string"):
        read_interests(path)


def test_links_must_fit_the_interests(tmp_path: Path) -> None:
    interests = Interests.from_mapping({"a": ["x"], "b": ["x"]})
    path = tmp_path / "links.csv"
    path.write_text("broker_a,broker_b\na,b\nb,zoe\n")
    with pytest.raises(
        BadFile, match=r"line 3, broker_b: no broker of this id in the interests \(got 'zoe'\)"
    ):
        read_links(path, interests)
    path.write_text("broker_a,broker_b\na,a\n")
    with pytest.raises(BadFile, match=r"line 2, broker_b: a broker cannot have a link to itself \(got 'a'\)"):
        read_links(path, interests)


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    interests = Interests.from_mapping({"a": ["x"]})
    with pytest.raises(BadFile, match="it cannot be written"):
        write_interests(interests, tmp_path / "missing" / "interests.csv")
    write_interests(interests, tmp_path / "interests.csv")
    assert [entry.name for entry in tmp_path.iterdir()] == ["interests.csv"]


def test_a_target_is_checked_before_the_work(tmp_path: Path) -> None:
    check_target(tmp_path / "links.csv")
    for target, reason in (
        (tmp_path / "links.doc", "the name must end in"),
        (tmp_path / "missing" / "links.csv", "its folder is missing"),
    ):
        with pytest.raises(BadFile, match=reason):
            check_target(target)
