"""Servers that are taken out of service, brought back, and ended by a request."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

import webtable
from webtable import Store
from webtable.errors import NotFound
from webtable.local.hbase import LocalHBase
from webtable.local.processes import wait_until

from .conftest import IS_SOAK

pytestmark = pytest.mark.hbase
only_in_soak = pytest.mark.skipif(not IS_SOAK, reason="ending processes takes long")


@pytest.fixture
def store(patient: LocalHBase) -> Iterator[Store]:
    with webtable.open(f"{patient.location}?namespace=servers_{uuid.uuid4().hex[:8]}") as store:
        was_on = store.admin.switch_balancer(on=False)
        assert wait_until(lambda: len(store.admin.servers()) > 1, 60)
        yield store
        for name in store.admin.decommissioned():
            store.admin.recommission(name)
        for table in store.tables():
            store.drop_table(table)
        store.admin.switch_balancer(on=was_on)


def ended(cluster: LocalHBase) -> list[str]:
    return [each.name for each in cluster.status().processes if each.pid is None]


def test_a_server_is_emptied_and_filled_again(store: Store) -> None:
    table = store.create_table("t", "f", splits=[b"b", b"c", b"d"])
    leaving = store.admin.servers()[0].name
    first = table.regions()[0]
    store.admin.move(first, leaving)
    store.admin.decommission([leaving], offload=True)
    assert store.admin.decommissioned() == [leaving]
    assert wait_until(
        lambda: all(region.server not in (leaving, None) for region in table.regions()), 60
    )
    store.admin.recommission(leaving, [first])
    assert store.admin.decommissioned() == []
    assert wait_until(lambda: store.admin.region(first.name).server == leaving, 60)
    table.put(b"a", {b"f:q": b"v"})
    assert table.get(b"a") is not None


@only_in_soak
def test_a_server_is_ended_and_forgotten(store: Store, patient: LocalHBase) -> None:
    table = store.create_table("t", "f")
    (region,) = table.regions()
    assert region.server is not None
    before = {server.name for server in store.admin.servers()}
    store.admin.stop_server(region.server)
    assert region.server not in {server.name for server in store.admin.servers()}
    table.put(b"a", {b"f:q": b"v"})
    with pytest.raises(NotFound, match="server"):
        store.admin.stop_server(region.server)
    assert wait_until(lambda: ended(patient) != [], 60)
    for name in ended(patient):
        patient.start(name)
    assert wait_until(lambda: len(store.admin.servers()) == len(before), 60)
    dead = store.admin.report().dead_servers
    assert set(store.admin.clear_dead_servers()) <= set(dead)
    assert region.server not in store.admin.report().dead_servers


@only_in_soak
def test_a_master_is_ended_and_another_takes_over(store: Store, patient: LocalHBase) -> None:
    table = store.create_table("t", "f")
    before = store.admin.report().master
    store.admin.stop_master()
    table.put(b"a", {b"f:q": b"v"})  # region servers serve on
    assert wait_until(lambda: ended(patient) == ["master"], 60)
    patient.start("master")
    assert store.admin.report().master not in (None, before)
    store.admin.disable_table("t")
