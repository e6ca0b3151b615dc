r"""Java's regular expressions by Python's: what both understand in the same way.

On HBase a `RegexStringComparator` is evaluated by Java. Here the common part is translated: `$` and
`\Z` know Java's line ends, `\d`, `\w` and `\s` are ASCII, `(?<name>…)` and `\k<name>` are written
Python's way. What differs in any other way is refused, so that no expression means two things.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import NoReturn

from webtable.errors import InvalidRequest

__all__ = ["compile_regex"]

# Before the line end at the end of the input, or at the end itself.
_END = r"(?:(?<!\r)(?=\n\Z)|(?=(?:\r\n|[\r\x85\u2028\u2029])\Z)|\Z)"
_SAME_ESCAPES = frozenset("dDwWsSbBAtnrfa")
_QUANTIFIER = re.compile(r"\{\d+(?:,\d*)?\}")
_GROUP = re.compile(r"\(\?(?:[:=!>]|<[=!]|<(?P<name>[A-Za-z][A-Za-z0-9]*)>|-?i:)")
_SAME_IN_CLASS = frozenset("dDwWsStnrfa")


@lru_cache(maxsize=256)
def compile_regex(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    """Returns a pattern whose `search` finds what Java's `find` does.

    Raises:
        InvalidRequest: it is not an expression, or one that Java and Python read differently.
    """
    flags = re.DOTALL | re.ASCII | (re.IGNORECASE if ignore_case else 0)
    translated = _Translation(pattern).run()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Python warns of what it may read differently one day
            return re.compile(translated, flags)
    except (re.error, RecursionError, OverflowError, Warning) as exc:
        raise InvalidRequest(
            f"regular expression {pattern!r:.80} is not one: {exc}",
            hint="mind that \\ begins an escape, and that look-behind has a fixed length here",
        ) from exc


class _Translation:
    """One expression being translated; `_at` is how far."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._out: list[str] = []

    def run(self) -> str:
        if self._pattern.startswith("(?i)"):
            self._take(4)
        while self._at < len(self._pattern):
            match self._pattern[self._at]:
                case "\\":
                    self._escape()
                case "[":
                    self._class()
                case "(":
                    self._group()
                case "{":
                    quantifier = _QUANTIFIER.match(self._pattern, self._at)
                    if not quantifier or not self._at:
                        self._refuse("a { that begins no quantifier")
                    self._take(len(quantifier[0]))
                case "$":
                    self._take(1, _END)
                case _:
                    self._take(1)
        return "".join(self._out)

    def _take(self, count: int, instead: str | None = None) -> None:
        taken = self._pattern[self._at : self._at + count]
        self._out.append(taken if instead is None else instead)
        self._at += count

    def _escape(self) -> None:
        letter = self._pattern[self._at + 1 : self._at + 2]
        following = self._pattern[self._at + 2 : self._at + 3]
        if letter == "Z":
            self._take(2, _END)
        elif letter == "z":
            self._take(2, r"\Z")
        elif letter == "k":
            name = re.compile(r"\\k<([A-Za-z][A-Za-z0-9]*)>").match(self._pattern, self._at)
            if not name:
                self._refuse("a \\k without a name")
            self._take(len(name[0]), f"(?P={name[1]})")
        elif letter == "b" and following == "{":
            self._refuse("\\b{")
        elif letter.isdigit():
            if letter == "0" or following.isdigit():
                self._refuse(f"\\{letter}{following}")
            self._take(2)
        else:
            self._character(_SAME_ESCAPES)

    def _character(self, same: frozenset[str]) -> None:
        """Takes an escape that stands for a character, or for a class of them."""
        letter = self._pattern[self._at + 1 : self._at + 2]
        if letter in {"x", "u"}:
            size = 2 if letter == "x" else 4
            if not re.compile(rf"\\[xu][0-9A-Fa-f]{{{size}}}").match(self._pattern, self._at):
                self._refuse(f"\\{letter} without {size} digits")
            self._take(2 + size)
        elif letter in same or (letter and not letter.isalnum()):
            self._take(2)
        else:
            self._refuse(f"\\{letter}")

    def _class(self) -> None:
        self._take(1)
        if self._next("^"):
            self._take(1)
        if self._next("]"):
            self._refuse("a ] at the beginning of a class")
        while not self._next("]"):
            if self._at >= len(self._pattern):
                self._refuse("a class that is not closed")
            if self._next("[") or self._next("&&"):
                self._refuse("a class inside a class")
            if self._next("\\"):
                self._character(_SAME_IN_CLASS)
            else:
                self._take(1)
        self._take(1)

    def _group(self) -> None:
        if not self._next("(?"):
            self._take(1)
            return
        group = _GROUP.match(self._pattern, self._at)
        if not group:
            self._refuse(self._pattern[self._at : self._at + 4])
        name = group["name"]
        self._take(len(group[0]), f"(?P<{name}>" if name else None)

    def _next(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def _refuse(self, what: str) -> NoReturn:
        raise InvalidRequest(
            f"regular expression {self._pattern!r:.80}, position {self._at}: {what}",
            hint="the embedded engine takes what Java and Python read in the same way",
        )
