"""The two stores of the lockstep tests, each with all tables of `programs.SCHEMAS`."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence

import pytest

import webtable
from tests.lockstep.driver import Follower, StoredCell
from tests.lockstep.programs import SCHEMAS
from webtable import CellType, Store
from webtable.local.hbase import LocalHBase
from webtable.store.cells_and_rows import split_column
from webtable.store.rocks.cell_keys import TAGGED, encode_key, encode_tagged
from webtable.store.rocks.engine import RocksEngine


def with_tables(store: Store) -> Store:
    """Creates the tables of all programs in an empty store.

    A major compaction with KEEP_DELETED_CELLS drops markers that are older than every put of the
    family, in whatever row. Puts that stay make this the same for every program.
    """
    recently = time.time_ns() // 1_000_000 - 12 * 3_600_000
    for schema in SCHEMAS.values():
        table = store.create_table(schema)
        columns = [family.name.encode() + b":" for family in schema.families]
        table.put(b"anchor/old", dict.fromkeys(columns, b""), timestamp=1)
        table.put(b"anchor/recent", dict.fromkeys(columns, b""), timestamp=recently)
    return store


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with webtable.open(str(tmp_path_factory.mktemp("lockstep") / "store")) as store:
        yield with_tables(store)


@pytest.fixture(scope="session")
def cluster(hbase_location: str, local_hbase: LocalHBase | None) -> Iterator[Store]:
    with webtable.open(f"{hbase_location}?namespace=lockstep_{uuid.uuid4().hex[:8]}") as store:
        yield with_tables(store)
        if local_hbase is None:  # A cluster that outlives the tests is left as it was.
            for name in store.tables():
                store.drop_table(name)


@pytest.fixture(scope="session")
def follow(embedded: Store) -> Follower:
    """Changes cells of the embedded store, below its own rules."""
    engine = embedded._engine
    assert isinstance(engine, RocksEngine)

    def change(table: str, *, drop: Sequence[StoredCell], replace: Sequence[StoredCell]) -> None:
        families = engine._admin.table(table).families
        for cell in (*drop, *replace):
            family, qualifier = split_column(cell.column)
            rocks = families[family].rocks
            kinds = (CellType.PUT, TAGGED) if cell.type == CellType.PUT else (cell.type,)
            for kind in kinds:
                key = encode_key(cell.row, qualifier or b"", cell.timestamp, kind)
                if cell in replace and rocks.get(key) is not None:
                    rocks.put(key, encode_tagged(cell.value) if kind == TAGGED else cell.value)
                elif cell in drop:
                    rocks.delete(key)

    return change
