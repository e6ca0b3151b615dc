"""Servers, the balancer and namespaces, and lost responses of the master."""

from __future__ import annotations

import contextlib
import socket
import uuid
from collections.abc import Iterator

import pytest

from tests.hbase.conftest import NewTable
from tests.hbase.servers import Proxy
from webtable.errors import InvalidRequest, ReadOnly, Timeout
from webtable.local.processes import wait_until
from webtable.store.hbase.admin.master_client import wait_for
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.retry import Attempts
from webtable.store.hbase.wire.errors_and_responses import Server
from webtable.store.mutation import Put
from webtable.store.schema import Family, TableSchema


def test_the_cluster_as_its_master_sees_it(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table()
    engine.mutate_row(table, b"r", [Put(b"r", {b"f:v": b"x"})], "wal")
    (region,) = engine.admin.regions(table)

    def is_reported() -> bool:
        report = engine.admin.report()
        (server,) = [each for each in report.servers if each.name == region.server]
        assert (report.version or "").startswith("2.")
        assert report.cluster_id
        assert len((report.master or "").split(",")) == 3
        assert report.backup_masters == ()
        host, port, started = server.name.split(",")
        assert (server.address, server.started_ms) == (f"{host}:{port}", int(started))
        assert (server.requests_per_second or 0) >= 0
        assert 0 < (server.heap_used_bytes or 0) < (server.heap_max_bytes or 0)
        return (server.writes or 0) > 0 and (server.requests or 0) > 0 and server.regions > 0

    assert wait_until(is_reported, 20)


def test_the_balancer_is_switched_off_and_on(engine: HBaseEngine) -> None:
    was_on = engine.admin.switch_balancer(on=False)
    try:
        assert not engine.admin.report().is_balancing
        assert not engine.admin.balance().has_run
        assert engine.admin.switch_balancer(on=True) is False
        assert engine.admin.report().is_balancing
        assert engine.admin.switch_balancer(on=True) is True
    finally:
        engine.admin.switch_balancer(on=was_on)


def test_the_balancer_runs_once(engine: HBaseEngine) -> None:
    was_on = engine.admin.switch_balancer(on=True)
    try:
        # It does not while regions are on their way.
        assert wait_until(lambda: engine.admin.balance().has_run, 30)
    finally:
        engine.admin.switch_balancer(on=was_on)


def test_tables_of_a_namespace_without_one_in_the_location(hbase_location: str) -> None:
    namespace = f"n{uuid.uuid4().hex[:8]}"
    engine = HBaseEngine.connect(hbase_location)
    try:
        schema = TableSchema(name=f"{namespace}:t", families=(Family(name="f"),))
        engine.create_table(schema, ())
        assert (namespace, 1) in engine.admin.namespaces()
        assert schema.name in engine.list_tables()
        assert [region.table for region in engine.admin.regions(schema.name)] == [schema.name]
        with pytest.raises(InvalidRequest, match="still has tables"):
            engine.admin.drop_namespace(namespace)
        engine.drop_table(schema.name)
        engine.admin.drop_namespace(namespace)
        assert namespace not in {each.name for each in engine.admin.namespaces()}
        with pytest.raises(InvalidRequest, match="'hbase' is the cluster's own"):
            engine.admin.drop_namespace("hbase")
    finally:
        engine.close()


def test_a_reader_changes_nothing(location: str) -> None:
    reader = HBaseEngine.connect(location, read_only=True)
    try:
        for change in (
            lambda: reader.admin.switch_balancer(on=True),
            reader.admin.balance,
            lambda: reader.admin.move("r"),
            lambda: reader.admin.split("t"),
            lambda: reader.admin.split_region("r"),
            lambda: reader.admin.merge(["r", "s"]),
            lambda: reader.admin.take_snapshot("s", "t"),
            lambda: reader.admin.drop_namespace("n"),
        ):
            with pytest.raises(ReadOnly):
                change()
    finally:
        reader.close()


def test_work_that_is_not_done_in_time_goes_on() -> None:
    with pytest.raises(Timeout, match="splitting it is not done after 0 s") as caught:
        wait_for(lambda: False, Attempts(0.05), "splitting it")
    assert "goes on in the cluster" in caught.value.hint


class MasterProxy(Proxy):
    """A proxy that can cut the response to a certain call."""

    _awaited = b""

    def cut_answer_to(self, method: str) -> None:
        # As it stands in the header of a request: field 3, its length, its text.
        self._awaited = bytes([3 << 3 | 2, len(method)]) + method.encode()

    def _pass_on(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        if is_answer:
            super()._pass_on(source, sink, is_answer)
            return
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if self._awaited and self._awaited in data:
                    self._awaited = b""
                    self.cut_after = 0
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def master_proxy(engine: HBaseEngine) -> Iterator[MasterProxy]:
    master = engine.admin.report().master
    assert master is not None
    host, port, _ = master.split(",")
    proxy = MasterProxy(Server(host, int(port)))
    yield proxy
    proxy.close()


@pytest.fixture
def behind(engine: HBaseEngine, location: str, master_proxy: MasterProxy) -> Iterator[HBaseEngine]:
    """An engine that reaches the master through the proxy only."""
    host, port, _ = (engine.admin.report().master or "").split(",")
    mapped = f"{host}:{port}={master_proxy.address}"
    behind = HBaseEngine.connect(f"{location}&host_map={mapped}")
    yield behind
    behind.close()


def test_a_request_that_is_sent_again_starts_nothing_twice(
    behind: HBaseEngine, master_proxy: MasterProxy
) -> None:
    name = f"n{uuid.uuid4().hex[:8]}"
    master_proxy.cut_answer_to("CreateNamespace")
    behind.admin.create_namespace(name)  # else the second one would find the first one's work
    assert master_proxy.cuts == 1
    behind.admin.drop_namespace(name)


def test_a_snapshot_whose_response_was_lost_is_made_once(
    engine: HBaseEngine, behind: HBaseEngine, master_proxy: MasterProxy, new_table: NewTable
) -> None:
    table, name = new_table(), f"s{uuid.uuid4().hex[:12]}"
    for method in ("Snapshot", "DeleteSnapshot"):
        master_proxy.cut_answer_to(method)
        if method == "Snapshot":
            behind.admin.take_snapshot(name, table)
            assert [each.name for each in engine.admin.snapshots() if each.table == table] == [name]
        else:
            behind.admin.delete_snapshot(name)
            assert name not in {each.name for each in engine.admin.snapshots()}
    assert master_proxy.cuts == 2
