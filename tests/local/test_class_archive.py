"""The archive of HBase's classes: made once, used by every process, and never needed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from webtable.local.class_archive import ClassArchive
from webtable.local.hbase_jars import find_java, hbase_jars

MAIN = "org.apache.hadoop.hbase.util.VersionInfo"
CLASSES = """\
# what stands behind such a sign is a remark
java/lang/Object
org/apache/hadoop/hbase/util/VersionInfo
org/apache/hadoop/hbase/util/VersionInfo @lambda-proxy run ()V
org/apache/hadoop/hbase/NoSuchThing
"""


@pytest.fixture
def archive(tmp_path: Path) -> ClassArchive:
    # By another name, so that the archive is not that of the clusters.
    jars = tmp_path / "jars"
    jars.symlink_to(hbase_jars(print))
    return ClassArchive(find_java(), jars, "local")


def test_it_is_made_of_what_was_loaded(archive: ClassArchive, tmp_path: Path) -> None:
    loaded = tmp_path / "master.classes"
    assert archive.options(loaded) == [f"-XX:DumpLoadedClassList={loaded}"]
    loaded.write_text(CLASSES)
    said: list[str] = []
    for _ in range(2):
        archive.make([loaded, tmp_path / "missing"], said.append)
    assert len(said) == 1
    assert archive.options(loaded) == [f"-XX:SharedArchiveFile={archive.path}"]
    # Settings stand behind the jars, as for a cluster; `-Xshare:on` fails where it is not usable.
    settings = tmp_path / "conf"
    settings.mkdir()
    (settings / "hbase-site.xml").touch()
    command = [archive.java, "-Xshare:on", "-Xlog:class+load", *archive.options(loaded)]
    command += ["-cp", f"{archive.jars}/*:{settings}", MAIN]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{MAIN} source: shared objects file" in run.stdout
    names = sorted(path.name for path in tmp_path.iterdir())
    assert [name for name in names if name.endswith((".new", ".classes"))] == [loaded.name]


def test_a_java_that_cannot_make_one_is_tried_once(archive: ClassArchive, tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho asked >> $0.log\nexit 1\n")
    java.chmod(0o755)
    loaded = tmp_path / "master.classes"
    loaded.write_text(CLASSES)
    broken = ClassArchive(str(java), archive.jars, "hdfs")
    for _ in range(2):
        broken.make([loaded], print)
    assert (tmp_path / "java.log").read_text() == "asked\n"
    assert broken.options(loaded) == []


def test_nothing_loaded_makes_nothing(archive: ClassArchive, tmp_path: Path) -> None:
    archive.make([tmp_path / "missing"], print)
    assert not archive.path.exists()


def test_the_archive_of_hdfs_serves_local_files_too(archive: ClassArchive, tmp_path: Path) -> None:
    on_hdfs = ClassArchive(archive.java, archive.jars, "hdfs")
    assert on_hdfs.path != archive.path
    on_hdfs.path.write_bytes(b"x")
    assert archive.path == on_hdfs.path
