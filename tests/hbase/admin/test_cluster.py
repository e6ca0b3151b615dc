"""What only a cluster has: switches and chores of the master, single servers, their memory."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import get_args

import pytest

from tests.hbase.admin.test_servers import MasterProxy
from tests.hbase.conftest import NewTable
from webtable import Admin, Switch
from webtable.errors import InvalidRequest, NotFound, ReadOnly, WebTableError
from webtable.store.cluster_admin import ClusterAdmin
from webtable.store.hbase.admin.admin import HBaseAdmin
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.wire.errors_and_responses import Server
from webtable.store.mutation import Put

SWITCHES: tuple[Switch, ...] = get_args(Switch)


@pytest.mark.parametrize("switch", [each for each in SWITCHES if each != "split"])
def test_a_switch_is_set_and_says_what_it_was(engine: HBaseEngine, switch: Switch) -> None:
    was_on = engine.admin.is_switched_on(switch)
    try:
        assert engine.admin.switch(switch, on=False) is was_on
        assert engine.admin.is_switched_on(switch) is False
        assert engine.admin.switch(switch, on=True) is False
        assert engine.admin.is_switched_on(switch) is True
    finally:
        engine.admin.switch(switch, on=was_on)


def test_chores_are_run_at_once(engine: HBaseEngine, new_table: NewTable) -> None:
    assert engine.admin.run_catalog_janitor() >= -1
    assert isinstance(engine.admin.run_cleaner(), bool)
    assert isinstance(engine.admin.run_hbck(), bool)
    assert isinstance(engine.admin.normalize([new_table()], regex=".*"), bool)
    with pytest.raises(InvalidRequest, match=r"'\[' is not a regular expression of Java"):
        engine.admin.normalize(regex="[")
    engine.admin.flush_master_store()
    assert engine.admin.is_in_maintenance() is False


def test_properties_of_namespaces(hbase_location: str) -> None:
    name = f"n{uuid.uuid4().hex[:8]}"
    engine = HBaseEngine.connect(hbase_location)
    try:
        engine.admin.create_namespace(name, {"b": "2", "a": "1"})
        assert list(engine.admin.namespace_properties(name).items()) == [("a", "1"), ("b", "2")]
        engine.admin.alter_namespace(name, {"a": None, "c": "ü"})
        assert engine.admin.namespace_properties(name) == {"b": "2", "c": "ü"}
        engine.admin.drop_namespace(name)
        for call in (
            lambda: engine.admin.namespace_properties(name),
            lambda: engine.admin.alter_namespace(name, {}),
            lambda: engine.admin.normalize(namespace=name),
        ):
            with pytest.raises(NotFound, match=f"namespace '{name}' does not exist"):
                call()
    finally:
        engine.close()


def test_one_server_by_itself(engine: HBaseEngine) -> None:
    server = engine.admin.servers()[0]
    engine.admin.roll_wal(server.address)
    engine.admin.clear_compaction_queues(server.name, ["long"])
    assert engine.admin.switch_compactions(on=True, servers=[server.name]) == {server.name: True}
    assert engine.admin.clear_slow_calls([server.name]).keys() == {server.name}
    assert engine.admin.slow_calls([server.name], where={"table": "none"}, match_all=True) == []
    assert engine.admin.decommissioned() == []
    engine.admin.recommission(server.name)
    states = {task.state for task in engine.admin.tasks(server.name)}
    assert states <= {"RUNNING", "WAITING", "COMPLETE", "ABORTED"}


def test_the_cache_of_a_table_is_cleared(engine: HBaseEngine, new_table: NewTable) -> None:
    table = new_table()
    engine.mutate_row(table, b"r", [Put(b"r", {b"f:v": b"x"})], "wal")
    engine.admin.flush(table, "f")
    (region,) = engine.admin.regions(table)
    assert region.memory_bytes == 0
    cleared = engine.admin.clear_block_cache(table)
    assert cleared.failed == {}
    assert cleared.cache_bytes > 0


def test_the_state_in_zookeeper(engine: HBaseEngine) -> None:
    report = engine.admin.report()
    found = engine.admin.zookeeper()
    assert found.parent == "/hbase"
    assert found.master == report.master
    assert set(found.servers) == {server.name for server in report.servers}
    assert found.meta_servers[0] in found.servers
    assert all(lines for lines in found.quorum.values())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda admin: admin.switch("lights", on=True), "switch 'lights' is not valid"),
        (lambda admin: admin.is_switched_on(5), "switch 5 is not valid"),
        (lambda admin: admin.normalize("t"), "tables 't' is not a list"),
        (lambda admin: admin.normalize(namespace="default"), "is not the namespace"),
        (lambda admin: admin.decommission("rs1"), "is not a list of names"),
        (lambda admin: admin.decommission([]), "no server is named"),
        (lambda admin: admin.decommission(["rs1:1"]), "server 'rs1:1' does not exist"),
        (lambda admin: admin.recommission("rs1:1"), "server 'rs1:1' does not exist"),
        (lambda admin: admin.clear_dead_servers(["rs1,1,1"]), "dead server 'rs1,1,1' does not"),
        (lambda admin: admin.stop_server("rs1:1"), "server 'rs1:1' does not exist"),
        (lambda admin: admin.tasks("rs1:1"), "server 'rs1:1' does not exist"),
        (lambda admin: admin.clear_compaction_queues("x", ["wide"]), "queue 'wide' is not valid"),
        (lambda admin: admin.slow_calls(where={"colour": "red"}), "calls have no 'colour'"),
        (lambda admin: admin.slow_calls(limit=0), "limit 0 is out of range"),
        (lambda admin: admin.balancer_decisions(True), "limit True is out of range"),
        (lambda admin: admin.assign("nowhere"), "region 'nowhere' does not exist"),
        (lambda admin: admin.truncate_region("nowhere"), "region 'nowhere' does not exist"),
        (lambda admin: admin.clear_block_cache("nowhere"), "table 'nowhere' does not exist"),
        (lambda admin: admin.create_namespace("x", {"a": 5}), "property 'a' of namespace 'x' is 5"),
    ],
)
def test_bad_input_gets_one_clear_error(
    engine: HBaseEngine, call: Callable[[Admin], object], message: str
) -> None:
    with pytest.raises(WebTableError, match=message) as caught:
        call(engine.admin)
    assert caught.value.hint


def test_a_reader_changes_nothing(location: str) -> None:
    reader = HBaseEngine.connect(location, read_only=True)
    changes: list[Callable[[Admin], object]] = [
        lambda admin: admin.switch("cleaner", on=True),
        lambda admin: admin.normalize(),
        lambda admin: admin.run_catalog_janitor(),
        lambda admin: admin.run_cleaner(),
        lambda admin: admin.run_hbck(),
        lambda admin: admin.flush_master_store(),
        lambda admin: admin.stop_master(),
        lambda admin: admin.assign("r"),
        lambda admin: admin.unassign("r"),
        lambda admin: admin.truncate_region("r"),
        lambda admin: admin.clear_block_cache("t"),
        lambda admin: admin.decommission(["s"]),
        lambda admin: admin.recommission("s"),
        lambda admin: admin.clear_dead_servers(),
        lambda admin: admin.stop_server("s"),
        lambda admin: admin.roll_wal("s"),
        lambda admin: admin.switch_compactions(on=True),
        lambda admin: admin.clear_compaction_queues("s"),
        lambda admin: admin.clear_slow_calls(),
        lambda admin: admin.alter_namespace("n", {}),
    ]
    try:
        for change in changes:
            with pytest.raises(ReadOnly):
                change(reader.admin)
        assert reader.admin.is_switched_on("balancer") in (True, False)
    finally:
        reader.close()


def test_the_masters_know_nothing_of_zookeeper(engine: HBaseEngine) -> None:
    host, port, _ = (engine.admin.report().master or "").split(",")
    by_masters = HBaseEngine.connect(f"hbase+masters://{host}:{port}")
    try:
        with pytest.raises(InvalidRequest, match="is reached by its masters, not by ZooKeeper"):
            by_masters.admin.zookeeper()
    finally:
        by_masters.close()


def test_every_call_is_made_by_the_native_client() -> None:
    names = {name for name in vars(ClusterAdmin) if not name.startswith("_")}
    inherited = {name for name in names if getattr(HBaseAdmin, name) is getattr(ClusterAdmin, name)}
    assert inherited == set()


def test_a_resend_after_a_lost_response_finds_its_own_work(
    engine: HBaseEngine, location: str, new_table: NewTable
) -> None:
    table = new_table()
    (region,) = engine.admin.regions(table)
    host, port, _ = (engine.admin.report().master or "").split(",")
    proxy = MasterProxy(Server(host, int(port)))
    behind = HBaseEngine.connect(f"{location}&host_map={host}:{port}={proxy.address}")
    try:
        proxy.cut_answer_to("UnassignRegion")
        behind.admin.unassign(region)
        assert engine.admin.region(region.name).state == "CLOSED"
        proxy.cut_answer_to("AssignRegion")
        behind.admin.assign(region)
        assert engine.admin.region(region.name).state == "OPEN"
        proxy.cut_answer_to("TruncateRegion")
        behind.admin.truncate_region(region)
        assert proxy.cuts == 3
    finally:
        behind.close()
        proxy.close()
