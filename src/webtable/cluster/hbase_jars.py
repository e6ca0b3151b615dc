"""The jars of HBase and HDFS: fetched once with Maven, kept in a cache that all clusters share.

The cache is `$WEBTABLE_CACHE`, else `$XDG_CACHE_HOME/webtable`, else `~/.cache/webtable`. A folder there is complete
or absent: it is filled under another name and then renamed, under a lock.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from webtable.errors import RetryableError, WebTableError

__all__ = ["HBASE_VERSION", "cache_dir", "find_java", "hbase_jars", "locked"]

HBASE_VERSION = "2.6.4"
_INSTALL = "apt-get install openjdk-17-jre-headless maven"


def cache_dir() -> Path:
    """Returns the folder for what can be fetched or computed again."""
    if chosen := os.environ.get("WEBTABLE_CACHE"):
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "webtable")


def find_java() -> str:
    """Returns the absolute path of the `java` to run, `$JAVA_HOME`'s before the one on the PATH.

    Raises:
        WebTableError: There is none.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin") if home else None
    return found or _find("java", "HBase runs on Java 11 or 17")


def hbase_jars(say: Callable[[str], None] = lambda text: None) -> Path:
    """Returns the folder with the jars, fetching them first when the cache does not have them.

    Raises:
        WebTableError: Maven is not installed.
        RetryableError: Maven could not fetch them.
    """
    pom = resources.files("webtable.cluster").joinpath("hbase-pom.xml").read_bytes()
    name = f"hbase-{HBASE_VERSION}-{hashlib.sha256(pom).hexdigest()[:8]}"
    folder = cache_dir() / name
    if folder.is_dir():
        return folder
    maven = _find("mvn", "the jars of HBase are fetched with Maven, once")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_name(folder.name + ".lock")):
        if not folder.is_dir():  # another starter may have fetched them while this one waited
            say(f"fetching the jars of HBase {HBASE_VERSION} into {folder} (once, about 120 MB)")
            _fetch(maven, pom, folder)
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock file `path`; waits while another process or thread holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch(maven: str, pom: bytes, folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as scratch:
        Path(scratch, "pom.xml").write_bytes(pom)
        jars = Path(scratch, "jars")
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
        command = [maven, "--batch-mode", "--quiet", "--file", f"{scratch}/pom.xml", *goal]
        run = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            lines = [line for line in (run.stdout + run.stderr).splitlines() if line.strip()]
            raise RetryableError(
                f"Maven could not fetch the jars of HBase {HBASE_VERSION}: " + "\n".join(lines[:6]),
                hint="look at the lines above, check the network and Maven's settings, try again",
            )
        jars.rename(folder)


def _find(program: str, reason: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise WebTableError(f"'{program}' is not installed ({reason})", hint=f"run: {_INSTALL}")
    return str(Path(found).absolute())
