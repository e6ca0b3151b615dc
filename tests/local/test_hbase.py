"""The life of a local HBase: up, down, killed, up again on the same data, and nothing left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from webtable.errors import CorruptData, InvalidRequest, ServerUnavailable, Timeout, WebTableError
from webtable.local import hbase_state
from webtable.local.hbase import LocalHBase
from webtable.local.hbase_state import ClusterSettings, Storage
from webtable.local.ports import HOST
from webtable.local.processes import Process, is_alive, wait_until

OWNER = """\
import sys
from webtable.local.hbase_state import ClusterSettings
from webtable.local.hbase import LocalHBase
settings = ClusterSettings(profile="tests", storage="local", ends_with_caller=True)
LocalHBase(sys.argv[1], settings).up()
"""


def _cluster(folder: Path, storage: Storage = "local") -> LocalHBase:
    settings = ClusterSettings(profile="tests", storage=storage, ends_with_caller=True)
    return LocalHBase(folder, settings)


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalHBase]:
    cluster = _cluster(tmp_path_factory.mktemp("folder with blanks"), "hdfs")
    yield cluster
    cluster.down(delete=True)
    assert not cluster.folder.exists()


@pytest.fixture
def on_hdfs(patient: LocalHBase) -> LocalHBase:
    """A running cluster on HDFS that a test may hurt."""
    patient.up()
    return patient


def _processes(cluster: LocalHBase) -> dict[str, Process]:
    state = hbase_state.load(cluster.folder)
    assert state is not None
    return dict(state.processes)


def _pids(cluster: LocalHBase) -> dict[str, int | None]:
    return {process.name: process.pid for process in cluster.status().processes}


def _write(location: str, table: str, rows: int) -> None:
    with webtable.open(location) as store:
        store.create_table(table, "f")
        with store.table(table).batch() as batch:
            for number in range(rows):
                batch.put(b"%06d" % number, {b"f:q": b"value"})


def _rows(location: str, table: str) -> int:
    with webtable.open(location) as store:
        return sum(1 for _ in store.table(table).scan())


def test_each_part_is_a_process_of_its_own(on_hdfs: LocalHBase) -> None:
    pids = _pids(on_hdfs)
    assert {"zookeeper", "namenode", "datanode", "master", "region-server-1"} <= set(pids)
    assert len(set(pids.values())) == len(pids)


def test_up_again_leaves_a_running_cluster_alone(on_hdfs: LocalHBase) -> None:
    before = _pids(on_hdfs)
    status = LocalHBase(on_hdfs.folder, ClusterSettings(region_servers=9)).up()
    assert (status.state, status.location) == ("running", on_hdfs.location)
    assert _pids(on_hdfs) == before


def test_both_locations_lead_to_it(on_hdfs: LocalHBase) -> None:
    status = on_hdfs.status()
    for location in (status.location, status.masters_location):
        assert location is not None
        with webtable.open(location) as store:
            store.tables()


def test_everything_listens_on_loopback_only(on_hdfs: LocalHBase) -> None:
    pids = [pid for pid in _pids(on_hdfs).values() if pid is not None]
    listening = [address for pid in pids for address in _listening(pid)]
    state = hbase_state.load(on_hdfs.folder)
    assert state is not None
    assert {host for host, _ in listening} == {HOST}
    assert {port for _, port in listening} >= set(state.ports.values())


def test_after_kill_9_of_everything_the_data_is_there(on_hdfs: LocalHBase) -> None:
    location = on_hdfs.location
    _write(location, "killed", 500)
    for process in _processes(on_hdfs).values():
        os.kill(process.pid, signal.SIGKILL)
    assert wait_until(lambda: on_hdfs.status().state == "stopped", 30)
    assert on_hdfs.up().location == location
    assert _rows(location, "killed") == 500


def test_single_processes_come_and_go(on_hdfs: LocalHBase) -> None:
    name = on_hdfs.add_region_server()
    assert on_hdfs.status().state == "running"
    on_hdfs.kill(name)
    assert on_hdfs.status().state == "degraded"
    assert on_hdfs.status().location is not None, "the others still serve"
    assert _pids(on_hdfs)[name] is None
    on_hdfs.start(name)
    assert on_hdfs.status().state == "running"


def test_a_process_that_is_not_there_is_a_usage_error(on_hdfs: LocalHBase) -> None:
    with pytest.raises(InvalidRequest, match="has no process 'region-server-77'; it has zookeeper"):
        on_hdfs.kill("region-server-77")


def test_what_dies_while_starting_is_named(tmp_path: Path) -> None:
    # A file where the root folder of HBase should be.
    (tmp_path / "taken").touch()
    settings = ClusterSettings(
        profile="tests",
        storage="local",
        properties={"hbase.rootdir": f"file://{tmp_path}/taken/hbase"},
        ends_with_caller=True,
    )
    cluster = LocalHBase(tmp_path / "cluster", settings)
    with pytest.raises(ServerUnavailable) as caught:
        cluster.up()
    log = cluster.folder / "logs" / "master.log"
    assert caught.value.message.startswith("master of the local HBase died while it started:\n")
    assert "taken" in caught.value.message, "the reason is in the lines that are shown"
    assert str(log) in caught.value.hint
    assert log.exists()
    assert not any(map(is_alive, _processes(cluster).values()))
    assert cluster.status().state == "stopped"


def test_a_start_that_takes_too_long_is_undone(tmp_path: Path) -> None:
    settings = ClusterSettings(profile="tests", storage="local", start_seconds=0)
    cluster = LocalHBase(tmp_path, settings)
    with pytest.raises(Timeout, match="zookeeper of the local HBase was not ready within 0 s"):
        cluster.up()
    assert len(_processes(cluster)) == 3
    assert not any(map(is_alive, _processes(cluster).values()))


def test_when_its_owner_is_killed_the_cluster_goes_too(tmp_path: Path) -> None:
    cluster = LocalHBase(tmp_path)
    with subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path)]) as owner:
        assert wait_until(lambda: len(cluster.status().processes) == 3, 60)
        owner.kill()
    state = hbase_state.load(tmp_path)
    assert state is not None
    assert state.watchdog is not None
    ours = [state.watchdog, *state.processes.values()]
    assert wait_until(lambda: not any(map(is_alive, ours)), 30)


def test_down_of_nothing_is_done_at_once(tmp_path: Path) -> None:
    LocalHBase(tmp_path / "none").down()
    LocalHBase(tmp_path / "none").down(delete=True)
    assert not (tmp_path / "none").exists()
    assert LocalHBase(tmp_path / "none").status().state == "stopped"


def test_a_folder_with_something_else_in_it_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(InvalidRequest, match=r"has something else in it: thesis\.txt"):
        _cluster(tmp_path).up()
    _cluster(tmp_path).down(delete=True)
    assert os.listdir(tmp_path) == ["thesis.txt"]


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("a:b", ClusterSettings(), "cannot live in .*a:b; take a folder without ':'"),
        ("a,b", ClusterSettings(), "cannot live in .*a,b; take a folder without ':' and ','"),
        ("ok", ClusterSettings(region_servers=0), "0 region servers are too few"),
    ],
)
def test_settings_that_cannot_be_are_rejected(
    tmp_path: Path, name: str, settings: ClusterSettings, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        LocalHBase(tmp_path / name, settings).up()


def test_a_folder_that_cannot_be_made_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WebTableError, match=r"the local HBase in .*/file/cluster: .*file"):
        _cluster(tmp_path / "file" / "cluster").up()


def test_a_damaged_record_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text('{"ports": ')
    with pytest.raises(CorruptData, match=r"cluster\.json is not the record of a local HBase"):
        LocalHBase(tmp_path).status()


def _listening(pid: int) -> Iterator[tuple[str, int]]:
    """Yields the addresses on which a process listens, in IPv4 and IPv6, as Linux lists them."""
    links = [os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()]
    for family in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{family}").read_text().splitlines()[1:]:
            local, state, inode = (line.split()[number] for number in (1, 3, 9))
            if state == "0A" and f"socket:[{inode}]" in links:
                address, port = local.split(":")
                quads = [str(byte) for byte in reversed(bytes.fromhex(address))]
                yield ".".join(quads), int(port, 16)
