"""Record transcripts of HBase's own shell, which `webtable shell` is compared with.

    python -m tools.record_shell LOCATION tests/golden/shell/rows.txt …

runs the commands of each transcript again, with HBase's shell, against the HBase at LOCATION
(`hbase://host:port`), and writes its output. A new transcript starts as a file with
commands only, each after a prompt: `hbase:001:0> list`. Transcripts have `<server>` for the name of
a region server.

The shell of HBase 2.6 is not available from Maven. This module assembles a shell from the
Ruby sources of 3.0.0-alpha-3, with the few files of 2.4.17 that need the older Java client, and
runs it on the jars of the HBase that the tests use. Times and sizes are written as X.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import webtable
from webtable.local.hbase_jars import fetched_jars, find_java, hbase_jars

NEWER, OLDER, JRUBY = "3.0.0-alpha-3", "2.4.17", "9.3.13.0"
# These of the newer shell need classes that the Java client of 2.6 does not have.
FROM_OLDER = [
    "hbase/replication_admin.rb",
    "hbase/rsgroup_admin.rb",
    "shell/commands/add_peer.rb",
    "shell/commands/alter_rsgroup_config.rb",
    "shell/commands/balance_rsgroup.rb",
    "shell/commands/get_rsgroup.rb",
    "shell/commands/list_peers.rb",
    "shell/commands/list_regions.rb",
    "shell/commands/list_rsgroups.rb",
    "shell/commands/locate_region.rb",
    "shell/commands/regioninfo.rb",
    "shell/commands/rit.rb",
    "shell/commands/show_rsgroup_config.rb",
]
PROMPT = re.compile(r"^hbase:\d+:\d+[>*'\"] ?", re.MULTILINE)
OPENED = [
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
]


def main() -> None:
    """Records the transcripts that the command line names."""
    location, *paths = sys.argv[1:]
    with webtable.open(location) as store:
        server = store.admin.servers()[0].name
    with tempfile.TemporaryDirectory() as folder:
        shell = Path(folder)
        _assemble(shell)
        for path in map(Path, paths):
            commands = script_of(path.read_text(encoding="utf-8")).replace("<server>", server)
            printed = normal(_run(shell, location, commands)).replace(server, "<server>")
            path.write_text(printed, encoding="utf-8")
            print(path)


def script_of(transcript: str) -> str:
    """Returns the commands of a transcript."""
    lines = transcript.splitlines(keepends=True)
    return "".join(PROMPT.sub("", line, count=1) for line in lines if PROMPT.match(line))


def normal(printed: str) -> str:
    """Returns the output of a shell without the parts that differ from run to run.

    HBase's shell omits a line end after a method of a table, and the prompt of a line that
    closes a bracket; this function adds both. The last prompts are left out.
    """
    text = re.sub(r"Took [0-9.]+ seconds *\n?", "Took X seconds\n", printed)
    text = without_figures(text)
    lines: list[str] = []
    for line in text.splitlines():
        before = re.match(r"hbase:(\d+):([1-9]\d*)\* ", lines[-1]) if lines else None
        is_closing = line[:1] in ("}", ")", "]")
        if before and is_closing:
            line = f"hbase:{int(before[1]) + 1:03}:{before[2]}* {line}"
        lines.append(line)
    while lines and not PROMPT.sub("", lines[-1]):
        lines.pop()
    return "\n".join(lines) + "\n"


def without_figures(printed: str) -> str:
    """Returns output without the dates of snapshots and the sizes of caches."""
    text = re.sub(r"\(\d{4}-\d\d-\d\d [\d:]{8} [\w+-]+\)", "(X)", printed)
    return re.sub(r"(evictedBlocks|maxCacheSize)=\d+", r"\1=X", text)


def _assemble(folder: Path) -> None:
    newer, older = (_jar("hbase-shell", version) for version in (NEWER, OLDER))
    with zipfile.ZipFile(newer) as archive:
        archive.extractall(folder)
    with zipfile.ZipFile(older) as archive:
        for name in FROM_OLDER:
            archive.extract(name, folder)
    start = folder / "jar-bootstrap.rb"
    text = re.sub(r"org\.apache\.logging\.log4j\.Level::[A-Z]+", "nil", start.read_text())
    start.write_text("".join(x for x in text.splitlines(True) if "Configurator" not in x))
    quiet = "log4j.rootLogger=ERROR,c\nlog4j.appender.c=org.apache.log4j.varia.NullAppender\n"
    (folder / "log4j.properties").write_text(quiet)


def _jar(artifact: str, version: str, group: str = "org.apache.hbase") -> Path:
    pom = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>webtable</groupId><artifactId>recorder</artifactId><version>1</version><dependencies>
<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
</dependency></dependencies></project>"""
    folder = fetched_jars(f"{artifact} {version}", pom.encode(), print)
    return next(folder.glob(f"{artifact}*.jar"))


def _run(shell: Path, location: str, commands: str) -> str:
    script = shell / "script.txt"
    script.write_text(commands, encoding="utf-8")
    host, _, port = location.removeprefix("hbase://").partition(":")
    jruby = _jar("jruby-complete", JRUBY, "org.jruby")
    done = subprocess.run(
        [
            find_java(),
            "-XX:TieredStopAtLevel=1",
            "-Duser.timezone=UTC",
            *OPENED,
            "-cp",
            f"{shell}:{jruby}:{hbase_jars(print)}/*",
            f"-Dhbase.ruby.sources={shell}",
            "org.jruby.Main",
            str(shell / "jar-bootstrap.rb"),
            f"-Dhbase.zookeeper.quorum={host}",
            f"-Dhbase.zookeeper.property.clientPort={port or 2181}",
            "-n",
            str(script),
        ],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nthe shell stopped: exit code {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    main()
