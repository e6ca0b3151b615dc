"""Temporary folders that do not outlive their process for long, even if it is killed.

Each folder holds a file that its process has locked (flock) while it lives; the system takes the
lock away from a process that was killed. The next process that makes a folder of the same kind in
the same place, or opens pages for writing, removes those that no process has locked.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["ScratchFolder", "remove_all_dead", "remove_dead", "scratch_folder"]

_LOCK = "LIVES"
_OWN = "webtable-"  # All names in the directory for temporary files begin with it.


class ScratchFolder:
    """A new temporary folder, locked by this process until `remove`.

    Args:
        prefix: what the names of this kind of folder begin with.
        directory: where; by default the system's directory for temporary files.
    """

    def __init__(self, prefix: str = "", directory: str | Path | None = None) -> None:
        parent = Path(tempfile.gettempdir() if directory is None else directory)
        remove_dead(parent, prefix)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            try:
                self._lock = os.open(
                    self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
                )
            except FileNotFoundError:
                continue
            except BaseException:
                shutil.rmtree(self.path, ignore_errors=True)
                raise
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            # Another process may have treated the folder as abandoned before it was locked.
            if os.fstat(self._lock).st_nlink:
                return
            os.close(self._lock)

    def remove(self) -> None:
        """Removes the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


@contextlib.contextmanager
def scratch_folder(prefix: str, directory: str | Path | None = None) -> Iterator[Path]:
    """Yields a `ScratchFolder` that is removed at the end of the block."""
    folder = ScratchFolder(prefix, directory)
    try:
        yield folder.path
    finally:
        folder.remove()


def remove_dead(parent: Path, prefix: str = "") -> None:
    """Removes the folders that processes of this user left when they were killed."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(parent)):
            if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                        _remove_if_dead(Path(entry.path))


def remove_all_dead() -> None:
    """Removes what killed processes left in the system's directory for temporary files."""
    remove_dead(Path(tempfile.gettempdir()), _OWN)


def _remove_if_dead(folder: Path) -> None:
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
