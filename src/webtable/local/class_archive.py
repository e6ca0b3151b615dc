"""HBase's classes in one file that Java maps into memory, so that HBase starts in half the time.

Java calls it class-data sharing. The file is made once on a machine, after the first start of a
cluster, of the classes that its processes had loaded by then. It lies beside the jars. Nothing
depends on it: where it is missing, or Java does not like it, the classes are read from the jars.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from webtable.local.hbase_jars import locked

__all__ = ["ClassArchive"]


class ClassArchive(msgspec.Struct, frozen=True):
    """The archive for the programs of one kind of storage, as one Java runs them."""

    java: str
    jars: Path
    storage: str

    @property
    def path(self) -> Path:
        """Where it is, or is to be; another Java has another one."""
        binary = Path(self.java).resolve()
        stat = binary.stat()
        facts = f"{binary} {stat.st_size} {stat.st_mtime_ns}"
        key = hashlib.sha256(facts.encode()).hexdigest()[:8]
        # A cluster on HDFS loads what one on local files loads, and more.
        storages = dict.fromkeys(("hdfs", self.storage))
        paths = [self.jars.with_name(f"{self.jars.name}.{each}.{key}.jsa") for each in storages]
        return next((path for path in paths if path.exists()), paths[-1])

    def options(self, classes: Path) -> list[str]:
        """Returns Java's options: to use the archive, or else to list the classes that it loads."""
        path = self.path
        if not path.exists():
            return [f"-XX:DumpLoadedClassList={classes}"]
        return [f"-XX:SharedArchiveFile={path}"] if path.stat().st_size else []

    def make(self, lists: Iterable[Path], report: Callable[[str], None]) -> None:
        """Makes the archive from lists of loaded classes, unless it is there already."""
        path = self.path
        if path.exists():
            return
        with locked(path.with_suffix(".lock")):
            if path.exists():  # another starter has made it in the meantime
                return
            names = sorted({name for each in lists for name in _names(each)})
            if not names:
                return
            report("packing the classes of HBase for quicker starts (once)")
            wanted, made = path.with_suffix(".classes"), path.with_suffix(".new")
            wanted.write_text("\n".join(names) + "\n", encoding="utf-8")
            made.unlink(missing_ok=True)
            # Without the folder of settings, which the class path of a process has at its end:
            # an archive holds no folders, and it is enough that its jars come first.
            command = [self.java, "-Xshare:dump", "-Xlog:disable", "-XX:+UseSerialGC"]
            command += [f"-XX:SharedClassListFile={wanted}", f"-XX:SharedArchiveFile={made}"]
            command += ["-cp", f"{self.jars}/*"]
            done = subprocess.run(command, capture_output=True, check=False)
            if done.returncode != 0:
                made.unlink(missing_ok=True)
                made.touch()  # an empty one marks that another try is of no use
            wanted.unlink()
            os.replace(made, path)


def _names(path: Path) -> list[str]:
    """Returns the classes of a list that come from jars as they are."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [line for line in lines if line and not any(sign in line for sign in "#@ ")]
