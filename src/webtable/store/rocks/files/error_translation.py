"""What rocksdict and the system raise, made into our errors: the one place where that happens."""

from __future__ import annotations

import errno
from collections.abc import Callable

from rocksdict import DbClosedError

from webtable.errors import (
    CorruptData,
    DiskFull,
    NotAllowed,
    StorageError,
    StoreClosed,
    WebTableError,
)

__all__ = ["is_forbidden", "is_full", "translated"]

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
# RocksDB gives the system's reason as text only.
_FULL_TEXTS = ("No space left", "Disk quota exceeded", "File too large", "Space limit reached")
_FORBIDDEN_TEXTS = ("Permission denied", "Operation not permitted", "Read-only file system")
_DAMAGE_TEXTS = ("Corruption", "No such file", "does not exist")


class translated:  # noqa: N801 - it reads as a word: with translated(path)
    """Turns what rocksdict and the system raise about the store at `path` into our errors.

    One object serves any number of `with` blocks, also at once: every read enters one.
    """

    __slots__ = ("_is_closed", "path")

    def __init__(self, path: str, is_closed: Callable[[], bool] = lambda: False) -> None:
        self.path = path
        self._is_closed = is_closed

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None and isinstance(error, Exception):
            self.raise_translated(error)

    def raise_translated(self, error: Exception) -> None:
        """Raises the translated error; returns where the error is one of ours already."""
        ours = _translate(error, self.path)
        if not isinstance(ours, WebTableError) and self._is_closed():
            # A thread was at work when another closed the store under it.
            ours = StoreClosed(self.path)
        if ours is not error:
            raise ours from error


def is_full(exc: Exception) -> bool:
    """Whether something failed because a disk is full."""
    number = exc.errno if isinstance(exc, OSError) else None
    return number in _FULL or any(each in str(exc) for each in _FULL_TEXTS)


def is_forbidden(exc: Exception) -> bool:
    """Whether the system did not allow something."""
    number = exc.errno if isinstance(exc, OSError) else None
    return number in _FORBIDDEN or any(each in str(exc) for each in _FORBIDDEN_TEXTS)


def _translate(exc: Exception, path: str) -> Exception:
    if isinstance(exc, WebTableError):
        return exc
    if isinstance(exc, DbClosedError):
        return StoreClosed(path)
    # rocksdict raises bare Exceptions; anything more specific is a mistake of the caller's or ours.
    if not isinstance(exc, OSError) and type(exc) is not Exception:
        return exc
    text = str(exc)
    number = exc.errno if isinstance(exc, OSError) else None
    if is_full(exc):
        return DiskFull(
            f"the disk of store '{path}' is full: {text}",
            hint="make room, then open the store again; acknowledged writes are safe",
        )
    if is_forbidden(exc):
        return NotAllowed(
            f"store '{path}' may not be used: {text}",
            hint="check the owner of the directory and its files; to read only, open it read-only",
        )
    if number is None and any(each in text for each in _DAMAGE_TEXTS):
        return CorruptData(
            f"store '{path}' is damaged: {text}",
            hint="check the disk, then restore the store from a checkpoint",
        )
    return StorageError(f"store '{path}' failed: {text}", hint="check the disk and the path")
