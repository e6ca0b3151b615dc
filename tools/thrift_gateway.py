"""HBase's Thrift gateway on this machine, for comparisons with happybase, not for production.

`hbase-thrift` resolves as 2.6.1 only; it is a client of the cluster, so its version may differ
from the servers'. Its jars are fetched once, into the cache of the local HBase.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

from webtable.errors import InvalidRequest, ServerUnavailable
from webtable.local.hbase_daemons import JAVA_OPTIONS
from webtable.local.hbase_jars import fetched_jars, find_java
from webtable.local.ports import HOST, reserved_ports
from webtable.local.processes import wait_until
from webtable.store.hbase.location import Location, parse_location

__all__ = ["ThriftGateway"]

VERSION = "2.6.1"
START_SECONDS = 120
_POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>webtable</groupId>
  <artifactId>thrift-gateway</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.hbase</groupId>
      <artifactId>hbase-thrift</artifactId>
      <version>{VERSION}</version>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-dependency-plugin</artifactId>
        <version>2.8</version>
      </plugin>
    </plugins>
  </build>
</project>
"""
_LOG4J = """\
log4j.rootLogger=WARN,stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=%d{ISO8601} %-5p %c{1}: %m%n
"""
# Its end of the pipe closes when we end, however we end.
_GUARD = "read -r _; kill -9 {pid}"


class ThriftGateway:
    """A gateway to the cluster at a location, from the start of a `with` block to its end.

    It serves at `host` and `port`, with the buffered transport and the binary protocol that are
    happybase's defaults. It ends with this process, however that ends.

    Args:
        location: the cluster's, by ZooKeeper (`hbase://…`).
        heap_mb: the gateway's memory.
        is_optimised: whether Java uses its second compiler too: a slow start, and fast code.
    """

    host = HOST

    def __init__(self, location: str, *, heap_mb: int = 256, is_optimised: bool = False) -> None:
        self.port = 0
        self._location = parse_location(location)
        if not self._location.by_zookeeper:
            raise InvalidRequest(
                f"the gateway cannot use '{location}'", hint="give a location hbase://…"
            )
        self._memory = [f"-Xmx{heap_mb}m", "-XX:+UseSerialGC", "-XX:-UsePerfData"]
        if not is_optimised:
            self._memory.append("-XX:TieredStopAtLevel=1")
        self._running = contextlib.ExitStack()

    def __enter__(self) -> ThriftGateway:
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="thrift-")))
            with reserved_ports({"thrift": None}) as ports:
                self.port = ports["thrift"]
                output = folder / "output"
                process = stack.enter_context(_running(self._command(folder), output))
                wait_until(lambda: process.poll() is not None or self._is_ready(), START_SECONDS)
            if not self._is_ready():
                raise ServerUnavailable(
                    f"the Thrift gateway did not start:\n{output.read_text()[-2000:]}",
                    hint="see whether the cluster runs",
                )
            self._running = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def _is_ready(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((self.host, self.port)) == 0

    def _command(self, folder: Path) -> list[str]:
        _write_config(folder, self._location)
        jars = fetched_jars(f"HBase-Thrift {VERSION}", _POM.encode(), _say)
        return [
            find_java(),
            *self._memory,
            *JAVA_OPTIONS,
            f"-Djava.io.tmpdir={folder}",
            f"-Dlog4j.configuration=file:{folder}/log4j.properties",
            "-cp",
            f"{jars}/*:{folder}",
            "org.apache.hadoop.hbase.thrift.ThriftServer",
            "start",
            "--bind",
            self.host,
            "--port",
            str(self.port),
        ]


@contextlib.contextmanager
def _running(command: list[str], output: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (
        output.open("wb") as file,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
        ) as process,
        subprocess.Popen(
            ["sh", "-c", _GUARD.format(pid=process.pid)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        ) as guard,
    ):
        try:
            yield process
        finally:
            guard.kill()
            process.kill()


def _write_config(folder: Path, location: Location) -> None:
    settings = {
        "hbase.thrift.info.port": "-1",
        # A connection may be idle longer than the usual minute: others have their turn meanwhile.
        "hbase.thrift.server.socket.read.timeout": "600000",
        "hbase.zookeeper.property.clientPort": str(location.servers[0].port),
        "hbase.zookeeper.quorum": ",".join(server.host for server in location.servers),
        "zookeeper.znode.parent": location.parent,
    }
    lines = (
        f"  <property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in settings.items()
    )
    text = "<configuration>\n" + "".join(lines) + "</configuration>\n"
    (folder / "hbase-site.xml").write_text(text, encoding="utf-8")
    (folder / "log4j.properties").write_text(_LOG4J, encoding="ascii")


def _say(text: str) -> None:
    print(text, file=sys.stderr)
