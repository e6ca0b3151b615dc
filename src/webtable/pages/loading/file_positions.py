"""How far files were loaded, so that a stopped load resumes there.

A position is used only if the bytes before it are those that were loaded. That is the case if the
file is unchanged: its inode, size and times are the same, also the time of the last status change,
which no program can set. Otherwise the bytes must have the SHA-256 that is stored with the
position. So a file that was replaced or repaired before the position is read again from its
beginning; a file that was moved or has grown resumes. A position inside a compressed member depends
on an unknown part of the file, so the hash of the whole file is compared.

    webtable_settings: load:HASH:NAME
        a:read = [offset, inside, hashed bytes, SHA-256 in hex, "inode size mtime ctime"]

HASH is of the name and the first 64 KB; two files with the same HASH have these bytes in common.
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
    """A stored position, the hash of the first bytes of its file, and the state of the file."""

    offset: int
    inside: int
    hashed_bytes: int
    sha256: str
    state: str


class Positions:
    """The positions in the files of one load, stored in the settings of a store.

    Pipes, which cannot be read again, and files that do not exist have no position.
    """

    def __init__(self, settings: Table) -> None:
        self._settings = settings
        self._files: dict[str, _File] = {}
        self._finished: list[bytes] = []

    def start_of(self, path: str) -> Position:
        """Returns the position at which a load of this file stopped, or its beginning."""
        row = _row_of(path)
        if row is None:
            return START
        try:
            file = self._files[path] = _File(path, row)
        except OSError:  # the file was removed; the worker process reports that
            return START
        found = self._settings.get(row, (_COLUMN,))
        value = None if found is None else found.value(_COLUMN)
        return START if not value else file.resume(value)

    def put(self, path: str, after: Position) -> Put | None:
        """Returns the put to write after all captures before a position are stored; None: none."""
        file = self._files.get(path)
        if file is None or file.resumed == after:
            return None
        try:
            hashed_bytes, sha256 = file.hash_before(after)
        except OSError:  # the next load resumes at the last stored position
            return None
        stored = _Stored(after.offset, after.inside, hashed_bytes, sha256, file.state)
        return Put(file.row, {_COLUMN: msgspec.json.encode(stored)})

    def finish(self, path: str) -> None:
        """Notes that a file was read to its end; `forget_finished` deletes its position."""
        if path in self._files:
            self._finished.append(self._files[path].row)

    def forget_finished(self) -> None:
        """Deletes the positions of finished files: to load a file again reads it again."""
        with self._settings.batch() as mutations:
            for row in self._finished:
                mutations.add(Delete(row))
        self._finished.clear()


class _File:
    """A file, and the hash of its beginning, which grows as the file is loaded."""

    def __init__(self, path: str, row: bytes) -> None:
        self._path = Path(path)
        self.row = row
        # Read before the file: a change during this load is noticed by the next one.
        self.state = _state_of(self._path)
        self.resumed: Position | None = None
        self._hash = hashlib.sha256()
        self._hashed_bytes = 0
        self._whole: tuple[int, str] | None = None

    def resume(self, value: bytes) -> Position:
        """Returns a stored position if the bytes before it are the same, else the start."""
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
        """Returns how many bytes a position depends on, and their hash."""
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
    """Returns the row key of the position in a file; None where it has no position."""
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
