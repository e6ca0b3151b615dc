"""Filters in the embedded engine: chance, closing, and what it rejects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from webtable import Store, Table
from webtable.errors import InvalidRequest, StoreClosed
from webtable.filters import (
    KeyOnlyFilter,
    LongComparator,
    RandomRowFilter,
    RegexStringComparator,
    ValueFilter,
)

ROWS = 400


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with webtable.open(str(tmp_path / "store")) as store:
        yield store


@pytest.fixture
def table(store: Store) -> Table:
    table = store.create_table("t", "f")
    with table.batch() as batch:
        for number in range(ROWS):
            batch.put(b"%03d" % number, {b"f:v": b"%d" % number})
    return table


def test_a_random_part_of_the_rows(table: Table) -> None:
    counts = {sum(1 for _ in table.scan(filter=RandomRowFilter(0.5))) for _ in range(10)}
    assert len(counts) > 1
    assert all(ROWS / 4 < count < ROWS * 3 / 4 for count in counts)


def test_a_scan_ends_with_its_store(store: Store, table: Table) -> None:
    rows = table.scan(filter=KeyOnlyFilter())
    next(rows)
    store.close()
    with pytest.raises(StoreClosed):
        list(rows)


def test_a_number_must_have_eight_bytes(table: Table) -> None:
    with pytest.raises(InvalidRequest, match="8"):
        list(table.scan(filter=ValueFilter("=", LongComparator(1))))


@pytest.mark.parametrize(
    "pattern",
    [
        r"\p{L}",
        r"\Qa\E",
        r"\h",
        r"\R",
        r"\v",
        r"\0",
        r"\x{61}",
        r"\e",
        r"\b{g}",
        r"\k",
        r"\12",
        "[a[b]]",
        "[a&&b]",
        "[]a]",
        "[a",
        "[a--b]",
        "a{,2}",
        "{",
        "(?m)a",
        "(?x)a",
        "(?-s:a)",
        "a(?i)b",
        "(?P<name>a)",
        "(?#comment)",
        "(?(1)a|b)",
        "(?<=a*)b",
        "a**",
        "(a",
        "a\\",
        "(a)\\2",
    ],
)
def test_what_java_and_python_read_differently_is_rejected(table: Table, pattern: str) -> None:
    """At once, before a row is read."""
    match = ValueFilter("=", RegexStringComparator(pattern))
    with pytest.raises(InvalidRequest, match="regular expression") as caught:
        table.scan(filter=match)
    assert caught.value.hint
