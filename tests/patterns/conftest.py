"""A store of each engine for the patterns, which make their own tables in it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from webtable import Store
from webtable.local.hbase import LocalHBase


@pytest.fixture(params=("rocks", "hbase"))
def engine_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def store(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store without tables."""
    if engine_name == "rocks":
        location = str(tmp_path / "store")
    else:
        location = request.getfixturevalue("hbase_location")
        location += f"?namespace=patterns_{uuid.uuid4().hex[:8]}"
    with webtable.open(location) as store:
        yield store
        given: LocalHBase | None = None
        if engine_name == "hbase":
            given = request.getfixturevalue("local_hbase")
        if engine_name == "hbase" and given is None:  # A cluster that outlives the tests.
            for name in store.tables():
                store.drop_table(name)
