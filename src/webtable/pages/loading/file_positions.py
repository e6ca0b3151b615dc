"""How far files were loaded, so that a load that was stopped goes on there.

A position is trusted only if the bytes in front of it are the ones that were loaded. That is so if
the file was not changed since, which its inode, size and times show, the time of the last change
among them, which no program can set. Otherwise the bytes must have the SHA-256 that is stored with
the position. So a file that was replaced or mended in front of the position is read again from its
beginning, and one that was moved or has grown is gone on with. Where the position is inside of a
compressed member, how much of the file it depends on is not known, and all of it is hashed.

    webtable_settings: load:HASH:NAME
        a:read = [offset, inside, hashed bytes, SHA-256 in hex, "inode size mtime ctime"]

HASH is of the name and the first 64 KB; two files that share both share bytes that are stored.
On-disk: changing this needs a new column. Frozen by tests/pages/loading/test_file_positions.py.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from webtable.pages.captures import START, Position
from webtable.store.mutation import Delete, Put
from webtable.store.table import Table

__all__ = ["Positions"]

_HEAD_BYTES = 65_536
_READ_BYTES = 1024 * 1024
_COLUMN = b"a:read"


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    """A position as it is stored, the hash of so many bytes of its file, and its state."""

    offset: int
    inside: int
    hashed_bytes: int
    sha256: str
    state: str


class Positions:
    """The positions in the files of one load, kept in the settings of a store.

    Files that cannot be read again, such as pipes, and those that do not exist have none.
    """

    def __init__(self, settings: Table) -> None:
        self._settings = settings
        self._files: dict[str, _File] = {}
        self._finished: list[bytes] = []

    def start_of(self, path: str) -> Position:
        """Returns where a load of this very file was stopped, or its beginning."""
        row = _row_of(path)
        if row is None:
            return START
        try:
            file = self._files[path] = _File(path, row)
        except OSError:  # it is gone; the process that reads it will say so
            return START
        found = self._settings.get(row, (_COLUMN,))
        value = None if found is None else found.value(_COLUMN)
        return START if not value else file.resume(value)

    def put(self, path: str, after: Position) -> Put | None:
        """Returns what to write once all before a position is stored; None: nothing."""
        file = self._files.get(path)
        if file is None or file.resumed == after:
            return None
        try:
            hashed_bytes, sha256 = file.hash_before(after)
        except OSError:  # the next load begins where this file was readable last
            return None
        stored = _Stored(after.offset, after.inside, hashed_bytes, sha256, file.state)
        return Put(file.row, {_COLUMN: msgspec.json.encode(stored)})

    def finish(self, path: str) -> None:
        """Notes that a file was read to its end; `forget_finished` forgets its position."""
        if path in self._files:
            self._finished.append(self._files[path].row)

    def forget_finished(self) -> None:
        """Deletes the positions in files that are done: to load one again reads it again."""
        with self._settings.batch() as mutations:
            for row in self._finished:
                mutations.add(Delete(row))
        self._finished.clear()


class _File:
    """A file, and the hash of its beginning, which grows as the file is loaded."""

    def __init__(self, path: str, row: bytes) -> None:
        self._path = Path(path)
        self.row = row
        # As it is before it is read: what changes it meanwhile shows in the next load.
        self.state = _state_of(self._path)
        self.resumed: Position | None = None
        self._hash = hashlib.sha256()
        self._hashed_bytes = 0
        self._whole: tuple[int, str] | None = None

    def resume(self, value: bytes) -> Position:
        """Returns a stored position if the bytes in front of it are the same, else the start."""
        try:
            stored = msgspec.json.decode(value, type=_Stored)
            position = Position(stored.offset, stored.inside)
            if stored.state == self.state:
                self.resumed = position
            elif self.hash_before(position) == (stored.hashed_bytes, stored.sha256):
                return position
            else:
                self._hash, self._hashed_bytes = hashlib.sha256(), 0
        except (msgspec.DecodeError, OSError):
            return START
        return self.resumed or START

    def hash_before(self, position: Position) -> tuple[int, str]:
        """Returns the hash of what a position depends on, and how many bytes that is."""
        if not position.inside:
            self._read_to(position.offset)
            return self._hashed_bytes, self._hash.hexdigest()
        if self._whole is None:
            with self._path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                self._whole = file.tell(), sha256
        return self._whole

    def _read_to(self, offset: int) -> None:
        with self._path.open("rb", buffering=0) as file:
            file.seek(self._hashed_bytes)
            while (left := offset - self._hashed_bytes) > 0:
                data = file.read(min(left, _READ_BYTES))
                if not data:
                    return
                self._hash.update(data)
                self._hashed_bytes += len(data)


def _state_of(file: Path) -> str:
    found = file.stat()
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _row_of(path: str) -> bytes | None:
    """Returns the row of the position in a file; None where it has none."""
    file = Path(path)
    try:
        if not file.is_file():
            return None
        with file.open("rb") as opened:
            head = opened.read(_HEAD_BYTES)
    except OSError:
        return None
    name = os.fsencode(file.name)
    key = hashlib.sha256(name + b"\0" + head).hexdigest()[:32]
    return f"load:{key}:".encode() + name[:900]
