"""The programs that make up a local HBase: their classes, their command lines, how one sees that they are ready."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec

from webtable.cluster.hbase_config import PROFILES
from webtable.cluster.hbase_state import HOST, ProfileName
from webtable.errors import ServerUnavailable

__all__ = ["Launcher", "failure_lines", "is_ready", "kind_of"]

_OPEN = ("java.lang", "java.lang.reflect", "java.net", "java.nio", "java.util")
_OPEN_MORE = ("java.util.concurrent", "jdk.internal.ref", "sun.nio.ch")
_JAVA_17 = [
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN + _OPEN_MORE),
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
]


class Kind(msgspec.Struct, frozen=True):
    """One kind of program; `ready` is what its log says once it serves ("" = when its port answers)."""

    main: str
    arguments: tuple[str, ...] = ()
    ready: str = ""


KINDS: Mapping[str, Kind] = {
    "namenode": Kind("org.apache.hadoop.hdfs.server.namenode.NameNode"),
    "datanode": Kind("org.apache.hadoop.hdfs.server.datanode.DataNode"),
    "zookeeper": Kind("org.apache.hadoop.hbase.zookeeper.HQuorumPeer", ("start",)),
    "master": Kind(
        "org.apache.hadoop.hbase.master.HMaster", ("start",), "Master has completed initialization"
    ),
    "server": Kind(
        "org.apache.hadoop.hbase.regionserver.HRegionServer", ("start",), ": Serving as "
    ),
}


def kind_of(name: str) -> str:
    """Returns the kind of a process by its name: `region-server-2` is a `server`."""
    return "server" if name.startswith("region-server-") else name


class Launcher(msgspec.Struct, frozen=True):
    """Builds the command lines of one cluster."""

    java: str
    jars: Path
    folder: Path
    profile: ProfileName

    def command(self, name: str, port: int) -> list[str]:
        """Returns the command that runs the process `name`."""
        kind = KINDS[kind_of(name)]
        own = [f"-Dhbase.regionserver.port={port}"] if kind_of(name) == "server" else []
        return [*self._java(name), kind.main, *own, *kind.arguments]

    def format_namenode(self) -> None:
        """Makes an empty file system unless there is one.

        Raises:
            ServerUnavailable: The name node refused.
        """
        if (self.folder / "data" / "namenode" / "current" / "VERSION").exists():
            return
        main = KINDS["namenode"].main
        command = [*self._java("namenode"), main, "-format", "-force", "-nonInteractive"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise ServerUnavailable(
                f"the name node could not format {self.folder / 'data' / 'namenode'}: "
                + " | ".join((run.stdout + run.stderr).splitlines()[-3:]),
                hint=f"look at {self.log('namenode')}",
            )

    def log(self, name: str) -> Path:
        """Returns the log file of a process."""
        return self.folder / "logs" / f"{name}.log"

    def output(self, name: str) -> Path:
        """Returns the file with what a process printed itself: troubles of Java, mostly."""
        return self.folder / "logs" / f"{name}.out"

    def _java(self, name: str) -> list[str]:
        profile, conf = PROFILES[self.profile], self.folder / "conf"
        return [
            self.java,
            f"-Xmx{profile.heap_mb[kind_of(name)]}m",
            *profile.java,
            *_JAVA_17,
            "-Djava.net.preferIPv4Stack=true",
            f"-Djava.io.tmpdir={self.folder / 'tmp'}",
            f"-XX:ErrorFile={self.folder / 'logs'}/{name}.crash",
            f"-Dlog4j.configuration=file:{conf}/log4j.properties",
            f"-Dwebtable.log={self.log(name)}",
            "-cp",
            f"{self.jars}/*:{conf}",
        ]


def is_ready(name: str, port: int, log: Path, offset: int) -> bool:
    """Says whether a process serves; only what its log has after `offset` counts."""
    if line := KINDS[kind_of(name)].ready:
        return line in _read_from(log, offset)
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def failure_lines(log: Path, offset: int, output: Path) -> list[str]:
    """Returns the last lines of a failed process that say something."""
    lines = _read_from(log, offset).splitlines()
    loud = [line for line in lines if " ERROR " in line or " FATAL " in line or "Caused by" in line]
    return (loud or _read_from(output, 0).splitlines() or lines)[-4:]


def _read_from(path: Path, offset: int) -> str:
    try:
        with path.open("rb") as file:
            # A log that was rolled over in the meantime starts again at 0.
            file.seek(offset if path.stat().st_size >= offset else 0)
            return file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
