"""Java and Maven are found or named in an error; the jars are fetched once, whole or not at all."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from webtable.errors import RetryableError, WebTableError, door
from webtable.local.hbase_jars import cache_folder, find_java, hbase_jars, locked
from webtable.local.processes import wait_until

# Stands for the program on the PATH: it notes that it was called and copies one "jar".
MAVEN = """\
#!/bin/sh
echo called >> "{calls}"
for word; do case "$word" in -DoutputDirectory=*) folder="${{word#*=}}";; esac; done
mkdir "$folder" && echo bytes > "$folder/hbase.jar"
{end}
"""
FAILS = "echo '[ERROR] Could not resolve dependencies'; exit 1"


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, an empty PATH, and the file that notes the calls of a Maven put on it."""
    monkeypatch.setenv("WEBTABLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    (tmp_path / "bin").mkdir()
    for program in ("mkdir", "sh"):
        (tmp_path / "bin" / program).symlink_to(f"/bin/{program}")
    return tmp_path / "calls"


def _install_maven(calls: Path, end: str = "") -> None:
    program = calls.parent / "bin" / "mvn"
    program.write_text(MAVEN.format(calls=calls, end=end))
    program.chmod(0o755)


def test_without_java_the_error_says_what_to_install(calls: Path) -> None:
    with pytest.raises(WebTableError) as caught:
        find_java()
    assert caught.value.message == "'java' is not installed (HBase runs on Java 17)"
    assert caught.value.hint == "run: apt-get install openjdk-17-jre-headless maven"
    assert door(caught.value).exit_code == 1


def test_without_maven_the_error_says_what_to_install(calls: Path) -> None:
    with pytest.raises(WebTableError) as caught:
        hbase_jars(print)
    assert (
        caught.value.message == "'mvn' is not installed (it fetches the jars of HBase 2.6.4, once)"
    )
    assert caught.value.hint == "run: apt-get install openjdk-17-jre-headless maven"


def test_java_home_comes_before_the_path(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("bin", "home/bin"):
        java = calls.parent / folder / "java"
        java.parent.mkdir(parents=True, exist_ok=True)
        java.write_text("#!/bin/sh\n")
        java.chmod(0o755)
    assert find_java() == str(calls.parent / "bin" / "java")
    monkeypatch.setenv("JAVA_HOME", str(calls.parent / "home"))
    assert find_java() == str(calls.parent / "home" / "bin" / "java")


def test_several_starters_fetch_once(calls: Path) -> None:
    _install_maven(calls)
    said: list[str] = []
    with ThreadPoolExecutor(8) as threads:
        folders = set(threads.map(lambda _: hbase_jars(said.append), range(8)))
    (folder,) = folders
    assert [path.name for path in folder.iterdir()] == ["hbase.jar"]
    assert calls.read_text() == "called\n"
    assert len(said) == 1
    assert str(folder) in said[0]


def test_jars_that_are_there_need_no_maven(calls: Path) -> None:
    _install_maven(calls)
    folder = hbase_jars(print)
    (calls.parent / "bin" / "mvn").unlink()
    assert hbase_jars(print) == folder


def test_a_failed_fetch_leaves_nothing_behind(calls: Path) -> None:
    _install_maven(calls, FAILS)
    with pytest.raises(RetryableError) as caught:
        hbase_jars(print)
    assert "[ERROR] Could not resolve dependencies" in caught.value.message
    assert caught.value.hint == "check the network and Maven's settings, then try again"
    assert [path.suffix for path in cache_folder().iterdir()] == [".lock"]
    _install_maven(calls)
    assert (hbase_jars(print) / "hbase.jar").exists()


def test_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("WEBTABLE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "webtable"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "webtable"


def test_a_lock_whose_file_was_removed_is_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lock"
    held: list[bool] = []

    def wait_for_it() -> None:
        with locked(path):
            held.append(path.exists())

    with ThreadPoolExecutor(1) as threads:
        with locked(path):
            waiter = threads.submit(wait_for_it)
            assert wait_until(lambda: _times_open(path) == 2, 10)
            shutil.rmtree(path.parent)
        waiter.result(timeout=10)
    assert held == [True]
    assert os.listdir(path.parent) == ["lock"]


def _times_open(path: Path) -> int:
    links = [Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    return sum(link.is_symlink() and os.readlink(link) == str(path) for link in links)
