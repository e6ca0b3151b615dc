"""How far writes were acknowledged, stored beside the database so that a loss is noticed.

RocksDB treats a log that ends early as one whose writer died in the middle of a record, which is
right after a crash and wrong when the file was cut or damaged later. So each acknowledged write
moves a mark in a small mapped file; it costs a fraction of a microsecond, and survives the process.
The same goes for the list of files (MANIFEST), which the database reads as far as it is whole.

On-disk: changing this needs a new format version.

    39 bytes  boot id of the machine, filled up with blanks
     1 byte   `u` while there may be writes that skipped the log and are in no file yet, or a blank
     8 bytes  sequence number of the last acknowledged write, in the machine's byte order
     8 bytes  sequence number of the last one that was synced to disk
     8 bytes  number of the list of files
     8 bytes  how much of it was written and synced, in whole records

A power cut takes only what was not synced. The list of files is synced before its length is noted,
so it must be there in any case. Acknowledged writes after the last synced one may be lost if the
machine was started again since, which the boot id shows: then the loss is reported, not an error.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from pathlib import Path
from typing import NamedTuple

from webtable.errors import CorruptData
from webtable.loggers import get_logger
from webtable.store.rocks.files.log_gaps import BLOCK_BYTES, RECORD, has_gap

__all__ = ["Marks", "Promise", "write_mark"]

_log = get_logger("webtable.store.rocks")

_FILE = "ACKNOWLEDGED"
_LAYOUT = struct.Struct("=40sQQQQ")
_BOOT_BYTES = 39
_UNLOGGED = ord("u")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Promise(NamedTuple):
    """The sequence numbers that the database must reach.

    `acknowledged` after anything but a power cut, `synced` in any case.
    """

    acknowledged: int
    synced: int


class Marks:
    """The mark file of one store."""

    def __init__(self, directory: str) -> None:
        self._store = directory
        self._path = Path(directory, _FILE)
        self._map: mmap.mmap | None = None
        self._numbers: memoryview | None = None
        self._list = -1
        self._list_bytes = 0  # seen so far
        self._list_end = 0  # of the last whole record among them
        self._checked: tuple[Path, int] | None = None
        self._gapless: tuple[Path, int] | None = None
        self._reported: Promise | None = None

    def promised(self) -> Promise:
        """Returns what the database must contain; zeros without a mark.

        Raises:
            CorruptData: the file is damaged, or the list of files is shorter than it was.
        """
        try:
            stored = self._path.read_bytes()
        except FileNotFoundError:
            return Promise(0, 0)
        if len(stored) != _LAYOUT.size:
            raise CorruptData(
                f"the file {_FILE} of store '{self._store}' is damaged",
                hint=f"remove it to open the store without this check: {self._path}",
            )
        boot, acknowledged, synced, number, length = _LAYOUT.unpack(stored)
        listed, path = _list_of_files(self._store)
        if listed < number or (listed == number and not self._is_whole(path, length)):
            raise CorruptData(
                f"the list of files of store '{self._store}' is cut or an old one: {path.name}",
                hint="check the disk, then restore the store from a checkpoint",
            )
        self._check_gap(path, length, is_unlogged=boot[_BOOT_BYTES] == _UNLOGGED)
        is_same_boot = boot[:_BOOT_BYTES] == _boot_id()[:_BOOT_BYTES]
        return Promise(acknowledged, acknowledged if is_same_boot else synced)

    def _check_gap(self, path: Path, length: int, *, is_unlogged: bool) -> None:
        """Makes sure that no writes lack between the table files and the logs."""
        if is_unlogged or (path, length) == self._gapless:
            return
        if has_gap(self._store, self._read_list):
            raise CorruptData(
                f"store '{self._store}' lost cells that were acknowledged: its write-ahead logs"
                f" (*.log) do not begin where its list of files ({path.name}) ends",
                hint=f"restore a checkpoint; to accept the loss, remove '{self._path}'",
            )
        self._gapless = (path, length)

    def _read_list(self) -> bytes:
        return _list_of_files(self._store)[1].read_bytes()

    def _is_whole(self, path: Path, length: int) -> bool:
        """Whether the list is as long as it was, with a record behind the other all the way.

        RocksDB checks the sums of its records. But it silently treats a header of zeros as the end
        of a block, and a record that is longer than the file as one whose writer died.
        """
        if (path, length) == self._checked:
            return True
        if _end_of_records(path.read_bytes(), 0) < length:
            return False
        self._checked = (path, length)
        return True

    def check(self, promise: Promise, recovered: int) -> int:
        """Compares what was acknowledged with what the database gave back.

        Returns how many cells a power cut may have lost; they are reported in the log, once.

        Raises:
            CorruptData: acknowledged writes are missing that a power cut cannot explain.
        """
        lost = max(0, promise.acknowledged - recovered)
        if recovered < promise.synced:
            raise CorruptData(
                f"store '{self._store}' lost its last {lost:,} cells that were"
                " acknowledged: its write-ahead log (*.log) is damaged or cut",
                hint=f"restore a checkpoint; to accept the loss, remove '{self._path}'",
            )
        if lost and promise != self._reported:
            self._reported = promise
            _log.warning(
                "store '%s' lost its last %s acknowledged cells: the machine stopped before they"
                " were synced to disk, or the write-ahead log (*.log) was cut; write them again",
                self._store,
                f"{lost:,}",
            )
        return lost

    def open(self, sequence: int) -> None:
        """Starts to write marks, from the current sequence number of the database."""
        write_mark(self._store, sequence)
        _, listed = _list_of_files(self._store)
        self._list = os.open(listed, os.O_RDONLY | os.O_CLOEXEC)
        descriptor = os.open(self._path, os.O_RDWR)
        try:
            self._map = mmap.mmap(descriptor, _LAYOUT.size)
        finally:
            os.close(descriptor)
        self._numbers = memoryview(self._map)[40:].cast("Q")
        self._list_bytes = self._list_end = self._numbers[3]

    def move(self, sequence: int, *, synced: bool) -> None:
        """Notes that a write was acknowledged."""
        assert self._numbers is not None
        # Each is one aligned store of eight bytes: a kill or a reader never sees half of one.
        self._numbers[0] = sequence
        if synced:
            self._numbers[1] = sequence
        if os.lseek(self._list, 0, os.SEEK_END) != self._list_bytes:
            self.move_list()

    def move_unlogged(self, *, is_unlogged: bool) -> None:
        """Notes whether there are writes that skipped the log and are in no file yet."""
        assert self._map is not None
        self._map[_BOOT_BYTES] = _UNLOGGED if is_unlogged else ord(" ")
        # A power cut must not take the note and leave later writes in the log.
        self._map.flush()

    def move_list(self) -> None:
        """Notes how long the list of files is, after files were added or removed."""
        assert self._numbers is not None
        length = os.lseek(self._list, 0, os.SEEK_END)
        if length == self._list_bytes:
            return
        # A background thread of RocksDB may be writing at this moment.
        os.fdatasync(self._list)
        start = self._list_end - self._list_end % BLOCK_BYTES
        added = os.pread(self._list, length - start, start)
        self._list_end = start + _end_of_records(added, self._list_end - start)
        self._list_bytes = length
        self._numbers[3] = self._list_end

    def close(self) -> None:
        """Stops, after a last check of the list of files; the mark stays."""
        if self._list >= 0:
            if self._numbers is not None:
                with contextlib.suppress(OSError):
                    self.move_list()
            os.close(self._list)
            self._list = -1
        if self._map is not None and self._numbers is not None:
            self._numbers.release()
            self._map.close()
            self._numbers = self._map = None


def write_mark(store: str, sequence: int) -> None:
    """Writes the mark of a store of which everything up to a sequence number is synced."""
    number, listed = _list_of_files(store)
    length = _end_of_records(listed.read_bytes(), 0)
    path = Path(store, _FILE)
    draft = path.with_suffix(".new")
    with draft.open("wb") as file:
        file.write(_LAYOUT.pack(_boot_id(), sequence, sequence, number, length))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _end_of_records(stored: bytes, at: int) -> int:
    """Returns where the last whole record ends; `stored` begins with a block, `at` a record."""
    while True:
        left = BLOCK_BYTES - at % BLOCK_BYTES
        if left < RECORD.size:  # the rest of a block that has no room for a header
            at += left
        if at + RECORD.size > len(stored):
            return min(at, len(stored))
        size, kind = RECORD.unpack_from(stored, at)
        if kind == 0 or at + RECORD.size + size > len(stored):
            return at
        at += RECORD.size + size


def _list_of_files(store: str) -> tuple[int, Path]:
    """Returns the number and the path of the list that the database would read.

    Raises:
        CorruptData: the mark does not exist.
    """
    named: str | None = None
    while True:
        before = named
        try:
            named = Path(store, "CURRENT").read_text().strip()
            path = Path(store, named)
            path.stat()
            return int(named.removeprefix("MANIFEST-")), path
        except (OSError, ValueError) as exc:
            # A writer that is just opening the store makes a new list and removes the old one.
            if named == before:
                raise CorruptData(
                    f"store '{store}' has lost its file CURRENT or what that names",
                    hint="restore the store from a checkpoint",
                ) from exc


def _boot_id() -> bytes:
    try:
        return _BOOT_ID.read_bytes().strip()[:_BOOT_BYTES].ljust(40)
    except OSError:
        return b" " * 40
