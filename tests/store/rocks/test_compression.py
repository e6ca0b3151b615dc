"""COMPRESSION of a family: the files use the one of the schema, also after opening again."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

import webtable
from webtable import Family
from webtable.store.schema import Compression

TEXT = b"all work and no play makes Jack a dull boy; " * 50
ROWS = 200


def fill(table: webtable.Table, generation: int) -> None:
    with table.batch() as batch:
        for number in range(ROWS):
            batch.put(b"row%04d" % number, {b"f:text": b"%d " % generation + TEXT})
    table.flush()
    table.major_compact()


def disk_bytes(table: webtable.Table) -> int:
    size_bytes = table.stats().disk_bytes
    assert size_bytes is not None
    return size_bytes


@pytest.mark.parametrize("compression", get_args(Compression))
def test_a_family_is_compressed_as_declared(tmp_path: Path, compression: Compression) -> None:
    location = str(tmp_path / "store")
    with webtable.open(location) as store:
        table = store.create_table("pages", Family(name="f", compression=compression))
        fill(table, 1)
        first = disk_bytes(table)
    with webtable.open(location) as store:
        table = store.table("pages")
        fill(table, 2)
        again = disk_bytes(table)
        row = table.get(b"row0000")
    size = ROWS * len(TEXT)
    if compression == "NONE":
        assert min(first, again) > size
    else:
        assert max(first, again) < size / 5
    assert row is not None
    assert row.value(b"f:text") == b"2 " + TEXT


def test_altering_it_holds_for_what_is_written_then(tmp_path: Path) -> None:
    with webtable.open(str(tmp_path / "store")) as store:
        table = store.create_table("pages", "f")
        fill(table, 1)
        before = disk_bytes(table)
        schema = table.schema().with_family(Family(name="f", compression="ZSTD"))
        store.alter_table(schema)
        fill(table, 2)
        assert disk_bytes(table) < before / 5
