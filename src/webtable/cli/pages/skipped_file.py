"""The file of `webtable load --skipped-to`: a line of JSON for each record that was not stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self, TextIO

from webtable.errors import IncompleteLoad, InvalidRequest
from webtable.pages.captures import Skipped

__all__ = ["SkippedFile"]


class SkippedFile:
    """Writes what is skipped to a file; without a path, to none.

    That it cannot be written any more, because the disk is full, does not end a load: `check` says
    so afterwards.

    Raises:
        InvalidRequest: the file cannot be made, or is one of those to load.
    """

    def __init__(self, path: str | None, files: tuple[str, ...]) -> None:
        self._path = path
        self._out: TextIO | None = None
        self._error: OSError | None = None
        if path is None:
            return
        if any(_is_same(path, file) for file in files):
            raise InvalidRequest(
                f"'{path}' is to be loaded, and --skipped-to would overwrite it",
                hint="name another file for --skipped-to",
            )
        try:
            self._out = Path(path).open("w", encoding="utf-8")  # noqa: SIM115
        except OSError as exc:
            raise InvalidRequest(
                f"'{path}' cannot be written: {exc.strerror or exc}",
                hint="name a file in a directory that exists for --skipped-to",
            ) from exc

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._out is not None:
            try:
                self._out.close()
            except OSError as exc:
                self._error = self._error or exc

    def write(self, skipped: Skipped) -> None:
        """Writes a line."""
        if self._out is None or self._error is not None:
            return
        item = {
            "source": skipped.source,
            "position": str(skipped.position),
            "reason": skipped.reason,
            "why": skipped.why,
            "url": skipped.url,
            "record_id": skipped.record_id,
        }
        try:
            self._out.write(json.dumps(item, ensure_ascii=False) + "\n")
        except OSError as exc:
            self._error = exc

    def check(self) -> None:
        """Checks that everything was written.

        Raises:
            IncompleteLoad: it was not.
        """
        if self._error is not None:
            raise IncompleteLoad(
                f"'{self._path}' does not name everything that was skipped: "
                f"{self._error.strerror or self._error}",
                hint="all files were loaded; to get the list, make room and load them again",
            )


def _is_same(path: str, other: str) -> bool:
    try:
        return Path(path).samefile(other) and Path(path).is_file()
    except OSError:
        return False
