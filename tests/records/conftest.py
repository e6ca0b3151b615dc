"""Record classes that the tests share, and stores of every engine to keep them in.

A table on a cluster takes its time to make, so each class has one, and tests use keys of their own.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import webtable
from webtable import Store
from webtable.local.hbase import LocalHBase

ENGINES = ("rocks", "hbase")


@pytest.fixture(scope="session")
def rocks_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with webtable.open(str(tmp_path_factory.mktemp("records") / "store")) as store:
        yield store


@pytest.fixture(scope="session")
def hbase_store(hbase_location: str, local_hbase: LocalHBase | None) -> Iterator[Store]:
    with webtable.open(f"{hbase_location}?namespace=records_{uuid.uuid4().hex[:8]}") as store:
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
    shared: Store = request.getfixturevalue(f"{engine_name}_store")
    return shared


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Store]:
    """An embedded store for one test."""
    with webtable.open(str(tmp_path / "store")) as store:
        yield store


@pytest.fixture
def own() -> Callable[[str], str]:
    """Makes names that belong to one test; they sort as they are given."""
    prefix = uuid.uuid4().hex[:10]
    return lambda name: f"{prefix}/{name}"
