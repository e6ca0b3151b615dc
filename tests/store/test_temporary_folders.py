"""Temporary folders: the next process removes what a killed one left, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from webtable.temporary_folders import ScratchFolder, remove_dead, scratch_folder
from webtable.webtable import WebTable

HOLD = """
import sys
from webtable.temporary_folders import ScratchFolder
print(ScratchFolder(sys.argv[1], sys.argv[2]).path, flush=True)
sys.stdin.read()
"""


def test_folders_of_killed_processes_are_removed_by_the_next(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, "webtable-links-", str(tmp_path)]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)
    ]
    try:
        folders = [
            Path(os.fsdecode(child.stdout.readline().strip())) for child in children if child.stdout
        ]
        for folder in folders:
            (folder / "run").write_bytes(b"x" * 1000)
        foreign = tmp_path / "webtable-links-foreign"
        foreign.mkdir()
        children[0].send_signal(signal.SIGKILL)
        children[0].wait()
        with scratch_folder("webtable-reader-", tmp_path):
            assert all(folder.exists() for folder in folders), "another kind of folder"
        with scratch_folder("webtable-links-", tmp_path) as mine:
            assert not folders[0].exists()
            assert folders[1].exists(), "its process lives"
            assert foreign.exists(), "nothing tells whose it is"
            remove_dead(tmp_path)
            assert mine.exists()
        assert not mine.exists()
    finally:
        for child in children:
            child.kill()
            child.wait()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    stream.close()


def test_the_next_process_that_writes_pages_removes_what_a_killed_rebuild_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    kill = HOLD.replace("sys.stdin.read()", "import os; os.kill(os.getpid(), 9)")
    command = [sys.executable, "-c", kill, "webtable-links-", str(temporary)]
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == -9
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    foreign = temporary / "another-program"
    foreign.mkdir()
    (foreign / "LIVES").touch()
    with WebTable.open(tmp_path / "store"):
        assert list(temporary.iterdir()) == [foreign]


def test_a_folder_of_another_user_stays(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a folder to another user")
    folder = ScratchFolder("webtable-reader-", tmp_path)
    os.chown(folder.path, 12345, 12345)
    os.close(folder._lock)
    folder._lock = -1
    remove_dead(tmp_path, "webtable-reader-")
    assert folder.path.exists()
    folder.remove()
