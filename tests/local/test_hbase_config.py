"""The files that tell the processes of a local HBase what to do."""

from __future__ import annotations

from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import pytest

from webtable.local.hbase_config import PROFILES, write_config
from webtable.local.hbase_state import ClusterState, ProfileName, Storage

QUICK = "-XX:TieredStopAtLevel=1"
PORTS = {
    "zookeeper": 1,
    "master": 2,
    "namenode": 3,
    "namenode-http": 4,
    "datanode": 5,
    "datanode-http": 6,
    "datanode-ipc": 7,
}


def _site(folder: Path, name: str) -> dict[str, str]:
    properties = ElementTree.parse(folder / "conf" / f"{name}-site.xml").getroot()
    return {
        each.findtext("name", ""): each.findtext("value", "")
        for each in properties.iter("property")
    }


def _write(
    folder: Path,
    storage: Storage = "hdfs",
    profile: ProfileName = "tests",
    properties: dict[str, str] | None = None,
) -> None:
    state = ClusterState(
        region_servers=[],
        storage=storage,
        profile=profile,
        properties=properties or {},
        ports=PORTS,
        processes={},
    )
    write_config(folder, state)


def test_a_property_of_the_caller_wins(tmp_path: Path) -> None:
    wanted = {"zookeeper.session.timeout": "3000", "hbase.rootdir": "here", "my.own": "<&>"}
    _write(tmp_path, properties=wanted)
    assert wanted.items() <= _site(tmp_path, "hbase").items()


@pytest.mark.parametrize("storage", get_args(Storage))
def test_every_address_is_loopback(tmp_path: Path, storage: Storage) -> None:
    _write(tmp_path, storage)
    files = {path.name for path in (tmp_path / "conf").glob("*-site.xml")}
    assert (
        files
        == {
            "hdfs": {"core-site.xml", "hbase-site.xml", "hdfs-site.xml"},
            "local": {"hbase-site.xml"},
        }[storage]
    )
    settings = {
        name: value
        for file in files
        for name, value in _site(tmp_path, file.removesuffix("-site.xml")).items()
    }
    addresses = {
        name: value
        for name, value in settings.items()
        if name.endswith(("address", "hostname", "quorum", "defaultFS", "Address", "masters"))
    }
    assert len(addresses) >= 7
    assert {name for name, value in addresses.items() if "127.0.0.1" not in value} == set()


def test_in_tests_nothing_is_compacted_or_flushed_by_itself(tmp_path: Path) -> None:
    _write(tmp_path, profile="tests")
    site = _site(tmp_path, "hbase")
    assert site["hbase.hregion.majorcompaction"] == "0"
    assert site["hbase.hstore.compaction.min"] == "1000"
    assert site["hbase.regionserver.optionalcacheflushinterval"] == "0"
    _write(tmp_path, profile="normal")
    assert "hbase.hstore.compaction.min" not in _site(tmp_path, "hbase")


def test_a_file_in_hdfs_is_closed_without_a_long_pause(tmp_path: Path) -> None:
    _write(tmp_path)
    site, name = _site(tmp_path, "hdfs"), "dfs.client.block.write.locateFollowingBlock"
    pause, retries = int(site[f"{name}.initial.delay.ms"]), int(site[f"{name}.retries"])
    assert pause <= 10
    # Each pause is twice as long as the one before; together they outlast a slow data node.
    assert pause * (2**retries - 1) >= 10_000


@pytest.mark.parametrize(
    ("profile", "optimised"),
    [("normal", {"server"}), ("tests", set()), ("bench", {"server", "datanode"})],
)
def test_the_process_that_gets_the_second_compiler(
    profile: ProfileName, optimised: set[str]
) -> None:
    chosen = PROFILES[profile]
    quick = {kind for kind in chosen.heap_mb if QUICK in chosen.java_options(kind)}
    assert chosen.heap_mb.keys() - quick == optimised
