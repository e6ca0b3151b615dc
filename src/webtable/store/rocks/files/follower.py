"""Reading a store beside its writer: a view of its files from which nothing can vanish.

RocksDB can follow another process's database, but not while that one removes files: a log removed
between the reading of the list of files and that of the logs is missing from some families and
not from others, and rows are torn. So a follower links every file into a directory of its own, at a
moment at which the list does not change, which takes about a millisecond, and follows those. A
linked log grows with the writer's. When the writer starts another log or changes the list, the
files are linked again.

The directories are `.readers/*` in the store's; what dead readers left is removed by the next one
(see `webtable.temporary_folders`). Where links cannot be made, because the reader may not write
there or the disk is full, symbolic ones in a temporary directory do, with a new attempt when a file
goes.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rocksdict import AccessType, Rdict

from webtable.errors import CorruptData, RegionBusy
from webtable.store.rocks.files.acknowledged_writes import Marks, Promise
from webtable.store.rocks.files.checkpoint_draft import copy_file
from webtable.temporary_folders import ScratchFolder, remove_dead

__all__ = ["FellBehind", "Follower", "remove_dead_readers"]

_READERS = ".readers"
_OUTSIDE = "webtable-reader-"  # in the directory for temporary files
_PATIENCE_SECONDS = 20.0
# Why a view cannot be made beside the store: no right, no room, or a disk that takes no links.
_NO_PLACE = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EMLINK,
    errno.ENOTSUP,
}


class FellBehind(RegionBusy):
    """A reader's files are older than what it read of in a log, which goes on growing."""

    def __init__(self, path: str) -> None:
        super().__init__(f"store '{path}' changes too fast to be followed", hint="try again")


class _Files(NamedTuple):
    """Which files a database consists of: its list, how long that is, and its logs."""

    listed_in: str
    list_bytes: int
    logs: frozenset[str]


class Follower:
    """A reader's own view of a store's files, and the database that is open on it.

    Args:
        open_rocks: opens a directory with an access type, with the options of this store.
    """

    def __init__(self, path: str, open_rocks: Callable[[str, AccessType], Rdict]) -> None:
        self._path = path
        self._open_rocks = open_rocks
        self._marks = Marks(path)
        # Symbolic links have to work from another directory.
        self._directory = os.path.abspath(path)
        self._folder: ScratchFolder | None = None
        self._files: _Files | None = None
        self._log_bytes: dict[str, int] = {}
        self._rocks: Rdict | None = None
        self._is_outside = False

    def open(self) -> Rdict:
        """Opens the database as it is now.

        Raises:
            CorruptData: a file is damaged or missing.
            FellBehind: the writer changes its files all the time.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            promise = self._marks.promised()
            try:
                self._files = self._link()
                if self._files is not None:
                    return self._open_view(promise)
            except BaseException as exc:
                files = self._files
                self.close()
                if isinstance(exc, OSError) and exc.errno in _NO_PLACE and not self._is_outside:
                    self._is_outside = True
                # A symbolic link does not keep its file: then the list has changed, too.
                elif files is None or _files(self._path) == files:
                    raise
            if time.monotonic() > deadline:
                raise FellBehind(self._path)

    def catch_up(self) -> bool:
        """Reads what was written since, and returns True; False means that it must open again."""
        promise = self._marks.promised()
        if self._rocks is None or _files(self._path) != self._files:
            return False
        self._rocks.try_catch_up_with_primary()
        # The writer may have gone on to a new log since its files were listed.
        if _files(self._path) != self._files:
            return False
        self._marks.check(promise, self._rocks.latest_sequence_number())
        return True

    def close(self) -> None:
        """Removes the view and releases the database.

        Reads under way go on with the files that they have open; RocksDB closes after the last.
        """
        self._rocks = None
        if self._folder is not None:
            self._folder.remove()
            self._folder = None
        self._files = None

    def _open_view(self, promise: Promise) -> Rdict:
        view = self._view
        # A follower treats a file that it cannot read as one that was removed, and stays at the
        # state before it. A strict opening raises an error; without the logs it is quick.
        strict = self._open_rocks(str(view / "strict"), AccessType.read_only(False))
        listed = _table_files(strict)
        strict.close()
        self._rocks = self._open_rocks(str(view), AccessType.secondary(str(view / "follower")))
        self._rocks.try_catch_up_with_primary()
        missing = listed - _table_files(self._rocks)
        if missing:
            raise CorruptData(
                f"store '{self._path}' is damaged: {', '.join(sorted(missing))} cannot be read",
                hint="check the disk, then restore the store from a checkpoint",
            )
        self._marks.check(promise, self._rocks.latest_sequence_number())
        return self._rocks

    def _link(self) -> _Files | None:
        """Links the files of one moment into a new view; None when they changed meanwhile."""
        files = _files(self._path)
        if files is None:
            raise CorruptData(
                f"store '{self._path}' has lost its file CURRENT or what that names",
                hint="restore the store from a checkpoint",
            )
        link = self._new_view()
        view = self._view
        strict = view / "strict"
        strict.mkdir()
        try:
            listed = Path(self._path, files.listed_in).read_bytes()[: files.list_bytes]
            for each in os.listdir(self._directory):
                source = os.path.join(self._directory, each)
                if each.endswith(".sst"):
                    link(source, view / each)
                    link(source, strict / each)
                elif each in files.logs:
                    link(source, view / each)
            # Up to here a log goes with this list: if the list changed, it is not used.
            self._log_bytes = {each: (view / each).stat().st_size for each in files.logs}
        except FileNotFoundError:
            self.close()
            return None
        if _files(self._path) != files:
            self.close()
            return None
        for directory in (view, strict):
            (directory / files.listed_in).write_bytes(listed)
            (directory / "CURRENT").write_text(files.listed_in + "\n")
        return files

    def _new_view(self) -> Callable[[str, Path], None]:
        """Makes the directory of the view; returns how files get into it."""
        self.close()
        if self._is_outside:
            self._folder = ScratchFolder(_OUTSIDE)
            return os.symlink
        parent = Path(self._directory, _READERS)
        parent.mkdir(exist_ok=True)
        self._folder = ScratchFolder(directory=parent)
        return os.link

    @property
    def _view(self) -> Path:
        assert self._folder is not None
        return self._folder.path

    def copy_to(self, directory: Path) -> Promise:
        """Copies the files of the view to a new directory; returns what the copy must contain.

        Everything that was acknowledged before the call is in the copy, except for writes without
        the log that are not flushed yet.

        Raises:
            CorruptData, FellBehind: as `open`.
            FileNotFoundError: a file was removed that the view could only link symbolically.
        """
        promise = self._marks.promised()
        self.open()
        assert self._files is not None
        directory.mkdir()
        for each in sorted(self._view.iterdir()):
            if each.suffix == ".sst":
                copy_file(each, directory / each.name)
            elif each.name in self._log_bytes:
                copy_file(each, directory / each.name, size_bytes=self._log_bytes[each.name])
        for name in (self._files.listed_in, "CURRENT"):
            shutil.copy(self._view / name, directory / name)
        return promise


def remove_dead_readers(path: str) -> None:
    """Removes what readers left that were killed."""
    remove_dead(Path(path, _READERS))


def _files(path: str) -> _Files | None:
    try:
        listed_in = Path(path, "CURRENT").read_text().strip()
        logs = frozenset(each for each in os.listdir(path) if each.endswith(".log"))
        return _Files(listed_in, Path(path, listed_in).stat().st_size, logs)
    except (OSError, ValueError):
        return None


def _table_files(rocks: Rdict) -> set[str]:
    return {each["name"] for each in rocks.live_files()}
