"""How wide texts are on a terminal, and how the columns of a table fit into its width."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Protocol

__all__ = ["cut_end", "cut_middle", "fit_widths", "text_width"]

_GAP = 2
_DAY = len("2026-09-01")
_LEAST_TEXT = 8
# Above these widths columns are narrowed before anything else is given up.
_READABLE = {"text": 12, "name": 30}


class _Column(Protocol):
    @property
    def kind(self) -> str: ...

    @property
    def spare(self) -> int: ...


def text_width(text: str) -> int:
    """Returns how many cells of a terminal a text takes.

    >>> text_width("caf\u00e9"), text_width("\u6f22\u5b57"), text_width("e\u0301")
    (4, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_character_width, text))


def cut_end(text: str, width: int) -> str:
    """Returns the beginning of a text in so many cells, with an ellipsis where it is longer.

    >>> cut_end("The history of tea", 12)
    'The history…'
    """
    if text_width(text) <= width:
        return text
    return f"{_start(text, width - 1)}…" if width > 0 else ""


def cut_middle(text: str, width: int) -> str:
    """Returns a text in so many cells; of a longer one the middle is left out.

    URLs of one site begin alike and end differently, so both ends are shown.

    >>> cut_middle("https://example.com/a/long/path.html", 20)
    'https://ex…path.html'
    """
    if text_width(text) <= width:
        return text
    tail = (width - 1) // 2
    if tail < 1:
        return cut_end(text, width)
    if text.isascii():
        return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"
    return f"{_start(text, width - 1 - tail)}…{_end(text, tail)}"


def fit_widths(widths: Sequence[int], columns: Sequence[_Column], width: int) -> list[int | None]:
    """Returns the widths of columns that fit into a terminal; None for those that are left out.

    Texts are narrowed to a readable width first. Where that is not enough, times lose their hours,
    then spare columns are left out, and last, texts are narrowed to eight cells. Numbers are never
    cut.
    """
    fitted: list[int | None] = list(widths)
    if _total(_readable(fitted, columns)) > width:
        for at, column in enumerate(columns):
            if column.kind == "when":
                fitted[at] = min(widths[at], _DAY)
    spare = sorted(range(len(columns)), key=lambda at: columns[at].spare)
    while _total(_readable(fitted, columns)) > width and columns[spare[-1]].spare:
        fitted[spare.pop()] = None
    _narrow(fitted, columns, width)
    return fitted


def _readable(widths: Sequence[int | None], columns: Sequence[_Column]) -> list[int | None]:
    return [
        None if each is None else min(each, _READABLE.get(column.kind, each))
        for each, column in zip(widths, columns, strict=True)
    ]


def _narrow(widths: list[int | None], columns: Sequence[_Column], width: int) -> None:
    """Takes the excess from the column that is widest beyond what is readable."""
    for _ in range(_total(widths) - width):
        texts = [
            (each - _READABLE[columns[at].kind], at)
            for at, each in enumerate(widths)
            if each is not None and each > _LEAST_TEXT and columns[at].kind in _READABLE
        ]
        if not texts:
            return  # the terminal is too narrow for this table
        _, widest = max(texts)
        widths[widest] = (widths[widest] or 0) - 1


def _total(widths: Sequence[int | None]) -> int:
    shown = [each for each in widths if each is not None]
    return sum(shown) + _GAP * (len(shown) - 1)


def _start(text: str, width: int) -> str:
    used = 0
    for at, character in enumerate(text):
        used += _character_width(character)
        if used > width:
            return text[:at]
    return text


def _end(text: str, width: int) -> str:
    used, begin = 0, len(text)
    for at in range(len(text) - 1, -1, -1):
        used += _character_width(text[at])
        if used > width:
            break
        if _character_width(text[at]):  # an accent stays with the letter before it
            begin = at
    return text[begin:]


def _character_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
