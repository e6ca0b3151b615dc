"""`Sorter`: sorts more lines than fit into memory: sorted runs in files, merged at the end.

A line is bytes with one line feed, at the end. The order is that of the bytes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from webtable.temporary_folders import scratch_folder

__all__ = ["RUN_BYTES", "Sorter", "scratch"]

RUN_BYTES = 96 * 1024 * 1024
"""The memory for the lines of one run, about."""

_LINE_BYTES = 41  # Python's overhead for each line: the object, and its entry in the list
_MOST_RUNS = 48  # open at a time; more are merged into longer ones first
_BUFFER_BYTES = 256 * 1024


def scratch(directory: str | None = None) -> AbstractContextManager[Path]:
    """Creates a folder for runs; it is removed at the end of the block.

    Args:
        directory: the parent; by default the system's directory for temporary files.
    """
    return scratch_folder("webtable-links-", directory)


class Sorter:
    """Accepts lines in any order and returns them sorted, once.

    Args:
        directory: the folder for the runs; the caller removes it.
        name: the prefix of the file names of this sorter.
        run_bytes: how much memory to use.
    """

    def __init__(self, directory: Path, name: str, *, run_bytes: int = RUN_BYTES) -> None:
        self._directory = directory
        self._name = name
        self._run_bytes = run_bytes
        self._lines: list[bytes] = []
        self._size = 0
        self._runs: list[Path] = []
        self._made = 0

    def add(self, lines: Sequence[bytes], size: int) -> None:
        """Adds lines; `size` is their approximate total size, without Python's overhead."""
        self._lines += lines
        self._size += size + len(lines) * _LINE_BYTES
        if self._size >= self._run_bytes:
            self._write_run()

    def lines(self) -> Iterator[bytes]:
        """Returns all lines in order, including duplicates."""
        if not self._runs:
            self._lines.sort()
            lines, self._lines = self._lines, []
            return iter(lines)
        self._write_run()
        while len(self._runs) > _MOST_RUNS:
            first, self._runs = self._runs[:_MOST_RUNS], self._runs[_MOST_RUNS:]
            with self._path().open("wb", _BUFFER_BYTES) as out:
                out.writelines(_merged(first))
            for path in first:
                path.unlink()
        runs, self._runs = self._runs, []
        return _merged(runs)

    def _write_run(self) -> None:
        lines, self._lines, self._size = self._lines, [], 0
        if lines:
            lines.sort()
            with self._path().open("wb", _BUFFER_BYTES) as out:
                out.writelines(lines)

    def _path(self) -> Path:
        self._made += 1
        path = self._directory / f"{self._name}-{self._made:06}"
        self._runs.append(path)
        return path


def _merged(paths: Sequence[Path]) -> Iterator[bytes]:
    # No generator around the other one: that would cost a tenth of a rebuild's time.
    return heapq.merge(*map(_lines_of, paths)) if len(paths) > 1 else _lines_of(paths[0])


def _lines_of(path: Path) -> Iterator[bytes]:
    with path.open("rb", _BUFFER_BYTES) as file:
        yield from file
