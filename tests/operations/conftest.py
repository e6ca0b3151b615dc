"""Stores on both engines, and their operational state."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import webtable
from webtable.operations.operational_state import OperationalState, open_state
from webtable.store.store import Store

ENGINES = ["rocks", pytest.param("hbase", marks=pytest.mark.hbase)]


@pytest.fixture(scope="session", params=ENGINES)
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    if request.param == "rocks":
        location = str(tmp_path_factory.mktemp("operations") / "store")
    else:
        location = request.getfixturevalue("hbase_location") + "?namespace=operations"
    with webtable.open(location) as opened:
        yield opened
        if request.param == "hbase" and request.getfixturevalue("local_hbase") is None:
            for name in opened.tables():
                opened.drop_table(name)


@pytest.fixture
def state(store: Store) -> OperationalState:
    return open_state(store)
