"""How far writes were acknowledged, kept beside the database so that a loss is noticed.

RocksDB takes a log that ends early for one whose writer died in the middle of a record, which is
right after a crash and wrong when the file was cut or damaged later. So each acknowledged write
moves a mark in a small mapped file; it costs a fraction of a microsecond, and survives the process.

On-disk: changing this needs a new format version.

    36 bytes  boot id of the machine
     8 bytes  sequence number of the last acknowledged write
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
_LAYOUT = struct.Struct(">36sQQ")
_NUMBERS = struct.Struct(">QQ")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Marks:
    """The mark file of one store."""

    def __init__(self, directory: str) -> None:
        self._path = Path(directory, _FILE)
        self.exists = self._path.exists()
        self._map: mmap.mmap | None = None
        self._synced = 0

    def check(self, recovered: int, store: str) -> None:
        """Compares what was acknowledged with what the database gave back.

        Raises:
            CorruptData: acknowledged writes are missing.
        """
        stored = self._path.read_bytes()
        if len(stored) != _LAYOUT.size:
            raise CorruptData(
                f"the file {_FILE} of store '{store}' is damaged",
                hint=f"remove it to open the store without this check: {self._path}",
            )
        boot, acknowledged, synced = _LAYOUT.unpack(stored)
        promised = acknowledged if boot == _boot_id() else synced
        if recovered < promised:
            raise CorruptData(
                f"store '{store}' lost its last {promised - recovered:,} cells that were"
                " acknowledged: its write-ahead log (*.log) is damaged or cut",
                hint=f"restore a checkpoint; to accept the loss, remove '{self._path}'",
            )

    def open(self, sequence: int) -> None:
        """Starts to keep marks, from the sequence number that the database stands at."""
        draft = self._path.with_suffix(".new")
        draft.write_bytes(_LAYOUT.pack(_boot_id(), sequence, 0))
        draft.replace(self._path)
        descriptor = os.open(self._path, os.O_RDWR)
        try:
            self._map = mmap.mmap(descriptor, _LAYOUT.size)
        finally:
            os.close(descriptor)
        self.exists = True

    def move(self, sequence: int, *, synced: bool) -> None:
        """Notes that a write was acknowledged."""
        if synced:
            self._synced = sequence
        assert self._map is not None
        _NUMBERS.pack_into(self._map, 36, sequence, self._synced)

    def close(self) -> None:
        """Stops; the file stays."""
        if self._map is not None:
            self._map.close()
            self._map = None


def _boot_id() -> bytes:
    try:
        return _BOOT_ID.read_bytes().strip()[:36].ljust(36)
    except OSError:
        return b" " * 36
