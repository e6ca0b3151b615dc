"""How far writes were acknowledged, kept beside the database so that a loss is noticed.

RocksDB takes a log that ends early for one whose writer died in the middle of a record, which is
right after a crash and wrong when the file was cut or damaged later. So each acknowledged write
moves a mark in a small mapped file; it costs a fraction of a microsecond, and survives the process.

On-disk: changing this needs a new format version.

    40 bytes  boot id of the machine, filled up with blanks
     8 bytes  sequence number of the last acknowledged write, in the machine's byte order
     8 bytes  sequence number of the last one that was synced to disk

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
_LAYOUT = struct.Struct("=40sQQ")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Marks:
    """The mark file of one store."""

    def __init__(self, directory: str) -> None:
        self._store = directory
        self._path = Path(directory, _FILE)
        self._map: mmap.mmap | None = None
        self._numbers: memoryview | None = None

    def promised(self) -> int:
        """Returns the sequence number that the database must have reached; 0 without a mark.

        Raises:
            CorruptData: the file is damaged.
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
        boot, acknowledged, synced = _LAYOUT.unpack(stored)
        return int(acknowledged if boot == _boot_id() else synced)

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
        draft = self._path.with_suffix(".new")
        draft.write_bytes(_LAYOUT.pack(_boot_id(), sequence, sequence))
        draft.replace(self._path)
        descriptor = os.open(self._path, os.O_RDWR)
        try:
            self._map = mmap.mmap(descriptor, _LAYOUT.size)
        finally:
            os.close(descriptor)
        self._numbers = memoryview(self._map)[_LAYOUT.size - 16 :].cast("Q")

    def move(self, sequence: int, *, synced: bool) -> None:
        """Notes that a write was acknowledged."""
        assert self._numbers is not None
        # Each is one aligned store of eight bytes: a kill or a reader never meets half of one.
        self._numbers[0] = sequence
        if synced:
            self._numbers[1] = sequence

    def close(self) -> None:
        """Stops; the file stays."""
        if self._map is not None and self._numbers is not None:
            self._numbers.release()
            self._map.close()
            self._numbers = self._map = None


def _boot_id() -> bytes:
    try:
        return _BOOT_ID.read_bytes().strip()[:40].ljust(40)
    except OSError:
        return b" " * 40
