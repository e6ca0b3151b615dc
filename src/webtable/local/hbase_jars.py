"""Java, and the jars of HBase and HDFS: fetched once with Maven, into a cache for all clusters.

The cache is `$WEBTABLE_CACHE`, else `$XDG_CACHE_HOME/webtable`, else `~/.cache/webtable`. A folder
in it is complete or absent: it is filled under another name and then renamed, under a lock.
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

__all__ = ["HBASE_VERSION", "cache_folder", "fetched_jars", "find_java", "hbase_jars", "locked"]

HBASE_VERSION = "2.6.4"
_INSTALL = "apt-get install openjdk-17-jre-headless maven"
_SHOWN_LINES = 6


def cache_folder() -> Path:
    """Returns the folder for what can be fetched again."""
    if chosen := os.environ.get("WEBTABLE_CACHE"):
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "webtable")


def find_java() -> str:
    """Returns the path of the `java` to run: `$JAVA_HOME`'s, else the one on the PATH.

    Raises:
        WebTableError: Java is not installed.
    """
    home = os.environ.get("JAVA_HOME")
    return (home and shutil.which(f"{home}/bin/java")) or _find("java", "HBase runs on Java 17")


def hbase_jars(report: Callable[[str], None]) -> Path:
    """Returns the folder with the jars, fetching them first when the cache does not have them.

    Args:
        report: called with a message when they have to be fetched, which takes a while.

    Raises:
        WebTableError: Maven is not installed.
        RetryableError: Maven could not fetch them.
    """
    pom = resources.files("webtable.local").joinpath("hbase-pom.xml").read_bytes()
    return fetched_jars(f"HBase {HBASE_VERSION}", pom, report)


def fetched_jars(what: str, pom: bytes, report: Callable[[str], None]) -> Path:
    """Returns the folder with the jars that a pom lists; see `hbase_jars`."""
    # A changed pom makes another folder, so that no cluster finds yesterday's jars.
    name = what.lower().replace(" ", "-")
    folder = cache_folder() / f"{name}-{hashlib.sha256(pom).hexdigest()[:8]}"
    if not folder.is_dir():
        maven = _find("mvn", f"it fetches the jars of {what}, once")
        with locked(folder.with_name(f"{folder.name}.lock")):
            if not folder.is_dir():  # another starter may have fetched them in the meantime
                report(f"fetching {what} into {folder} (once; about 120 MB)")
                _fetch(what, maven, pom, folder)
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock file `path`; waits while another process or thread holds it."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # The process that had the lock may have removed the file, and a third may have created
            # it again.
            if path.exists() and path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                yield
                return


def _fetch(what: str, maven: str, pom: bytes, folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as scratch:
        Path(scratch, "pom.xml").write_bytes(pom)
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={scratch}/jars"]
        plain = ["--batch-mode", "--quiet", "-Dstyle.color=never"]
        command = [maven, *plain, "--file", f"{scratch}/pom.xml", *goal]
        run = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            lines = [line for line in (run.stdout + run.stderr).splitlines() if line.strip()]
            raise RetryableError(
                f"Maven could not fetch the jars of {what}: " + "\n".join(lines[:_SHOWN_LINES]),
                hint="check the network and Maven's settings, then try again",
            )
        Path(scratch, "jars").rename(folder)


def _find(program: str, purpose: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise WebTableError(f"'{program}' is not installed ({purpose})", hint=f"run: {_INSTALL}")
    return str(Path(found).absolute())
