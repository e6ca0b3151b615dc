"""The layout of HBase's shell: headings, rows in two columns, the number of rows.

Where the output is a terminal, the first column has a quarter of its width and the second the
rest, as in HBase's shell; elsewhere nothing is padded or cut. Nothing is buffered: a row is written
as it comes, so that a scan of any length runs in little memory.

Unlike HBase's shell, control characters are escaped, which a value has that is shown by the
formatter `toString`: a terminal would obey them. Tabs and line ends stay, and so do bytes of a
script that are not UTF-8.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TextIO

from webtable.cli.safe_text import show_text

__all__ = ["Printer"]

_KEPT = "\t\n" + "".join(map(chr, range(0xDC80, 0xDD00)))


class Printer:
    """Writes the output of commands to a stream."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._width = 0
        self.rows = 0
        """How many rows were written since the last heading."""

    def line(self, text: str = "") -> None:
        """Writes a line."""
        self._put(f"{text}\n")

    def flush(self) -> None:
        """Flushes the stream; raises here if the reader has closed it."""
        self._out.flush()

    def heading(self, *titles: str) -> None:
        """Begins a list of one or two columns; without titles no line is written."""
        # A terminal may have been made wider since the last command.
        self._width = shutil.get_terminal_size().columns if self._is_terminal else 0
        if titles:
            self._write(titles, is_inset=False)
        self.rows = 0

    def row(self, *cells: str) -> None:
        """Writes a row of one or two columns."""
        self.rows += 1
        if self._width:
            self._write(cells, is_inset=True)
        elif len(cells) == 1:
            self._put(f"{cells[0]}\n")
        else:
            self._put(f" {cells[0]} {cells[1]}\n")

    def footer(self, count: int | None = None) -> None:
        """Writes the number of rows."""
        self.line(f"{self.rows if count is None else count} row(s)")

    def took(self, seconds: float) -> None:
        """Writes how long a command took."""
        self.line(f"Took {seconds:.4f} seconds")

    def _put(self, text: str) -> None:
        self._out.write(show_text(text, keep=_KEPT))

    def _write(self, cells: Sequence[str], *, is_inset: bool) -> None:
        if len(cells) == 1:
            for part in _cut(cells[0], self._width):
                self.line(part)
            return
        left_width = self._width // 4
        left = _cut(cells[0], left_width)
        right = _cut(cells[1], max(1, self._width - left_width - 2) if self._width else 0)
        before, between = (" ", " ") if is_inset else ("", "  ")
        for number in range(max(len(left), len(right))):
            first = left[number] if number < len(left) else ""
            second = right[number] if number < len(right) else ""
            self.line(f"{before}{first.ljust(left_width)}{between}{second}".rstrip(" "))


def _cut(text: str, width: int) -> list[str]:
    if not width:
        return [text]
    return [text[start : start + width] for start in range(0, len(text), width)]
