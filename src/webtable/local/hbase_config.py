"""The configuration of the processes of a local HBase: site files, log set-up, and the profiles.

Everything is bound to 127.0.0.1. Nothing here starts a process.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

import msgspec

from webtable.local.hbase_state import ClusterState, ProfileName
from webtable.local.ports import HOST

__all__ = ["PROFILES", "Profile", "write_config"]


class Profile(msgspec.Struct, frozen=True):
    """How much memory and compiling the processes get, and which settings of HBase go with it."""

    heap_mb: Mapping[str, int]  # by kind of process
    optimised: frozenset[str]  # the kinds that get the second compiler too: slow start, fast code
    collector: str
    site: Mapping[str, str]

    def java_options(self, kind: str) -> list[str]:
        """Returns Java's options for memory and compiling, for one kind of process."""
        quick = [] if kind in self.optimised else ["-XX:TieredStopAtLevel=1"]
        return [f"-Xmx{self.heap_mb[kind]}m", self.collector, "-XX:-UsePerfData", *quick]


# What waits for something looks again sooner than in a large cluster.
_QUICK = {
    "hbase.assignment.dispatch.wait.msec": "5",
    "hbase.lease.recovery.first.pause": "1000",
    "hbase.lease.recovery.pause": "500",
    "hbase.master.wait.on.regionservers.interval": "100",
    "hbase.master.wait.on.regionservers.timeout": "300",
    "hbase.procedure.remote.dispatcher.delay.msec": "5",
    "hbase.regionserver.msginterval": "200",
    "hbase.server.thread.wakefrequency": "1000",
}
# Each thread costs memory and a moment at the start.
_FEW_THREADS = {
    "hbase.ipc.server.reservoir.enabled": "false",
    "hbase.master.handler.count": "6",
    # Creating a table waits for files most of the time, and a store of pages has eleven tables.
    "hbase.master.procedure.threads": "8",
    "hbase.netty.worker.count": "2",
    "hbase.regionserver.executor.openregion.threads": "8",
    "hbase.regionserver.handler.count": "6",
    "hbase.regionserver.metahandler.count": "4",
    "hbase.regionserver.replication.handler.count": "1",
}
# A test decides itself when memory is flushed and files are merged.
_NOTHING_BY_ITSELF = {
    "hbase.hregion.majorcompaction": "0",
    "hbase.hstore.blockingStoreFiles": "10000",
    "hbase.hstore.compaction.min": "1000",
    "hbase.regionserver.optionalcacheflushinterval": "0",
}
# Each family of each region takes one such piece of memory with its first cell; HBase's own
# 2 MB do not go with a small heap and hundreds of small tables.
_MANY_TABLES = {"hbase.hregion.memstore.mslab.chunksize": "262144"}
# How long a silent process counts as alive; HBase's own 90 s are for large heaps.
_SESSION = "zookeeper.session.timeout"

PROFILES: Mapping[ProfileName, Profile] = {
    "normal": Profile(
        heap_mb={"namenode": 256, "datanode": 256, "zookeeper": 128, "master": 384, "server": 1024},
        optimised=frozenset({"server"}),
        collector="-XX:+UseSerialGC",
        site={**_QUICK, **_FEW_THREADS, _SESSION: "30000"},
    ),
    "tests": Profile(
        heap_mb={"namenode": 192, "datanode": 192, "zookeeper": 96, "master": 256, "server": 1024},
        optimised=frozenset(),
        collector="-XX:+UseSerialGC",
        site={
            **_QUICK,
            **_FEW_THREADS,
            **_NOTHING_BY_ITSELF,
            **_MANY_TABLES,
            _SESSION: "10000",
        },
    ),
    "bench": Profile(
        heap_mb={"namenode": 512, "datanode": 512, "zookeeper": 256, "master": 512, "server": 4096},
        optimised=frozenset({"server", "datanode"}),
        collector="-XX:+UseG1GC",
        site={**_QUICK, _SESSION: "30000"},
    ),
}

_LOG4J = """\
log4j.rootLogger=INFO,file
log4j.appender.file=org.apache.log4j.RollingFileAppender
log4j.appender.file.File=${webtable.log}
log4j.appender.file.MaxFileSize=16MB
log4j.appender.file.MaxBackupIndex=2
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{1}: %m%n
# A line for each block and each heartbeat, for ever.
log4j.logger.BlockStateChange=WARN
log4j.logger.org.apache.hadoop.hdfs.StateChange=WARN
log4j.logger.org.apache.hadoop.hdfs.server.datanode.DataNode.clienttrace=WARN
log4j.logger.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit=WARN
"""


def write_config(folder: Path, state: ClusterState) -> None:
    """Writes `folder/conf`; the state's `properties` win over every setting of hbase-site.xml."""
    conf = folder / "conf"
    conf.mkdir(exist_ok=True)
    hbase = _hbase_site(folder, state.ports)
    if state.storage == "hdfs":
        core = _core_site(folder, state.ports)
        _write_site(conf / "core-site.xml", core)
        _write_site(conf / "hdfs-site.xml", _hdfs_site(folder, state.ports))
        hbase["hbase.rootdir"] = f"{core['fs.defaultFS']}/hbase"
    else:
        hbase |= _local_site(folder)
    _write_site(
        conf / "hbase-site.xml", {**hbase, **PROFILES[state.profile].site, **state.properties}
    )
    (conf / "log4j.properties").write_text(_LOG4J, encoding="ascii")
    # HDFS looks for these on the class path and does not start without; the jars have none.
    for name in ("hdfs", "datanode"):
        web = conf / "webapps" / name / "WEB-INF"
        web.mkdir(parents=True, exist_ok=True)
        (web / "web.xml").write_text("<web-app/>\n", encoding="ascii")
    (conf / "webapps" / "static").mkdir(exist_ok=True)


def _core_site(folder: Path, ports: Mapping[str, int]) -> dict[str, str]:
    return {
        "fs.defaultFS": f"hdfs://{HOST}:{ports['namenode']}",
        "hadoop.tmp.dir": str(folder / "tmp"),
        # As in `_hdfs_site`, for the data node.
        "ipc.client.connect.max.retries": "300",
        "ipc.client.connect.retry.interval": "200",
    }


def _hdfs_site(folder: Path, ports: Mapping[str, int]) -> dict[str, str]:
    return {
        "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
        # A client that closes a file asks the name node until the last block has been reported. The
        # first request is often a moment too early, and the client then waits 400 ms by default:
        # twice for each new table. Here it waits 5 ms, twice as long each time, 10 s in all.
        "dfs.client.block.write.locateFollowingBlock.initial.delay.ms": "5",
        "dfs.client.block.write.locateFollowingBlock.retries": "11",
        # All processes start together. One that starts before the name node tries again: 5 times a
        # second, for a minute.
        "dfs.client.retry.policy.enabled": "true",
        "dfs.client.retry.policy.spec": "200,300",
        "dfs.datanode.address": f"{HOST}:{ports['datanode']}",
        "dfs.datanode.data.dir": str(folder / "data" / "datanode"),
        "dfs.datanode.hostname": HOST,
        "dfs.datanode.http.address": f"{HOST}:{ports['datanode-http']}",
        "dfs.datanode.ipc.address": f"{HOST}:{ports['datanode-ipc']}",
        "dfs.heartbeat.interval": "1",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.namenode.http-address": f"{HOST}:{ports['namenode-http']}",
        "dfs.namenode.name.dir": str(folder / "data" / "namenode"),
        # Safe mode ends as soon as the data node has reported its blocks, and not before: HBase
        # waits for that, but treats a block that no data node has reported as lost.
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.safemode.min.datanodes": "1",
        "dfs.replication": "1",
    }


def _local_site(folder: Path) -> dict[str, str]:
    return {
        "hadoop.tmp.dir": str(folder / "tmp"),
        "hbase.rootdir": f"file://{folder / 'data' / 'hbase'}",
        # The usual local file system writes checksums, and loses what was not yet closed.
        "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
        "hbase.unsafe.stream.capability.enforce": "false",
    }


def _hbase_site(folder: Path, ports: Mapping[str, int]) -> dict[str, str]:
    return {
        "hbase.cluster.distributed": "true",
        "hbase.master.hostname": HOST,
        "hbase.master.info.port": "-1",  # its pages are not in the jars
        "hbase.master.ipc.address": HOST,
        "hbase.master.port": str(ports["master"]),
        "hbase.masters": f"{HOST}:{ports['master']}",
        "hbase.regionserver.hostname": HOST,
        "hbase.regionserver.info.port": "-1",
        "hbase.regionserver.ipc.address": HOST,
        "hbase.wal.provider": "filesystem",
        "hbase.zookeeper.property.admin.enableServer": "false",
        "hbase.zookeeper.property.clientPort": str(ports["zookeeper"]),
        "hbase.zookeeper.property.clientPortAddress": HOST,
        "hbase.zookeeper.property.dataDir": str(folder / "data" / "zookeeper"),
        "hbase.zookeeper.property.tickTime": "2000",
        "hbase.zookeeper.quorum": HOST,
    }


def _write_site(path: Path, settings: Mapping[str, str]) -> None:
    lines = (
        f"  <property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in sorted(settings.items())
    )
    text = "<configuration>\n" + "".join(lines) + "</configuration>\n"
    path.write_text(text, encoding="utf-8")
