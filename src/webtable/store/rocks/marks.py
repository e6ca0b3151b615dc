"""How far writes were acknowledged, kept beside the database so that a loss is noticed.

RocksDB takes a log that ends early for one whose writer died in the middle of a record, which is
right after a crash and wrong when the file was cut or damaged later. So each acknowledged write
moves a mark in a small mapped file; it costs a fraction of a microsecond, and survives the process.
The same goes for the list of files (MANIFEST), which the database reads as far as it is whole.

On-disk: changing this needs a new format version.

    40 bytes  boot id of the machine, filled up with blanks
     8 bytes  sequence number of the last acknowledged write, in the machine's byte order
     8 bytes  sequence number of the last one that was synced to disk
     8 bytes  number of the list of files
     8 bytes  its length when the mark was moved

A machine that lost power may lose writes that were not synced; the boot id tells that case apart.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

from webtable.errors import CorruptData

__all__ = ["Marks"]

_FILE = "ACKNOWLEDGED"
_LAYOUT = struct.Struct("=40sQQQQ")
# RocksDB's: blocks of records, each a checksum, the length and the kind, and the bytes.
_BLOCK = 32_768
_RECORD = struct.Struct("<4xHB")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Marks:
    """The mark file of one store."""

    def __init__(self, directory: str) -> None:
        self._store = directory
        self._path = Path(directory, _FILE)
        self._map: mmap.mmap | None = None
        self._numbers: memoryview | None = None
        self._list = -1
        self._checked: tuple[Path, int] | None = None

    def promised(self) -> int:
        """Returns the sequence number that the database must have reached; 0 without a mark.

        Raises:
            CorruptData: the file is damaged, or the list of files is shorter than it was.
        """
        try:
            stored = self._path.read_bytes()
        except FileNotFoundError:
            return 0
        if len(stored) != _LAYOUT.size:
            raise CorruptData(
                f"the file {_FILE} of store '{self._store}' is damaged",
                hint=f"remove it to open the store without this check: {self._path}",
            )
        boot, acknowledged, synced, number, length = _LAYOUT.unpack(stored)
        if boot != _boot_id():
            return int(synced)
        listed, path = _list_of_files(self._store)
        if listed < number or (listed == number and not self._is_whole(path, length)):
            raise CorruptData(
                f"the list of files of store '{self._store}' is cut or an old one: {path.name}",
                hint="check the disk, then restore the store from a checkpoint",
            )
        return int(acknowledged)

    def _is_whole(self, path: Path, length: int) -> bool:
        """Whether the list is as long as it was, with a record behind the other all the way.

        RocksDB checks the sums of its records. But it takes a header of zeros for the end of a
        block, and a record that is longer than the file for one whose writer died, silently.
        """
        if (path, length) == self._checked:
            return True
        stored = path.read_bytes()
        if len(stored) < length:
            return False
        at = 0
        while at + _RECORD.size <= length:
            left = _BLOCK - at % _BLOCK
            if left < _RECORD.size:  # the rest of a block that has no room for a header
                at += left
                continue
            size, kind = _RECORD.unpack_from(stored, at)
            at += _RECORD.size + size
            if kind == 0 or at > len(stored):
                return False
        self._checked = (path, length)
        return True

    def check(self, promised: int, recovered: int) -> None:
        """Compares what was acknowledged with what the database gave back.

        Raises:
            CorruptData: acknowledged writes are missing.
        """
        if recovered < promised:
            raise CorruptData(
                f"store '{self._store}' lost its last {promised - recovered:,} cells that were"
                " acknowledged: its write-ahead log (*.log) is damaged or cut",
                hint=f"restore a checkpoint; to accept the loss, remove '{self._path}'",
            )

    def open(self, sequence: int) -> None:
        """Starts to keep marks, from the sequence number that the database stands at."""
        number, listed = _list_of_files(self._store)
        self._list = os.open(listed, os.O_RDONLY | os.O_CLOEXEC)
        draft = self._path.with_suffix(".new")
        length = os.lseek(self._list, 0, os.SEEK_END)
        draft.write_bytes(_LAYOUT.pack(_boot_id(), sequence, sequence, number, length))
        draft.replace(self._path)
        descriptor = os.open(self._path, os.O_RDWR)
        try:
            self._map = mmap.mmap(descriptor, _LAYOUT.size)
        finally:
            os.close(descriptor)
        self._numbers = memoryview(self._map)[40:].cast("Q")

    def move(self, sequence: int, *, synced: bool) -> None:
        """Notes that a write was acknowledged."""
        assert self._numbers is not None
        # Each is one aligned store of eight bytes: a kill or a reader never meets half of one.
        self._numbers[0] = sequence
        if synced:
            self._numbers[1] = sequence
        self._numbers[3] = os.lseek(self._list, 0, os.SEEK_END)

    def move_list(self) -> None:
        """Notes how long the list of files is, after files were added or removed."""
        assert self._numbers is not None
        self._numbers[3] = os.lseek(self._list, 0, os.SEEK_END)

    def close(self) -> None:
        """Stops; the file stays."""
        if self._list >= 0:
            os.close(self._list)
            self._list = -1
        if self._map is not None and self._numbers is not None:
            self._numbers.release()
            self._map.close()
            self._numbers = self._map = None


def _list_of_files(store: str) -> tuple[int, Path]:
    """Returns the number and the path of the list that the database would read.

    Raises:
        CorruptData: there is none.
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
        return _BOOT_ID.read_bytes().strip()[:40].ljust(40)
    except OSError:
        return b" " * 40
