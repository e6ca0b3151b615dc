"""An empty store of each engine for every test: a schema update compares all tables of a store."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from webtable.store.store import Store

ENGINES = ["rocks", pytest.param("hbase", marks=pytest.mark.hbase)]


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Store]:
    with webtable.open(str(tmp_path / "store")) as opened:
        yield opened


@pytest.fixture(params=ENGINES)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "rocks":
        yield str(tmp_path / "store")
        return
    cluster: str = request.getfixturevalue("hbase_location")
    where = f"{cluster}?namespace=schema_{secrets.token_hex(4)}"
    yield where
    with webtable.open(where) as opened:
        for name in opened.tables():
            opened.drop_table(name)


@pytest.fixture
def store(location: str) -> Iterator[Store]:
    with webtable.open(location) as opened:
        yield opened
