"""One suite, every engine: a test that uses `store`, `table` or `rows` runs once an engine.

Creating a table on a cluster takes longer than most tests, so the tests share one table with a
family for every kind of retention, and each works under a row prefix of its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import webtable
from webtable import ALL_VERSIONS, Family, Row, Store, Table, TableSchema
from webtable.local.hbase import LocalHBase

ENGINES = ("rocks", "hbase")
DAY = 86_400
SHARED = TableSchema(
    name="shared",
    families=(
        Family(name="aged", versions=3, ttl_seconds=DAY),
        Family(name="every", versions=ALL_VERSIONS),
        Family(name="kept", versions=3, keep_deleted_cells="TRUE"),
        Family(name="least", versions=3, ttl_seconds=DAY, min_versions=2),
        Family(name="one"),
        Family(name="three", versions=3),
        Family(name="window", versions=3, ttl_seconds=DAY, keep_deleted_cells="TTL"),
    ),
    # A cluster that compacts on its own would decide for itself when hidden cells go.
    attributes={"hbase.hstore.compaction.min": "1000"},
)


@pytest.fixture(scope="session")
def rocks_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with webtable.open(str(tmp_path_factory.mktemp("contract") / "store")) as store:
        store.create_table(SHARED)
        yield store


@pytest.fixture(scope="session")
def hbase_store(hbase_location: str, local_hbase: LocalHBase | None) -> Iterator[Store]:
    with webtable.open(f"{hbase_location}?namespace=contract_{uuid.uuid4().hex[:8]}") as store:
        store.create_table(SHARED)
        yield store
        if local_hbase is None:  # A cluster that outlives the tests is left as it was.
            for name in store.tables():
                store.drop_table(name)


@pytest.fixture(params=ENGINES)
def engine_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def store(engine_name: str, request: pytest.FixtureRequest) -> Store:
    """The store that all tests of one engine share."""
    # Requested by name: a session fixture with parameters would be made again at each change of
    # engine, and the order of tests is random.
    shared: Store = request.getfixturevalue(f"{engine_name}_store")
    return shared


@pytest.fixture
def open_another(engine_name: str, store: Store, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens a store that the test may close: a new embedded one, or a second connection."""
    opened: list[Store] = []

    def open_store() -> Store:
        location = str(tmp_path / f"{len(opened)}") if engine_name == "rocks" else store.location
        opened.append(webtable.open(location))
        return opened[-1]

    yield open_store
    for each in opened:
        each.close()


@pytest.fixture
def table(store: Store) -> Table:
    """The shared table; use it together with `rows`."""
    return store.table(SHARED.name)


class Rows:
    """Row keys that belong to one test."""

    def __init__(self, prefix: bytes) -> None:
        self.prefix = prefix

    def __call__(self, name: bytes = b"row") -> bytes:
        """Returns the test's own row key of that name."""
        return self.prefix + name

    def name(self, row: Row | bytes) -> bytes:
        """Returns the name of a row key without the test's prefix."""
        key = row if isinstance(row, bytes) else row.key
        assert key.startswith(self.prefix)
        return key[len(self.prefix) :]

    def names(self, rows: Iterator[Row]) -> list[bytes]:
        """Returns the names of rows, in the order in which they came."""
        return [self.name(row) for row in rows]


@pytest.fixture
def rows() -> Rows:
    return Rows(uuid.uuid4().hex[:12].encode() + b"/")


@pytest.fixture
def new_name() -> str:
    """A table name that is not in use yet."""
    return "t" + uuid.uuid4().hex[:12]
