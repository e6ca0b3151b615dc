"""Files that commands write: there when they are complete, and not at all where writing failed."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from webtable.errors import AlreadyExists, DiskFull, InvalidRequest, WebTableError

__all__ = ["new_file"]


@contextlib.contextmanager
def new_file(
    name: str, *, overwrite: bool = False, remedy: str = "name a new file, or remove this one first"
) -> Iterator[BinaryIO]:
    """Opens a file for writing that gets its name when the block ends without an error.

    Until then it has another name in the same directory; after an error it is removed.

    Args:
        overwrite: replace a file that is there.
        remedy: what to do where one is there.

    Raises:
        AlreadyExists: there is something of that name.
        DiskFull: the disk is.
        InvalidRequest: it cannot be written for another reason.
    """
    path = Path(name)
    try:
        path.lstat()
        if not overwrite:
            raise AlreadyExists("file", name, hint=remedy)
        path = path.resolve()
        if not path.is_file():  # a device or a pipe: written to, never replaced
            with path.open("wb") as file:
                yield file
            return
    except FileNotFoundError:
        pass
    except OSError as exc:
        raise _unwritable(name, exc) from exc
    partial = path.parent / f".webtable-{os.getpid()}.partial"
    try:
        with partial.open("wb") as file:
            yield file
        _rename(partial, path, overwrite=overwrite)
    except FileExistsError as exc:
        raise AlreadyExists("file", name, hint=remedy) from exc
    except OSError as exc:
        raise _unwritable(name, exc) from exc
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def _rename(partial: Path, path: Path, *, overwrite: bool) -> None:
    """Gives a file its name; unless it may overwrite, only where no other file has it by now."""
    if not overwrite:
        try:
            os.link(partial, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            pass
        else:
            return
    partial.replace(path)


def _unwritable(name: str, exc: OSError) -> WebTableError:
    if exc.errno == errno.ENOSPC:
        hint = "make room, or name a file on another disk; nothing was left behind"
        return DiskFull(f"'{name}' cannot be written: the disk is full", hint=hint)
    return InvalidRequest(
        f"'{name}' cannot be written: {exc.strerror or exc}",
        hint="name a file in a directory that exists and can be written to",
    )
