"""Several scans begun at once, read in turns."""

from __future__ import annotations

import pytest

from tests.contract.conftest import Rows
from webtable import Scan, Store, Table
from webtable.errors import FamilyNotFound, TableNotFound


def test_each_scan_gives_its_own_rows(table: Table, rows: Rows) -> None:
    with table.batch() as batch:
        for part in (b"a", b"b", b"c"):
            for number in range(50):
                batch.put(rows(part + b"%02d" % number), {b"one:q": part})
    scans = [
        Scan(prefix=rows(b"a")),
        Scan(prefix=rows(b"b"), reverse=True, limit=3),
        Scan(prefix=rows(b"none")),
        Scan(start=rows(b"c48"), stop=rows(b"d")),
    ]
    first, second, third, fourth = table.scan_many(scans)
    assert rows.name(next(first)) == b"a00"
    assert rows.names(fourth) == [b"c48", b"c49"]
    assert rows.names(second) == [b"b49", b"b48", b"b47"]
    assert list(third) == []
    assert rows.names(first) == [b"a%02d" % number for number in range(1, 50)]
    empty, whole = table.scan_many([Scan(start=b"b", stop=b"a"), Scan(prefix=rows(b"c4"))])
    assert (list(empty), len(list(whole))) == ([], 10)
    assert table.scan_many([]) == []


def test_an_unknown_table_or_family_is_reported_at_once(store: Store, table: Table) -> None:
    with pytest.raises(TableNotFound):
        store.table("nothing").scan_many([Scan(), Scan()])
    with pytest.raises(FamilyNotFound):
        table.scan_many([Scan(), Scan(columns=(b"nothing",))])
