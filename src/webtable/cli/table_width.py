"""How wide texts are on a terminal, and how the columns of a table fit into its width."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Protocol

__all__ = ["cut_text", "fit_widths", "text_width"]

_GAP = 2
_LEAST_TEXT = 8


class _Column(Protocol):
    @property
    def kind(self) -> str: ...


def text_width(text: str) -> int:
    """Returns how many cells of a terminal a text takes.

    >>> text_width("caf\u00e9"), text_width("\u6f22\u5b57")
    (4, 4)
    """
    return len(text) if text.isascii() else sum(map(_character_width, text))


def cut_text(text: str, width: int) -> str:
    """Returns a text in so many cells; of a longer one the middle is left out.

    URLs of one site begin alike and end differently, so both ends are shown.

    >>> cut_text("https://example.com/a/long/path.html", 20)
    'https://ex…path.html'
    """
    if text_width(text) <= width:
        return text
    if width < 2:
        return "…"[:width]
    tail = (width - 1) // 2
    if text.isascii():
        return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"
    return f"{_start(text, width - 1 - tail)}…{_start(text[::-1], tail)[::-1]}"


def fit_widths(widths: Sequence[int], columns: Sequence[_Column], width: int) -> list[int]:
    """Returns the widths of columns that fit into a terminal; numbers are never cut.

    The widest column of text gives first, until it is as narrow as the next one.
    """
    fitted = list(widths)
    texts = [at for at, column in enumerate(columns) if column.kind == "text"]
    excess = sum(fitted) + _GAP * (len(fitted) - 1) - width
    while excess > 0:
        widest = max(texts, key=lambda at: fitted[at], default=None)
        if widest is None or fitted[widest] <= _LEAST_TEXT:
            break  # the terminal is too narrow for this table
        fitted[widest] -= 1
        excess -= 1
    return fitted


def _start(text: str, width: int) -> str:
    taken = 0
    for at, character in enumerate(text):
        taken += _character_width(character)
        if taken > width:
            return text[:at]
    return text


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
