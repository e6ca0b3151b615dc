"""What the shell does to a cluster: regions, servers, upkeep, snapshots; and its errors there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import webtable
from tests.shell.running import Shell
from webtable.local.processes import wait_until

pytestmark = pytest.mark.hbase

# As HBase's own shell prints them.
SERVER_FIGURES = [
    "requestsPerSecond",
    "numberOfOnlineRegions",
    "usedHeapMB",
    "maxHeapMB",
    "numberOfStores",
    "numberOfStorefiles",
    "storeRefCount",
    "maxCompactedStoreFileRefCount",
    "storefileUncompressedSizeMB",
    "storefileSizeMB",
    "memstoreSizeMB",
    "readRequestsCount",
    "filteredReadRequestsCount",
    "writeRequestsCount",
    "rootIndexSizeKB",
    "totalStaticIndexSizeKB",
    "totalStaticBloomSizeKB",
    "totalCompactingKVs",
    "currentCompactedKVs",
    "compactionProgressPct",
    "coprocessors",
]
REGION_FIGURES = [
    "storeCount",
    "storeFileCount",
    "storeRefCount",
    "maxCompactedStoreFileRefCount",
    "uncompressedStoreFileSize",
    "lastMajorCompactionTimestamp",
    "storeFileSize",
    "memStoreSize",
    "readRequestCount",
    "writeRequestCount",
    "rootLevelIndexSize",
    "uncompressedDataIndexSize",
    "bloomFilterSize",
    "compactingCellCount",
    "compactedCellCount",
    "compactionProgressPct",
    "completedSequenceId",
    "dataLocality",
    "dataLocalityForSsd",
    "blocksLocalWeight",
    "blocksLocalWithSsdWeight",
    "blocksTotalWeight",
    "compactionState",
    "regionSizeMB",
    "currentRegionCachedRatio",
]


@pytest.fixture
def engine_name() -> str:
    return "hbase"


@pytest.fixture
def cluster(location: str, capsys: pytest.CaptureFixture[str]) -> Iterator[Shell]:
    with webtable.open(location) as store:
        yield Shell(store, capsys)


def test_regions_and_upkeep(cluster: Shell) -> None:
    cluster.answer(
        "create 't', 'f', SPLITS => ['m']\nput 't', 'a', 'f:q', 'v'\nput 't', 'z', 'f:q', 'v'"
    )
    first, second = cluster.store.admin.regions("t")
    listed = cluster.answer("list_regions 't'")
    assert f" {first.full_name.decode()} |" in listed
    assert listed.endswith(" 2 rows\n")
    assert "0 rows" in cluster.answer("list_regions 't', 'no-such-server'")
    located = cluster.answer("locate_region 't', 'zebra'")
    assert f"{{ENCODED => {second.name}, NAME => '{second.full_name.decode()}'" in located
    server = cluster.store.admin.servers()[0].name
    assert f"\n{server}\n" in cluster.answer("list_liveservers")
    assert cluster.answer(f"regioninfo '{second.full_name.decode()}'") == (
        cluster.answer(f"regioninfo '{second.name}'")
    )
    cluster.answer(f"flush 't'; flush '{first.name}'; flush '{server}'")
    cluster.answer(f"compact 't'; major_compact '{first.name}', 'f'; compact_rs '{server}', true")
    assert cluster.answer("compaction_state 't'").startswith(("NONE", "MAJOR", "MINOR"))
    moved = cluster.run(f"move '{first.name}'")
    assert moved.code == 0 or "there is no other server to move region" in moved.err
    cluster.answer(f"split '{second.name}', 's'")
    assert cluster.answer("get_splits 't'").endswith('=> ["m", "s"]\n')
    assert "1 active master" in cluster.answer("status")
    assert f"    {server.replace(',', ':', 1).replace(',', ' ')}\n" in cluster.answer(
        "status 'simple'"
    )
    assert "HBase 2.6" in cluster.answer("version")
    assert cluster.answer("balancer_enabled").endswith(("=> true\n", "=> false\n"))
    assert cluster.answer("scan 't', {COLUMNS => 'f', LIMIT => 5}").endswith("2 row(s)\n")


def test_regions_out_of_service(cluster: Shell) -> None:
    cluster.answer("create 't', 'f', SPLITS => ['m']")
    cluster.answer("put 't', 'a', 'f:q', 'v'; put 't', 'z', 'f:q', 'v'; flush 't', 'f'")
    first, second = cluster.store.admin.regions("t")
    cluster.answer(f"unassign '{first.full_name.decode()}'")
    assert cluster.store.admin.region(first.name).state == "CLOSED"
    assert "is not in service: it is CLOSED" in cluster.error(f"unassign '{first.name}'")
    cluster.answer(f"assign '{first.name}'")
    assert "is in service already: it is OPEN" in cluster.error(f"assign '{first.name}'")
    cluster.answer(f"truncate_region '{second.name}'")
    assert cluster.answer("count 't'").startswith("1 row(s)\n")
    cleared = cluster.answer("clear_block_cache 't'")
    assert cleared.endswith(", failedRegionsSize=0, failedRegions=[]}\n")
    assert "table 'x' does not exist" in cluster.error("clear_block_cache 'x'")


def test_what_servers_do_and_remember(cluster: Shell) -> None:
    server = cluster.store.admin.servers()[0].name
    host, port, _ = server.split(",")
    assert wait_until(lambda: cluster.store.admin.tasks(server) != [], 20)
    shown = cluster.answer(f"processlist 'all', '{host},{port}'").splitlines()
    assert " tasks as of: 2" in shown[0]
    assert shown[2].startswith("| Host            | Start Time          | State    | Description")
    assert any(line.startswith(f"| {host:15} | 2") for line in shown)
    assert len({len(line) for line in shown[1:]}) == 1
    assert "0 tasks" in cluster.answer("processlist 'nowhere'")
    assert cluster.answer("list_unknownservers").startswith("SERVERNAME\n")
    running = cluster.answer("processlist 'operation'")  # others may be at work just now
    assert "No operation tasks currently running." in running or "| RUNNING  |" in running
    assert "| WAITING  |" not in running
    for command in ("get_slowlog_responses", "get_largelog_responses"):
        assert cluster.answer(f"{command} '*', {{LIMIT => 1}}").startswith("Retrieved ")
    assert "server 'nowhere' does not exist" in cluster.error("clear_slowlog_responses 'nowhere'")
    assert "limit 0 is out of range" in cluster.error("get_balancer_rejections LIMIT => 0")
    dump = cluster.answer("zk_dump").splitlines()
    assert dump[0] == "HBase is rooted at /hbase"
    assert dump[dump.index("Active master address: ") + 1] == (
        f" {cluster.store.admin.report().master}"
    )
    assert f" {server}" in dump[dump.index("Region servers:") :]
    assert "stat" in dump[-1] or "ZooKeeper" in dump[dump.index("Quorum Server Statistics:") + 2]


def test_status_has_the_figures_that_hbase_prints(cluster: Shell) -> None:
    cluster.answer("create 't', 'f', SPLITS => [\"m\\x00\"]")
    region = cluster.store.admin.regions("t")[1]
    name = region.full_name.decode().replace("\0", "\\\\x00")

    def is_reported() -> bool:
        return f'        "{name}"\n' in cluster.answer("status 'detailed'")

    assert wait_until(is_reported, 20)
    lines = cluster.answer("status 'detailed'").splitlines()
    assert lines[0].startswith("version 2.")
    assert lines[1].endswith(" regionsInTransition")
    server = lines.index(next(line for line in lines if line.endswith(" live servers"))) + 2
    assert figure_names(lines[server]) == SERVER_FIGURES
    assert figure_names(lines[lines.index(f'        "{name}"') + 1]) == REGION_FIGURES
    assert "Aggregate load: " in cluster.answer("status 'simple'")
    assert "GetClusterStatus, state=RUNNING" in cluster.answer("status 'tasks'")
    assert "        SINK:\n            TimeStampStarted=" in cluster.answer("status 'replication'")
    assert "SINK" not in cluster.answer("status 'replication', 'source'")


def figure_names(line: str) -> list[str]:
    """Returns the names in a line, without the one that is left out where it would divide by 0."""
    return [name for name in re.findall(r"(\w+)=", line) if name != "compressionRatio"]


def test_the_balancer_can_plan_only(cluster: Shell) -> None:
    if not cluster.store.admin.is_switched_on("balancer"):
        pytest.skip("the balancer of this cluster is off")
    shown = cluster.answer("balancer 'dry_run', 'ignore_rit'")
    assert "moves executed: 0\n" in shown or "Balancer did not run" in shown


def test_snapshots(cluster: Shell, location: str) -> None:
    name = f"{location.rpartition('=')[2]}_s"
    cluster.answer("create 't', 'f'; put 't', 'a', 'f:q', 'v'")
    cluster.answer(f"snapshot 't', '{name}'")
    assert cluster.answer(f"list_snapshots '{name}'").endswith(f'1 row(s)\n=> ["{name}"]\n')
    assert f" {name} t (" in cluster.answer("list_table_snapshots 't'")
    cluster.answer(f"clone_snapshot '{name}', 'copy'")
    assert cluster.answer("count 'copy'") == "1 row(s)\n=> 1\n"
    assert "enabled" in cluster.error(f"restore_snapshot '{name}'")
    cluster.answer(f"deleteall 't', 'a'; disable 't'; restore_snapshot '{name}'; enable 't'")
    assert cluster.answer("count 't'") == "1 row(s)\n=> 1\n"
    assert cluster.answer(f"delete_all_snapshot '{name}'\nn\nlist_snapshots '{name}'").endswith(
        f'=> ["{name}"]\n'
    )
    shown = cluster.answer(f"delete_table_snapshots 't', '{name}'\ny\nlist_snapshots '{name}'")
    assert f"Successfully deleted snapshot: {name}\n" in shown
    assert shown.endswith("0 row(s)\n=> []\n")
    assert cluster.answer(f"delete_all_snapshot '{name}'").endswith(
        f"No snapshots matched the regex {name}\n"
    )


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("scan 'nowhere'", "table 'nowhere' does not exist"),
        ("move 'no-region'", "region 'no-region' does not exist"),
        ("restore_snapshot 'no-such'", "snapshot 'no-such' does not exist"),
        ("drop_namespace 'no_such'", "namespace 'no_such' does not exist"),
        ("flush 'host,1,2'", "server 'host,1,2' does not exist"),
    ],
)
def test_errors_of_a_cluster_are_ours(cluster: Shell, command: str, message: str) -> None:
    assert cluster.error(command).startswith(f"script:1: {message}\n")
