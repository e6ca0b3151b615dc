"""Where a checkpoint is written: a draft beside its target, renamed when it is whole."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from webtable.errors import (
    AlreadyExists,
    DiskFull,
    InvalidRequest,
    NotAllowed,
    StorageError,
    WebTableError,
)
from webtable.store.rocks.files.error_translation import is_forbidden, is_full
from webtable.temporary_folders import ScratchFolder

__all__ = ["checkpoint_draft", "copy_file"]

# Why no directory of that name can be made, whatever the disk.
_BAD_NAME = {
    errno.EEXIST,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOENT,  # of a directory in which nothing can be made, as in /proc
    errno.ENOTDIR,
}
_NO_LINK = {errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP}


@contextlib.contextmanager
def checkpoint_draft(store: str, target: str) -> Iterator[Path]:
    """Gives a path for a new directory, which becomes `target` when the block ends well.

    Raises:
        AlreadyExists: there is something at the target.
        InvalidRequest: the target lies in the store, or cannot be a directory.
        DiskFull, NotAllowed, StorageError: the target cannot be written. Errors about other
            paths are passed on.
    """
    place = Path(os.path.realpath(target))
    if place.is_relative_to(os.path.realpath(store)):
        raise InvalidRequest(
            f"'{target}' lies in the directory of the store itself",
            hint="name a directory outside of it",
        )
    if os.path.lexists(target):
        raise AlreadyExists("directory", target, hint="name a new directory")
    folder = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        folder = ScratchFolder(f".{place.name[:100]}.checkpoint-", place.parent)
        draft = folder.path / "store"
        yield draft
        _sync(draft)
        draft.rename(place)
        _sync(place.parent)
    except Exception as exc:
        if folder is not None and not _is_about(exc, str(folder.path)):
            raise
        raise _translated(exc, target) from exc
    finally:
        if folder is not None:
            folder.remove()


def _is_about(exc: Exception, path: str) -> bool:
    # A write that fails has no name; nothing but the draft is written here by hand.
    return path in str(exc) or (isinstance(exc, OSError) and exc.filename is None)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _translated(exc: Exception, target: str) -> WebTableError:
    message = f"checkpoint '{target}' cannot be written: {exc}"
    if is_full(exc):
        return DiskFull(
            message, hint="make room there, or name a directory on another disk; the store is fine"
        )
    if is_forbidden(exc):
        return NotAllowed(message, hint="name a directory that you may write to")
    if isinstance(exc, ValueError) or (isinstance(exc, OSError) and exc.errno in _BAD_NAME):
        return InvalidRequest(message, hint="name a new directory")
    return StorageError(message, hint="check the disk of the checkpoint; the store is fine")


def copy_file(source: Path, target: Path, *, size_bytes: int | None = None) -> None:
    """Copies a file to another disk or links it on the same one; with a size, copies its beginning.

    A file that is linked must never be changed.
    """
    if size_bytes is None:
        try:
            os.link(source.resolve(), target)
            return
        except OSError as exc:
            if exc.errno not in _NO_LINK:
                raise
    with source.open("rb") as reading, target.open("xb") as writing:
        if size_bytes is None:
            shutil.copyfileobj(reading, writing, 1 << 20)
        else:
            left = size_bytes
            while left and (piece := reading.read(min(left, 1 << 20))):
                writing.write(piece)
                left -= len(piece)
        writing.flush()
        os.fsync(writing.fileno())
