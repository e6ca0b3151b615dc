"""A namespace of its own on the shared cluster, and tables in it that go when a test ends."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import Protocol

import pytest

from webtable.errors import TableNotFound
from webtable.local.hbase import LocalHBase
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.schema import Family, TableSchema


class NewTable(Protocol):
    """Creates a table and returns its name."""

    def __call__(self, *families: Family, splits: tuple[bytes, ...] = ()) -> str: ...


@pytest.fixture(scope="session")
def location(hbase_location: str) -> str:
    return f"{hbase_location}?namespace=client_{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="session")
def engine(location: str) -> Iterator[HBaseEngine]:
    engine = HBaseEngine.connect(location)
    yield engine
    engine.close()


@pytest.fixture
def new_table(engine: HBaseEngine, local_hbase: LocalHBase | None) -> Iterator[NewTable]:
    names: list[str] = []

    def create(*families: Family, splits: tuple[bytes, ...] = ()) -> str:
        name = f"t{uuid.uuid4().hex[:12]}"
        schema = TableSchema(name=name, families=families or (Family(name="f"),))
        engine.create_table(schema, splits)
        names.append(name)
        return name

    yield create
    if local_hbase is not None:  # A cluster that ends with the tests need not be cleared up.
        return
    for name in names:
        with contextlib.suppress(TableNotFound):
            engine.drop_table(name)
