r"""Java's regular expressions by Python's: what both understand in the same way.

On HBase a `RegexStringComparator` is evaluated by Java. Here the common part is translated: `$` and
`\Z` match at Java's line ends, `\d`, `\w` and `\s` are ASCII, `(?<name>…)` and `\k<name>` are
written Python's way. What differs in any other way is rejected, so that no expression means two
things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from webtable.errors import InvalidRequest

__all__ = ["END", "Piece", "Translation", "translate"]

END = r"(?:(?<!\r)(?=\n\Z)|(?=(?:\r\n|[\r\x85\u2028\u2029])\Z)|\Z)"
"""Java's `$`: before the line end at the end of the input, or at the end itself."""

# Python's own \B does not match in an empty text before 3.14.
_NO_BORDER = r"(?!\b)"
_PLAIN = {END: "$", _NO_BORDER: r"\B"}
_SAME_ESCAPES = frozenset("dDwWsSbAtnrfa")
_QUANTIFIER = re.compile(r"\{\d+(?:,\d*)?\}")
_GROUP = re.compile(r"\(\?(?:[:=!>]|<[=!]|<(?P<name>[A-Za-z][A-Za-z0-9]*)>|-?i:)")
_SAME_IN_CLASS = frozenset("dDwWsStnrfa")


class Piece(NamedTuple):
    r"""An expression in Python's syntax.

    Attributes:
        pattern: what to compile.
        structure: the same with plain `$` and `\B`, which have Java's meaning there. Only parsed.
    """

    pattern: str
    structure: str


class Translation(NamedTuple):
    """A translated expression.

    Attributes:
        whole: all of it.
        pieces: the parts between its `.*`, if these may be searched one after the other; else
            all of it.
        ignore_case: whether it begins with `(?i)`.
    """

    whole: Piece
    pieces: tuple[Piece, ...]
    ignore_case: bool

    def of_whole_text(self) -> Translation:
        """Returns the translation of an expression that has to match from beginning to end."""
        pattern, structure = (rf"\A(?:{text})\Z" for text in self.whole)
        whole = Piece(pattern, structure)
        return Translation(whole, (whole,), self.ignore_case)

    def to_find(self) -> Piece:
        """Returns what to find in a text: `.*` at the beginning and at the end add nothing."""
        return _joined(self.pieces)


def translate(pattern: str) -> Translation:
    """Returns an expression of Java in Python's syntax, for the flags DOTALL and ASCII.

    It may still be no valid expression; compiling it shows that.

    Raises:
        InvalidRequest: Java and Python read it differently.
    """
    return _Translator(pattern).run()


class _Translator:
    """One expression being translated; `_at` is how far."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._out: list[str] = []
        self._pieces: list[list[str]] = []
        self._depth = 0
        self._is_one_sequence = True

    def run(self) -> Translation:
        ignore_case = self._pattern.startswith("(?i)")
        if ignore_case:
            self._take(4, "")
        while self._at < len(self._pattern):
            match self._pattern[self._at]:
                case "\\":
                    self._escape()
                case "[":
                    self._class()
                case "(":
                    self._depth += 1
                    self._group()
                case ")":
                    self._depth -= 1
                    self._take(1)
                case "|":
                    self._is_one_sequence &= self._depth > 0
                    self._take(1)
                case "." if not self._depth and self._next(".*") and not self._next(".*+"):
                    self._at += 3 if self._next(".*?") else 2
                    self._pieces.append(self._out)
                    self._out = []
                case "{":
                    quantifier = _QUANTIFIER.match(self._pattern, self._at)
                    if not quantifier or not self._at:
                        self._reject("a { that begins no quantifier")
                    self._take(len(quantifier[0]))
                case "$":
                    self._take(1, END)
                case _:
                    self._take(1)
        pieces = [_piece(parts) for parts in (*self._pieces, self._out)]
        whole = _joined(pieces)
        if self._is_one_sequence:
            pieces = [piece for piece in pieces if piece.pattern] or [Piece("", "")]
        else:
            pieces = [whole]
        return Translation(whole, tuple(pieces), ignore_case)

    def _take(self, count: int, instead: str | None = None) -> None:
        text = self._pattern[self._at : self._at + count]
        self._out.append(text if instead is None else instead)
        self._at += count

    def _escape(self) -> None:
        letter = self._pattern[self._at + 1 : self._at + 2]
        following = self._pattern[self._at + 2 : self._at + 3]
        if letter == "Z":
            self._take(2, END)
        elif letter == "z":
            self._take(2, r"\Z")
        elif letter == "B":
            self._take(2, _NO_BORDER)
        elif letter == "k":
            name = re.compile(r"\\k<([A-Za-z][A-Za-z0-9]*)>").match(self._pattern, self._at)
            if not name:
                self._reject("a \\k without a name")
            self._is_one_sequence = False
            self._take(len(name[0]), f"(?P={name[1]})")
        elif letter == "b" and following == "{":
            self._reject("\\b{")
        elif letter.isdigit():
            if letter == "0" or following.isdigit():
                self._reject(f"\\{letter}{following}")
            self._is_one_sequence = False
            self._take(2)
        else:
            self._character(_SAME_ESCAPES)

    def _character(self, same: frozenset[str]) -> None:
        """Reads an escape of a character, or of a class of characters."""
        letter = self._pattern[self._at + 1 : self._at + 2]
        if letter in {"x", "u"}:
            size = 2 if letter == "x" else 4
            if not re.compile(rf"\\[xu][0-9A-Fa-f]{{{size}}}").match(self._pattern, self._at):
                self._reject(f"\\{letter} without {size} digits")
            self._take(2 + size)
        elif letter in same or (letter and not letter.isalnum()):
            self._take(2)
        else:
            self._reject(f"\\{letter}")

    def _class(self) -> None:
        self._take(1)
        if self._next("^"):
            self._take(1)
        if self._next("]"):
            self._reject("a ] at the beginning of a class")
        while not self._next("]"):
            if self._at >= len(self._pattern):
                self._reject("a class that is not closed")
            if self._next("[") or self._next("&&"):
                self._reject("a class inside a class")
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
            self._reject(self._pattern[self._at : self._at + 4])
        name = group["name"]
        self._take(len(group[0]), f"(?P<{name}>" if name else None)

    def _next(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def _reject(self, what: str) -> NoReturn:
        raise InvalidRequest(
            f"regular expression {self._pattern!r:.80}, position {self._at}: {what}",
            hint="the embedded engine takes what Java and Python read in the same way",
        )


def _joined(pieces: Sequence[Piece]) -> Piece:
    return Piece(*(".*".join(texts) for texts in zip(*pieces, strict=True)))


def _piece(parts: list[str]) -> Piece:
    return Piece("".join(parts), "".join(_PLAIN.get(part, part) for part in parts))
