"""What the processes of a local HBase are told: site files, log set-up, profiles, ports.

Everything is bound to 127.0.0.1. Nothing here starts a process.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

import msgspec

from webtable.cluster.hbase_state import HOST, ClusterState, ProfileName, Storage

__all__ = ["PROFILES", "Profile", "reserve_ports", "write_config"]


class Profile(msgspec.Struct, frozen=True):
    """How much memory and compiling the processes get, and which settings of HBase go with it."""

    heap_mb: Mapping[str, int]  # by kind of process
    java: tuple[str, ...]
    site: Mapping[str, str]


# Starting: what waits for something looks again sooner than a large cluster would.
_QUICK = {
    "hbase.master.wait.on.regionservers.interval": "100",
    "hbase.master.wait.on.regionservers.timeout": "300",
    "hbase.regionserver.msginterval": "200",
    "hbase.procedure.remote.dispatcher.delay.msec": "5",
    "hbase.assignment.dispatch.wait.msec": "5",
    "hbase.server.thread.wakefrequency": "1000",
    "hbase.lease.recovery.first.pause": "1000",
    "hbase.lease.recovery.pause": "500",
}
# Few threads: each costs memory and a moment at the start.
_SMALL = {
    "hbase.regionserver.handler.count": "6",
    "hbase.master.handler.count": "6",
    "hbase.regionserver.metahandler.count": "4",
    "hbase.regionserver.replication.handler.count": "1",
    "hbase.regionserver.executor.openregion.threads": "2",
    "hbase.netty.worker.count": "2",
    "hbase.master.procedure.threads": "2",
    "hbase.ipc.server.reservoir.enabled": "false",
}
# A test decides itself when files are merged.
_NO_COMPACTION = {
    "hbase.hregion.majorcompaction": "0",
    "hbase.hstore.compaction.min": "1000",
    "hbase.hstore.blockingStoreFiles": "10000",
}

PROFILES: Mapping[ProfileName, Profile] = {
    "normal": Profile(
        heap_mb={"namenode": 256, "datanode": 256, "zookeeper": 128, "master": 384, "server": 1024},
        java=("-XX:+UseSerialGC", "-XX:-UsePerfData"),
        site={**_QUICK, **_SMALL, "zookeeper.session.timeout": "30000"},
    ),
    "tests": Profile(
        heap_mb={"namenode": 192, "datanode": 192, "zookeeper": 96, "master": 256, "server": 384},
        java=("-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1"),
        site={**_QUICK, **_SMALL, **_NO_COMPACTION, "zookeeper.session.timeout": "10000"},
    ),
    "bench": Profile(
        heap_mb={"namenode": 512, "datanode": 512, "zookeeper": 256, "master": 512, "server": 4096},
        java=("-XX:+UseG1GC", "-XX:-UsePerfData"),
        site={**_QUICK, "zookeeper.session.timeout": "30000"},
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
# One line a block and one a heartbeat, for ever.
log4j.logger.BlockStateChange=WARN
log4j.logger.org.apache.hadoop.hdfs.StateChange=WARN
log4j.logger.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit=WARN
log4j.logger.org.apache.hadoop.hdfs.server.datanode.DataNode.clienttrace=WARN
"""


def write_config(folder: Path, state: ClusterState) -> None:
    """Writes `folder/conf`; the state's `properties` win over every setting of hbase-site.xml."""
    conf = folder / "conf"
    core, hdfs = _storage_site(folder, state.ports, state.storage)
    site = {**_hbase_site(folder, state.ports), **PROFILES[state.profile].site, **state.properties}
    for name, settings in (("core", core), ("hdfs", hdfs), ("hbase", {**core, **site})):
        (conf / f"{name}-site.xml").write_text(_xml(settings))
    (conf / "log4j.properties").write_text(_LOG4J)
    # The daemons of HDFS look for these on the class path and do not start without them; the jars lack them.
    for name in ("hdfs", "datanode"):
        web = conf / "webapps" / name / "WEB-INF"
        web.mkdir(parents=True, exist_ok=True)
        (web / "web.xml").write_text("<web-app/>\n")
    (conf / "webapps" / "static").mkdir(exist_ok=True)


def reserve_ports(wanted: Mapping[str, int | None]) -> dict[str, socket.socket]:
    """Binds one free port of 127.0.0.1 for each name, the wanted one where it is still free.

    A server of Java can still take a port that is held here (both sides allow reuse and this one does not
    listen), while nobody else is given it. Close the sockets when the servers run.
    """
    held: dict[str, socket.socket] = {}
    for name, port in wanted.items():
        held[name] = (_bind(port) if port else None) or _bind_any()
    return held


def _bind_any() -> socket.socket:
    # Below the range from which the system takes the ports of outgoing connections: none of those can
    # sit on the port when the cluster starts again and would like to have it back.
    low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    candidates = random.SystemRandom()
    for _ in range(10_000):
        if (bound := _bind(candidates.randrange(min(20_000, low // 2), low))) is not None:
            return bound
    raise OSError("no free port on 127.0.0.1")


def _bind(port: int) -> socket.socket | None:
    bound = socket.socket()
    try:
        bound.bind((HOST, port))
    except OSError:
        bound.close()
        return None
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return bound


def _storage_site(
    folder: Path, ports: Mapping[str, int], storage: Storage
) -> tuple[dict[str, str], dict[str, str]]:
    tmp = {"hadoop.tmp.dir": str(folder / "tmp")}
    if storage == "local":
        # The checksummed local file system loses what was not yet closed; the raw one does not.
        raw = {"fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem", "fs.defaultFS": "file:///"}
        root = {
            "hbase.rootdir": f"file://{folder / 'data' / 'hbase'}",
            "hbase.unsafe.stream.capability.enforce": "false",
        }
        return {**tmp, **raw, **root}, {}
    namenode = f"hdfs://{HOST}:{ports['namenode']}"
    core = {
        **tmp,
        "fs.defaultFS": namenode,
        "hbase.rootdir": f"{namenode}/hbase",
        # All processes start at the same time; who comes too early asks again soon.
        "ipc.client.connect.retry.interval": "200",
        "ipc.client.connect.max.retries": "300",
    }
    hdfs = {
        "dfs.replication": "1",
        "dfs.namenode.name.dir": str(folder / "data" / "namenode"),
        "dfs.datanode.data.dir": str(folder / "data" / "datanode"),
        "dfs.namenode.http-address": f"{HOST}:{ports['namenode-http']}",
        "dfs.datanode.address": f"{HOST}:{ports['datanode']}",
        "dfs.datanode.ipc.address": f"{HOST}:{ports['datanode-ipc']}",
        "dfs.datanode.http.address": f"{HOST}:{ports['datanode-http']}",
        "dfs.datanode.hostname": HOST,
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        # Safe mode ends as soon as the one data node has reported its blocks.
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.safemode.min.datanodes": "1",
        "dfs.heartbeat.interval": "1",
        "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
    }
    return core, hdfs


def _hbase_site(folder: Path, ports: Mapping[str, int]) -> dict[str, str]:
    return {
        "hbase.cluster.distributed": "true",
        "hbase.zookeeper.quorum": HOST,
        "hbase.zookeeper.property.clientPort": str(ports["zookeeper"]),
        "hbase.zookeeper.property.clientPortAddress": HOST,
        "hbase.zookeeper.property.dataDir": str(folder / "data" / "zookeeper"),
        "hbase.zookeeper.property.tickTime": "2000",
        "hbase.zookeeper.property.admin.enableServer": "false",
        "hbase.master.hostname": HOST,
        "hbase.master.ipc.address": HOST,
        "hbase.master.port": str(ports["master"]),
        "hbase.master.info.port": "-1",
        "hbase.masters": f"{HOST}:{ports['master']}",
        "hbase.regionserver.hostname": HOST,
        "hbase.regionserver.ipc.address": HOST,
        "hbase.regionserver.info.port": "-1",
        "hbase.wal.provider": "filesystem",
    }


def _xml(settings: Mapping[str, str]) -> str:
    lines = (
        f"  <property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in sorted(settings.items())
    )
    return "<configuration>\n" + "".join(lines) + "</configuration>\n"
