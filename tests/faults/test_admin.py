"""Administration that needs several servers: moves, balance, and a master that goes away."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator

import pytest

import webtable
from webtable import Region, Store, Table
from webtable.errors import WebTableError
from webtable.local.hbase import LocalHBase
from webtable.local.processes import wait_until

from .conftest import IS_SOAK

pytestmark = pytest.mark.hbase

KEYS = [b"%02d" % number for number in range(40)]


@pytest.fixture
def store(patient: LocalHBase) -> Iterator[Store]:
    with webtable.open(f"{patient.location}?namespace=admin_{uuid.uuid4().hex[:8]}") as store:
        was_on = store.admin.switch_balancer(on=False)
        assert wait_until(lambda: len(store.admin.servers()) == 3, 60)
        yield store
        for name in store.tables():
            store.drop_table(name)
        store.admin.switch_balancer(on=was_on)


def filled(store: Store, splits: list[bytes]) -> Table:
    table = store.create_table("t", "f", splits=splits)
    with table.batch() as batch:
        for key in KEYS:
            batch.put(key, {b"f:v": b"x"})
    return table


def keys(table: Table) -> list[bytes]:
    return [row.key for row in table.scan()]


def test_moves_to_a_server_and_anywhere(store: Store) -> None:
    table = filled(store, [])
    (region,) = table.regions()
    elsewhere = store.admin.move(region)
    assert elsewhere != region.server
    assert store.admin.region(region.name).server == elsewhere
    assert keys(table) == KEYS
    (server,) = [each for each in store.admin.servers() if each.name == region.server]
    assert store.admin.move(region.name, server.address) == region.server
    assert store.admin.move(region, region.server) == region.server  # it is there already
    assert store.admin.region(region.name).server == region.server
    assert keys(table) == KEYS


def test_the_balancer_spreads_what_was_heaped_up(store: Store) -> None:
    table = filled(store, [b"%02d" % number for number in range(1, 6)])
    heap = store.admin.servers()[0].name
    for region in table.regions():
        store.admin.move(region, heap)
    assert {region.server for region in table.regions()} == {heap}

    def is_spread() -> bool:  # it counts what servers have reported
        balanced = store.admin.balance()
        assert balanced.has_run
        assert (balanced.moves_made or 0) <= (balanced.moves_planned or 0)
        return len({region.server for region in table.regions()}) > 1

    assert not store.admin.balance().has_run
    store.admin.switch_balancer(on=True)
    assert wait_until(is_spread, 60)
    assert keys(table) == KEYS


def test_one_server_is_flushed(store: Store) -> None:
    table = filled(store, [b"20"])
    low, high = table.regions()
    one, other = [server.name for server in store.admin.servers()][:2]
    store.admin.move(low, one)
    store.admin.move(high, other)
    with table.batch() as batch:
        for key in KEYS:
            batch.put(key, {b"f:v": b"y"})
    store.admin.flush_server(one)

    def memory(region: Region) -> int | None:
        return store.admin.region(region.name).memory_bytes

    assert memory(low) == 0
    assert (memory(high) or 0) > 0
    assert [region.name for region in store.admin.regions(server=one)] == [low.name]


@pytest.mark.skipif(not IS_SOAK, reason="the chaos of the short form kills a master too")
def test_a_long_call_survives_its_master(store: Store, patient: LocalHBase) -> None:
    errors: list[WebTableError] = []

    def create() -> None:
        try:
            store.create_table("t", "f", splits=[b"%02d" % number for number in range(1, 60)])
        except WebTableError as exc:
            errors.append(exc)

    creation = threading.Thread(target=create)
    creation.start()
    begun = wait_until(lambda: "t" in store.tables(), 30)
    patient.kill("master")
    patient.start("master")
    creation.join(120)
    assert begun
    assert errors == []
    assert len(store.table("t").regions()) == 60
