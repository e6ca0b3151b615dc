"""`scan` and all its arguments."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

from tests.happybase.conftest import FIXED_ROWS, FIXED_TIME, Flavour, Whole

FORWARD = list(FIXED_ROWS)
BACKWARD = FORWARD[::-1]


def keys(rows: Any) -> list[bytes]:
    return [row for row, _ in rows]


def test_every_row_with_its_data(fixed: Any) -> None:
    found = list(fixed.scan())
    assert found == [
        (row, {b"f:q": b"of " + row, b"f:\xe9": b"3", b"f2:p": b"1"}) for row in FIXED_ROWS
    ]
    assert type(found[0]) is tuple
    assert type(found[0][1]) is dict


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (b"a1", b"c", [b"a1", b"a2", b"b"]),
        ("a1", "c", [b"a1", b"a2", b"b"]),
        (b"a11", b"b\0", [b"a2", b"b"]),
        (b"c", None, [b"c", b"\xff", b"\xff\xff1"]),
        (None, b"a2", [b"a", b"a1"]),
        (b"", b"", FORWARD),
        (b"a1", b"a1", [b"a1"]),  # HBase takes a range of one key for that row
        (b"a11", b"a11", []),
        (b"c", b"a", []),
    ],
)
def test_range(fixed: Any, start: Any, stop: Any, expected: list[bytes]) -> None:
    assert keys(fixed.scan(row_start=start, row_stop=stop)) == expected


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (None, None, BACKWARD),
        (b"b", b"a", [b"b", b"a2", b"a1"]),
        (b"a3", None, [b"a2", b"a1", b"a"]),
        (None, b"a3", [b"\xff\xff1", b"\xff", b"c", b"b"]),
        (b"a1", b"a1", [b"a1"]),
        (b"a", b"c", []),
    ],
)
def test_reverse_range(fixed: Any, start: Any, stop: Any, expected: list[bytes]) -> None:
    assert keys(fixed.scan(start, stop, reverse=True)) == expected


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        (b"a", [b"a", b"a1", b"a2"]),
        (b"\xff", [b"\xff", b"\xff\xff1"]),
        (b"x", []),
        (b"", FORWARD),
    ],
)
def test_prefix(fixed: Any, prefix: bytes, expected: list[bytes]) -> None:
    assert keys(fixed.scan(row_prefix=prefix)) == expected


def test_prefix_excludes_a_range(fixed: Any) -> None:
    with pytest.raises(TypeError, match="'row_prefix' cannot be combined with 'row_start' or"):
        list(fixed.scan(row_prefix=b"a", row_start=b"a"))
    with pytest.raises(TypeError, match="'row_prefix' cannot be combined with 'row_start' or"):
        list(fixed.scan(row_prefix=b"a", row_stop=b"b"))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([b"f:q", b"f2"], [b"f2:p", b"f:q"]),
        (("f:q",), [b"f:q"]),
        ({b"f:q"}, [b"f:q"]),
        ([b"f"], [b"f:q", b"f:\xe9"]),
        ([], [b"f2:p", b"f:q", b"f:\xe9"]),
        (None, [b"f2:p", b"f:q", b"f:\xe9"]),
    ],
)
def test_columns(fixed: Any, columns: Any, expected: list[bytes]) -> None:
    [(_, data)] = fixed.scan(b"b", b"c", columns=columns)
    assert sorted(data) == expected


def test_rows_without_the_columns_are_left_out(fixed: Any) -> None:
    assert list(fixed.scan(columns=[b"f:missing"])) == []


def test_timestamps(fixed: Any) -> None:
    assert list(fixed.scan(timestamp=FIXED_TIME)) == []
    assert keys(fixed.scan(timestamp=FIXED_TIME + 1)) == FORWARD
    [(_, data)] = fixed.scan(b"b", b"c", columns=[b"f:q"], include_timestamp=True)
    assert data == {b"f:q": (b"of b", FIXED_TIME)}


def test_sorted_columns(fixed: Any) -> None:
    [(_, data)] = fixed.scan(b"b", b"c", sorted_columns=True)
    assert type(data) is OrderedDict
    assert list(data.items()) == [(b"f:q", b"of b"), (b"f:\xe9", b"3"), (b"f2:p", b"1")]
    [(_, data)] = fixed.scan(b"b", b"c", sorted_columns=True, include_timestamp=True)
    assert list(data) == [b"f:q", b"f:\xe9", b"f2:p"]
    assert data[b"f:q"] == (b"of b", FIXED_TIME)


def test_limit(fixed: Any) -> None:
    assert keys(fixed.scan(limit=2)) == FORWARD[:2]
    assert keys(fixed.scan(limit=3, batch_size=1)) == FORWARD[:3]
    assert keys(fixed.scan(limit=2, reverse=True)) == BACKWARD[:2]
    assert keys(fixed.scan(limit=100)) == FORWARD


def test_other_whole_numbers(fixed: Any) -> None:
    assert keys(fixed.scan(limit=Whole(3), batch_size=Whole(2))) == FORWARD[:3]
    assert len(list(fixed.scan(b"b", b"c", scan_batching=Whole(2)))) == 2
    assert list(fixed.scan(timestamp=Whole(FIXED_TIME))) == []


@pytest.mark.parametrize("batch_size", [1, 2, 3, 1000])
def test_batch_size_changes_nothing_but_the_fetching(fixed: Any, batch_size: int) -> None:
    assert keys(fixed.scan(batch_size=batch_size)) == FORWARD


def test_scan_batching_cuts_rows(fixed: Any) -> None:
    assert list(fixed.scan(b"b", b"c", scan_batching=1)) == [
        (b"b", {b"f:q": b"of b"}),
        (b"b", {b"f:\xe9": b"3"}),
        (b"b", {b"f2:p": b"1"}),
    ]
    assert list(fixed.scan(b"b", scan_batching=2, limit=3)) == [
        (b"b", {b"f:q": b"of b", b"f:\xe9": b"3"}),
        (b"b", {b"f2:p": b"1"}),
        (b"c", {b"f:q": b"of c", b"f:\xe9": b"3"}),
    ]


def test_a_scan_may_be_left_early(fixed: Any) -> None:
    scan = fixed.scan(batch_size=1)
    assert next(scan)[0] == b"a"
    scan.close()
    assert list(scan) == []


def test_two_scans_at_once(fixed: Any) -> None:
    pairs = zip(fixed.scan(batch_size=2), fixed.scan(reverse=True), strict=True)
    assert [(one[0], other[0]) for one, other in pairs] == list(zip(FORWARD, BACKWARD, strict=True))


@pytest.mark.parametrize("argument", ["batch_size", "limit", "scan_batching"])
def test_arguments_are_checked_with_the_first_row(fixed: Any, argument: str) -> None:
    scan = fixed.scan(**{argument: 0})
    with pytest.raises(ValueError, match=f"'{argument}' must be >= 1"):
        next(scan)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PrefixFilter('a')", [b"a", b"a1", b"a2"]),
        (b"PrefixFilter('a')", [b"a", b"a1", b"a2"]),
        ("PrefixFilter('a') AND ValueFilter(=, 'substring:1')", [b"a", b"a1", b"a2"]),
        ("RowFilter(>=, 'binary:b') AND QualifierFilter(=, 'binary:q')", FORWARD[3:]),
        ("SingleColumnValueFilter('f', 'q', =, 'binary:of b')", [b"b"]),
        ("PageFilter(2)", FORWARD[:2]),
        ("PrefixFilter('x')", []),
    ],
)
def test_filter(fixed: Any, text: Any, expected: list[bytes]) -> None:
    assert keys(fixed.scan(filter=text)) == expected


def test_filter_with_other_arguments(fixed: Any) -> None:
    prefix = "PrefixFilter('a')"
    assert keys(fixed.scan(filter=prefix, limit=2)) == [b"a", b"a1"]
    assert keys(fixed.scan(b"a1", b"b", filter=prefix)) == [b"a1", b"a2"]
    assert list(fixed.scan(b"b", b"c", columns=[b"f"], filter="KeyOnlyFilter()")) == [
        (b"b", {b"f:q": b"", b"f:\xe9": b""})
    ]
    only_a1 = "ValueFilter(=, 'binary:of a1')"
    assert list(fixed.scan(filter=only_a1, reverse=True)) == [(b"a1", {b"f:q": b"of a1"})]


@pytest.mark.parametrize("text", ["Nope('a')", "", "PrefixFilter('a'"])
def test_bad_filter(flavour: Flavour, fixed: Any, text: str) -> None:
    with pytest.raises(flavour.errors.TException):
        list(fixed.scan(filter=text))


def test_errors_come_with_the_first_row(flavour: Flavour, connection: Any, fixed: Any) -> None:
    unknown_family, unknown_table = fixed.scan(columns=[b"no"]), connection.table("nowhere").scan()
    with pytest.raises(flavour.errors.IOError):
        next(unknown_family)
    with pytest.raises(flavour.errors.IOError):
        next(unknown_table)
    with pytest.raises(flavour.errors.TException):
        next(fixed.scan(timestamp=-1))


@pytest.mark.parametrize(
    ("compat", "refused"),
    [
        ("0.90", {"filter", "sorted_columns", "reverse"}),
        ("0.92", {"sorted_columns", "reverse"}),
        ("0.94", {"sorted_columns", "reverse"}),
        ("0.96", {"reverse"}),
        ("0.98", set()),
    ],
)
def test_compat_rejects_newer_arguments(flavour: Flavour, compat: str, refused: set[str]) -> None:
    connection = flavour.connect(compat=compat)
    table = connection.table("fixed")
    for argument, given in (
        ("filter", "PrefixFilter('a')"),
        ("sorted_columns", True),
        ("reverse", True),
    ):
        scan = table.scan(b"a", b"a", **{argument: given})
        if argument in refused:
            with pytest.raises(NotImplementedError, match=f"'{argument}' is"):
                next(scan)
        else:
            assert keys(scan) == [b"a"]
    assert keys(table.scan(b"a1", b"c", timestamp=FIXED_TIME + 1)) == [b"a1", b"a2", b"b"]
    connection.close()
