"""Operational state of an embedded store: a SQLite file in the directory of the store.

    OPERATIONS        the database; created by the first write
    OPERATIONS-wal    SQLite's, while a process has the database open, or after it was killed
    OPERATIONS-shm

    CREATE TABLE state (kind TEXT, name TEXT, value BLOB, PRIMARY KEY (kind, name)) WITHOUT ROWID
    PRAGMA user_version = 1        the format of this file

On-disk: changing this needs a new number there. Frozen by
tests/operations/test_operational_state.py.

SQLite locks the file for each transaction, so that any number of processes may write it while
another one has the store open for writing. In its WAL mode readers do not wait for writers.
Every call opens the file and closes it: the calls are few, and no connection outlives a fork.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from webtable.errors import (
    AccessError,
    CorruptData,
    DiskFull,
    FormatVersionError,
    NotAllowed,
    ReadOnly,
    RetryableError,
    StorageError,
    WebTableError,
)
from webtable.operations.operational_state import OperationalState, check_value

__all__ = ["SqliteState"]

FILE = "OPERATIONS"
_FORMAT = 1
_CREATE = (
    "CREATE TABLE state (kind TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL,"
    " PRIMARY KEY (kind, name)) WITHOUT ROWID"
)
_BUSY_SECONDS = 30.0


class SqliteState(OperationalState):
    """The state in the directory of an embedded store."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._path = Path(directory, FILE)

    def get(self, kind: str, name: str) -> bytes | None:
        """Returns a value; see `OperationalState`."""
        check_value(kind, name)
        rows = self._read("SELECT value FROM state WHERE kind = ? AND name = ?", (kind, name))
        return None if not rows else bytes(rows[0][0])

    def items(self, kind: str) -> Sequence[tuple[str, bytes]]:
        """Returns the values of a kind; see `OperationalState`."""
        check_value(kind, "any")
        rows = self._read("SELECT name, value FROM state WHERE kind = ? ORDER BY name", (kind,))
        return [(str(name), bytes(value)) for name, value in rows]

    def put_if(self, kind: str, name: str, old: bytes | None, new: bytes) -> bool:
        """Replaces a value if it is `old`; see `OperationalState`."""
        check_value(kind, name, new)
        if old is None:
            statement = "INSERT INTO state VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            return self._write(statement, (kind, name, new))
        statement = "UPDATE state SET value = ? WHERE kind = ? AND name = ? AND value = ?"
        return self._write(statement, (new, kind, name, old))

    def delete_if(self, kind: str, name: str, old: bytes) -> bool:
        """Deletes a value if it is `old`; see `OperationalState`."""
        check_value(kind, name)
        statement = "DELETE FROM state WHERE kind = ? AND name = ? AND value = ?"
        return self._write(statement, (kind, name, old))

    def _read(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._translated("read"):
            if not self._path.exists():
                return []
            # A connection that may only read would leave SQLite's two other files behind.
            is_writable = self._is_writable()
            try:
                with self._connected("rw" if is_writable else "ro") as connection:
                    return connection.execute(statement, values).fetchall()
            except sqlite3.OperationalError:
                if is_writable:
                    raise
                # SQLite reads a file in WAL mode only where it can create files beside it, or
                # where it may rely on no process writing it, as is so on a read-only medium.
                with self._connected("ro&immutable=1") as connection:
                    return connection.execute(statement, values).fetchall()

    def _write(self, statement: str, values: Sequence[object]) -> bool:
        with self._translated("written"):
            self._create()
            with self._connected("rw") as connection:
                # With the lock from the beginning: a transaction that reads first cannot wait
                # for another writer, SQLite would make it fail.
                connection.execute("BEGIN IMMEDIATE")
                changed = connection.execute(statement, values).rowcount
                connection.execute("COMMIT")
                return changed == 1

    @contextlib.contextmanager
    def _connected(self, mode: str) -> Iterator[sqlite3.Connection]:
        uri = f"file:{quote(os.path.abspath(self._path))}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version != _FORMAT:
                raise FormatVersionError(
                    f"the operational state '{self._path}' has format {version},"
                    f" this program supports {_FORMAT}",
                    hint="use a newer version of webtable",
                )
            # SQLite's own default in WAL mode loses the last commits when the machine stops.
            connection.execute("PRAGMA synchronous = FULL")
            yield connection
        finally:
            connection.close()

    def _create(self) -> None:
        """Creates the file, whole or not at all; other processes may do it at the same time."""
        if self._path.exists():
            return
        directory = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            if self._path.exists():
                return
            draft = self._path.with_suffix(".new")
            for end in ("", "-wal", "-shm", "-journal"):  # of a process that was killed here
                Path(f"{draft}{end}").unlink(missing_ok=True)
            connection = sqlite3.connect(draft, isolation_level=None)
            try:
                connection.execute(_CREATE)
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
                connection.execute("PRAGMA journal_mode = WAL")
            finally:
                connection.close()
            draft.replace(self._path)
            os.fsync(directory)
        finally:
            os.close(directory)

    def _is_writable(self) -> bool:
        return os.access(self._directory, os.W_OK) and os.access(self._path, os.W_OK)

    @contextlib.contextmanager
    def _translated(self, done: str) -> Iterator[None]:
        """Translates errors; `done` is what the file cannot be where a right is missing."""
        try:
            yield
        except sqlite3.Error as exc:
            raise self._error(exc, done) from exc
        except OSError as exc:
            raise self._system_error(exc, done) from exc

    def _error(self, exc: sqlite3.Error, done: str) -> WebTableError:
        message = f"the operational state '{self._path}' failed: {exc}"
        code = (getattr(exc, "sqlite_errorcode", None) or 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return RetryableError(message, hint="another process writes it for long; try again")
        if code == sqlite3.SQLITE_FULL:
            return DiskFull(message, hint="make room, then try again")
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) and not self._is_writable():
            return self._forbidden(done)
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return CorruptData(
                message,
                hint=f"remove it and the files '{FILE}-*': consumers then begin from the beginning",
            )
        return StorageError(message, hint="check the disk and the path")

    def _system_error(self, exc: OSError, done: str) -> WebTableError:
        if exc.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            return self._forbidden(done)
        message = f"the operational state '{self._path}' failed: {exc}"
        if exc.errno in (errno.ENOSPC, errno.EDQUOT):
            return DiskFull(message, hint="make room, then try again")
        return StorageError(message, hint="check the disk and the path")

    def _forbidden(self, done: str) -> AccessError:
        kind = ReadOnly if done == "written" else NotAllowed
        return kind(
            f"the operational state '{self._path}' cannot be {done}",
            hint="use a store on a medium, and in a directory, that this user may write",
        )
