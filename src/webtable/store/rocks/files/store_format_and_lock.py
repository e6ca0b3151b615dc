"""A store's directory: the file that marks it as a store and its format, and the writer's lock.

On-disk: changing this needs a new format version.

    WEBTABLE   JSON: the format's number; what makes a directory a store
    WRITER     JSON: the process that has the store open for writing; empty after a clean close.
    Locked (flock)
               while a writer lives, so the system releases the lock of one that was killed
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from pathlib import Path

from webtable.errors import (
    CorruptData,
    FormatVersionError,
    InvalidRequest,
    StoreLocked,
    StoreNotFound,
)
from webtable.store.rocks.cell_keys import FORMAT_VERSION
from webtable.store.rocks.files.error_translation import translated

__all__ = ["FORMAT_FILE", "WriterLock", "check_format", "is_made", "remove_unmade"]

FORMAT_FILE = "WEBTABLE"
_WRITER_FILE = "WRITER"


class WriterLock:
    """The right of one process at a time to write to a store.

    `was_killed` is true if the writer before did not close the store.
    """

    def __init__(self, path: str) -> None:
        self._file = os.open(Path(path, _WRITER_FILE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._lock(path)
            self.was_killed = bool(os.pread(self._file, 1, 0))
            holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()}
            self._write(json.dumps(holder).encode())
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self, path: str) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            holder = self._holder()
            by = f"process {holder[1]} on {holder[0]}" if holder else "another process"
            raise StoreLocked(
                f"store '{path}' is open for writing by {by}",
                hint="close it there, or open it read-only",
                holder=holder,
            ) from exc

    def _holder(self) -> tuple[str, int] | None:
        try:
            holder = json.loads(os.pread(self._file, 4096, 0))
            return str(holder["host"]), int(holder["pid"])
        except (ValueError, KeyError, TypeError):
            return None

    def _write(self, content: bytes) -> None:
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, content, 0)

    def release(self, *, is_clean: bool) -> None:
        """Releases the lock; after a clean close nothing is left to recover."""
        # The file stays: if it were removed, two processes could lock one of that name each.
        if is_clean:
            self._write(b"")
        os.close(self._file)


def check_format(path: str, *, create: bool) -> None:
    """Makes sure that `path` is a store of a format that this program supports, or creates one.

    Raises:
        InvalidRequest: it is not a path that a store can have.
        StoreNotFound: it is not a store, and was not to be made or cannot be.
        CorruptData, FormatVersionError: it is a damaged one, or one of another version.
    """
    try:
        path.encode()
    except UnicodeEncodeError as exc:  # Python takes such paths, RocksDB does not
        raise InvalidRequest(
            f"location {path!r:.200} is not UTF-8", hint="name a directory by a path in UTF-8"
        ) from exc
    directory, file = Path(path), Path(path, FORMAT_FILE)
    with translated(path):
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            content = b""
        except NotADirectoryError as exc:
            raise _is_a_file(path) from exc
        except (OSError, ValueError) as exc:
            if isinstance(exc, OSError) and exc.errno not in {errno.ENAMETOOLONG, errno.ELOOP}:
                raise
            raise InvalidRequest(
                f"location {path!r:.200} is not a path: {exc}", hint="name a directory"
            ) from exc
        if content:
            _check_version(path, content)
            if not create and is_unmade(path):
                raise _no_store(directory)
        else:
            _make_store(directory, file, create=create)


def _is_a_file(path: str) -> StoreNotFound:
    return StoreNotFound(f"'{path}' is or lies below a file, not a store", hint="name a directory")


def _no_store(directory: Path) -> StoreNotFound:
    return StoreNotFound(
        f"there is no store at '{directory}'",
        hint="check the path, or make a store of pages there with `webtable init`",
    )


def _make_store(directory: Path, file: Path, *, create: bool) -> None:
    if directory.exists() and not directory.is_dir():
        raise _is_a_file(str(directory))
    if Path(directory, "CURRENT").exists():
        raise CorruptData(
            f"'{directory}' has a database without the file {FORMAT_FILE}",
            hint="it is not a store of this program, or was damaged: restore a checkpoint",
        )
    draft = file.with_suffix(".new")
    is_used = directory.exists() and any(each != draft for each in directory.iterdir())
    if is_used and not file.exists():
        raise StoreNotFound(
            f"directory '{directory}' is not empty and not a store",
            hint="name another directory, or an empty one to make a store in",
        )
    if not create:
        raise _no_store(directory)
    directory.mkdir(parents=True, exist_ok=True)
    draft.write_text(json.dumps({"format": FORMAT_VERSION, "engine": "rocksdb"}) + "\n")
    with draft.open() as handle:
        os.fsync(handle.fileno())
    draft.replace(file)


def _check_version(path: str, content: bytes) -> None:
    try:
        version = int(json.loads(content)["format"])
    except (ValueError, KeyError, TypeError) as exc:
        raise CorruptData(
            f"the file {FORMAT_FILE} of store '{path}' is damaged",
            hint="restore the store from a checkpoint",
        ) from exc
    if version != FORMAT_VERSION:
        raise FormatVersionError(
            f"store '{path}' has format {version}, this program supports {FORMAT_VERSION}",
            hint="use the version of webtable that wrote it, or a newer one",
        )


def is_made(path: str) -> bool:
    """Whether the database of a store was made; not so where its making was interrupted."""
    return Path(path, "CURRENT").exists()


def is_unmade(path: str) -> bool:
    """Whether making the database of a store was interrupted, before anything was written.

    Before there is a file CURRENT nothing was written, and `ACKNOWLEDGED` is made only after it. So
    where either of them ever was, or anything that holds cells is, the store is damaged instead.
    """
    directory = Path(path)
    if is_made(path) or Path(path, "ACKNOWLEDGED").exists() or any(directory.glob("*.sst")):
        return False
    return not any(each.stat().st_size for each in directory.glob("*.log"))


def remove_unmade(path: str) -> None:
    """Removes what is left of a database whose creation was interrupted."""
    if not is_unmade(path):
        return
    for pattern in ("MANIFEST-*", "*.dbtmp", "*.log"):
        for each in Path(path).glob(pattern):
            each.unlink()
