"""The programs of a local HBase: how to run each, and how to see that it is ready."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path

import msgspec

from webtable.local.class_archive import ClassArchive
from webtable.local.hbase_config import PROFILES
from webtable.local.hbase_state import ProfileName
from webtable.local.ports import HOST

__all__ = ["JAVA_OPTIONS", "Launcher"]

_OPEN = (
    "java.lang",
    "java.lang.reflect",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "jdk.internal.ref",
    "sun.nio.ch",
)
JAVA_OPTIONS = (
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN),
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Djava.net.preferIPv4Stack=true",
    "-XX:+ExitOnOutOfMemoryError",
)
"""What every program of HBase's needs on Java 17."""

_SHOWN_LINES = 4
_SHOWN_CHARACTERS = 400

_MAIN: Mapping[str, str] = {
    "namenode": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "datanode": "org.apache.hadoop.hdfs.server.datanode.DataNode",
    "zookeeper": "org.apache.hadoop.hbase.zookeeper.HQuorumPeer",
    "master": "org.apache.hadoop.hbase.master.HMaster",
    "server": "org.apache.hadoop.hbase.regionserver.HRegionServer",
}
# The log line that a process writes when it serves; the others accept connections then.
_READY: Mapping[str, str] = {
    # By then hbase:meta is assigned and the namespaces are there: tables can be created.
    "master": "HMaster: Master has completed initialization",
    "server": "HRegionServer: Serving as ",
}
_EXCEPTION = re.compile(r"(Caused by: )?[\w.$]+(Exception|Error)\b")


class Launcher(msgspec.Struct, frozen=True):
    """Starts the programs of one cluster, and has the paths of their logs."""

    java: str
    jars: Path
    folder: Path
    profile: ProfileName
    archive: ClassArchive

    def command(self, name: str, port: int) -> list[str]:
        """Returns the command line of the process `name`."""
        match _kind(name):
            case "namenode" | "datanode":
                return self._java(name)
            case "server":
                return [*self._java(name), f"-Dhbase.regionserver.port={port}", "start"]
            case _:
                return [*self._java(name), "start"]

    def format_command(self) -> list[str]:
        """Returns the command line that makes an empty file system and ends."""
        return [*self._java("namenode"), "-format", "-force", "-nonInteractive"]

    def classes(self, name: str) -> Path:
        """Returns the file into which a process may write the classes that it loads."""
        return self.folder / "tmp" / f"{name}.classes"

    def log(self, name: str) -> Path:
        """Returns the log file of a process."""
        return self.folder / "logs" / f"{name}.log"

    def output(self, name: str) -> Path:
        """Returns the file with what a process prints: as a rule only troubles of Java."""
        return self.folder / "logs" / f"{name}.out"

    def log_size(self, name: str) -> int:
        """Returns how long the log of a process is by now."""
        return self.log(name).stat().st_size if self.log(name).exists() else 0

    def is_ready(self, name: str, port: int, offset: int) -> bool:
        """Returns whether a process serves; only what its log has after `offset` counts."""
        if _kind(name) in _READY:
            return _READY[_kind(name)] in _read_from(self.log(name), offset)
        with socket.socket() as probe:
            return probe.connect_ex((HOST, port)) == 0

    def last_lines(self, name: str, offset: int) -> str:
        """Returns the last useful lines of a dead process, from its log or its output."""
        lines = _read_from(self.log(name), offset).splitlines()
        loud = [line for line in lines if _is_loud(line)]
        printed = _read_from(self.output(name), 0).splitlines()
        chosen = (loud or printed or lines)[-_SHOWN_LINES:]
        return "\n".join(line[:_SHOWN_CHARACTERS] for line in chosen)

    def _java(self, name: str) -> list[str]:
        conf = self.folder / "conf"
        return [
            self.java,
            *PROFILES[self.profile].java_options(_kind(name)),
            *JAVA_OPTIONS,
            *self.archive.options(self.classes(name)),
            f"-Djava.io.tmpdir={self.folder / 'tmp'}",
            f"-XX:ErrorFile={self.folder / 'logs' / name}.crash",
            f"-Dlog4j.configuration=file:{conf / 'log4j.properties'}",
            f"-Dwebtable.log={self.log(name)}",
            "-cp",
            f"{self.jars}/*:{conf}",
            _MAIN[_kind(name)],
        ]


def _kind(name: str) -> str:
    return "server" if name.startswith("region-server-") else name


def _is_loud(line: str) -> bool:
    return " ERROR " in line or " FATAL " in line or _EXCEPTION.match(line) is not None


def _read_from(path: Path, offset: int) -> str:
    try:
        with path.open("rb") as file:
            # A log that was rolled over in the meantime begins at 0 again.
            file.seek(offset if os.fstat(file.fileno()).st_size >= offset else 0)
            return file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
