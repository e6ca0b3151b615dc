"""The tokens of the shell's language: the part of Ruby that people type into HBase's shell.

A `Lexer` reads line by line and reports whether a command goes on: inside brackets or a string, and
after a comma or an operator. Strings become bytes here; names and numbers stay what they are.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, NoReturn, TypeAlias

from webtable.errors import ShellSyntaxError

__all__ = ["Lexer", "Token", "last_command"]

Kind: TypeAlias = Literal["string", "number", "name", "constant", "symbol", "label", "sign", "end"]

MAX_DEPTH = 50
MAX_DIGITS = 40  # far more than any number that a store takes
_BLANK = re.compile(r"[ \t\r\f\v]+|#.*|\\\n?$")
_NUMBER = re.compile(
    r"0[xX](?P<hex>[0-9a-fA-F][0-9a-fA-F_]*)"
    r"|(?P<float>\d[\d_]*(?:\.\d[\d_]*(?:[eE][+-]?\d+)?|[eE][+-]?\d+))"
    r"|(?P<int>\d[\d_]*)"
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*[?!]?")
_SIGN = re.compile(r"=>|->|==|::|&\.|[-+*/%=,.;(){}\[\]|&<>!?@$^~]")
_SINGLE = re.compile(r"[^'\\]+")
_DOUBLE = re.compile(r'[^"\\#]+')
_ESCAPE = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]{1,2})|(?P<octal>[0-7]{1,3})|u\{(?P<points>[0-9a-fA-F ]+)\}"
    r"|u(?P<point>[0-9a-fA-F]{4})|(?P<bad>[xuMcC].?)|(?P<plain>.|\n))",
    re.DOTALL,
)
_PLAIN_ESCAPES = {
    "n": b"\n",
    "t": b"\t",
    "r": b"\r",
    "e": b"\x1b",
    "a": b"\x07",
    "b": b"\x08",
    "f": b"\x0c",
    "v": b"\x0b",
    "s": b" ",
    "\n": b"",
}
_OPENERS = {"(": ")", "[": "]", "{": "}"}
_GOES_ON = {",", "=>", "=", ".", "::", "+", "-", "*", "/", "%"}
_CURLY = "‘’“”«»„"


class Token(NamedTuple):
    """One token: its kind, its value, where it begins, and whether a blank is before it."""

    kind: Kind
    value: str | bytes | int | float
    line: int
    column: int
    spaced: bool = True

    @property
    def word(self) -> str:
        """The value of a name or a sign."""
        return str(self.value)

    @property
    def shown(self) -> str:
        """The word as an error message shows it."""
        if self.kind == "end":
            return "the end of the command"
        if isinstance(self.value, bytes):
            return f"the string '{self.value.decode('utf-8', 'replace'):.40}'"
        return f"'{self.value}'"

    def is_sign(self, *signs: str) -> bool:
        """Whether the token is one of these signs."""
        return self.kind == "sign" and self.value in signs


class _OpenString(NamedTuple):
    quote: str
    line: int
    column: int
    spaced: bool
    pieces: list[bytes]


class Lexer:
    """Reads one command, line by line. `tokens` is whole when `is_open` is False."""

    def __init__(self, first_line: int = 1) -> None:
        self.tokens: list[Token] = []
        self.lines: list[str] = []
        self._first_line = first_line
        self._depth: list[Token] = []
        self._string: _OpenString | None = None
        self._continues = False
        self._text = ""
        self._at = 0

    @property
    def is_open(self) -> bool:
        """Whether the command goes on in the next line."""
        if self._string is not None or self._depth or self._continues:
            return True
        last = self.tokens[-1] if self.tokens else None
        return last is not None and last.is_sign(*_GOES_ON)

    @property
    def depth(self) -> int:
        """How many brackets are open."""
        return len(self._depth)

    @property
    def open_quote(self) -> str:
        """The quote that must close a string; empty outside of one."""
        return self._string.quote if self._string is not None else ""

    @property
    def open_string(self) -> str | None:
        """What was read of a string that is not closed yet; None outside of one."""
        if self._string is None:
            return None
        return b"".join(self._string.pieces).decode("utf-8", "replace")

    def feed(self, text: str) -> None:
        """Reads the next line, without its line end.

        Raises:
            ShellSyntaxError: there is something in it that is no word of the language.
        """
        self.lines.append(text)
        self._text, self._at = text, 0
        self._continues = False
        if self._string is not None:
            if self._string.pieces[-1:] != [b""]:  # what a backslash at the line's end left
                self._string.pieces.append(b"\n")
            self._read_string()
        while self._at < len(text):
            self._read_token()
        if not self.is_open:
            self._add("end", "\n", len(text), spaced=True)

    def finish(self) -> None:
        """Ends the input.

        Raises:
            ShellSyntaxError: a string or a bracket is still open, or something must follow.
        """
        if self._string is not None:
            where = self._string
            self.fail(
                "the string that begins here is not closed",
                where.line,
                where.column,
                hint=f"end it with {where.quote}",
            )
        if self._depth:
            opener = self._depth[-1]
            closer = _OPENERS[opener.word]
            self.fail(
                f"the '{opener.word}' here is not closed",
                opener.line,
                opener.column,
                hint=f"close it with '{closer}'",
            )
        if self.is_open:
            token = self.tokens[-1] if self.tokens else None
            shown = token.shown if token else "'\\'"
            line, column = (token.line, token.column) if token else (self._line, len(self._text))
            self.fail(f"something must follow {shown}, found the end", line, column)

    def error(self, message: str, line: int, column: int, hint: str = "") -> ShellSyntaxError:
        """Returns the error for a place in what was read."""
        source = self.lines[line - self._first_line]
        return ShellSyntaxError(message, line=line, column=column, source=source, hint=hint)

    def fail(self, message: str, line: int, column: int, hint: str = "") -> NoReturn:
        """Raises the error for a place in what was read."""
        raise self.error(message, line, column, hint)

    @property
    def _line(self) -> int:
        return self._first_line + len(self.lines) - 1

    def _add(
        self, kind: Kind, value: str | bytes | int | float, column: int, *, spaced: bool
    ) -> Token:
        token = Token(kind, value, self._line, column + 1, spaced)
        self.tokens.append(token)
        return token

    def _read_token(self) -> None:
        text, start = self._text, self._at
        spaced = start == 0
        if blank := _BLANK.match(text, start):
            self._at = start = blank.end()
            spaced = True
            self._continues = blank.group().startswith("\\")
            if start == len(text):
                return
            if _BLANK.match(text, start):
                return
        sign = text[start]
        if sign in "'\"":
            self._string = _OpenString(sign, self._line, start + 1, spaced, [])
            self._at = start + 1
            self._read_string()
        elif sign.isdecimal() and sign.isascii():
            self._read_number(spaced)
        elif name := _NAME.match(text, start):
            self._read_name(name, spaced)
        elif sign == ":" and (name := _NAME.match(text, start + 1)):
            self._at = name.end()
            self._add("symbol", name.group(), start, spaced=spaced)
        elif found := _SIGN.match(text, start):
            self._at = found.end()
            self._read_sign(found.group(), start, spaced)
        elif sign in _CURLY:
            self.fail(
                f"{sign} is not a quote here", self._line, start + 1, hint="use ' or \" instead"
            )
        else:
            self.fail(f"'{sign}' is no part of a command", self._line, start + 1)

    def _read_name(self, name: re.Match[str], spaced: bool) -> None:
        text, start, word = self._text, name.start(), name.group()
        self._at = name.end()
        if text[self._at : self._at + 1] == ":" and text[self._at + 1 : self._at + 2] != ":":
            self._at += 1
            self._add("label", word, start, spaced=spaced)
        else:
            self._add("constant" if word[0].isupper() else "name", word, start, spaced=spaced)

    def _read_sign(self, sign: str, start: int, spaced: bool) -> None:
        if sign == ";" and not self._depth:
            self._add("end", ";", start, spaced=spaced)
            return
        token = self._add("sign", sign, start, spaced=spaced)
        if sign in _OPENERS:
            self._depth.append(token)
            if len(self._depth) > MAX_DEPTH:
                self.fail(f"more than {MAX_DEPTH} brackets in one another", self._line, start + 1)
        elif sign in _OPENERS.values():
            opener = self._depth.pop() if self._depth else None
            if opener is None:
                self.fail(f"'{sign}' closes nothing", self._line, start + 1)
            if _OPENERS[opener.word] != sign:
                self.fail(
                    f"'{sign}' does not close the '{opener.word}' of line {opener.line}, "
                    f"column {opener.column}",
                    self._line,
                    start + 1,
                    hint=f"expected '{_OPENERS[opener.word]}'",
                )

    def _read_number(self, spaced: bool) -> None:
        start = self._at
        match = _NUMBER.match(self._text, start)
        assert match is not None, "begins with a digit"
        self._at = match.end()
        if len(match.group()) > MAX_DIGITS:
            self.fail("the number is too long", self._line, start + 1)
        value: int | float
        if match["float"]:
            value = float(match["float"].replace("_", ""))
        elif match["hex"]:
            value = int(match["hex"].replace("_", ""), 16)
        else:
            value = int(match["int"].replace("_", ""))
        follower = _NAME.match(self._text, self._at)
        if follower:
            self.fail(
                f"'{match.group()}{follower.group()}' is neither a number nor a name",
                self._line,
                start + 1,
                hint="put names into quotes",
            )
        self._add("number", value, start, spaced=spaced)

    def _read_string(self) -> None:
        """Reads to the closing quote or the end of the line."""
        string = self._string
        assert string is not None, "called inside a string"
        is_single = string.quote == "'"
        plain = _SINGLE if is_single else _DOUBLE
        while self._at < len(self._text):
            if self._text[self._at] == string.quote:
                self._at += 1
                self._string = None
                value = b"".join(string.pieces)
                self.tokens.append(
                    Token("string", value, string.line, string.column, string.spaced)
                )
                return
            if match := plain.match(self._text, self._at):
                string.pieces.append(self._encode(match.group()))
                self._at = match.end()
            elif is_single:
                self._read_backslash(string.pieces)
            else:
                self._read_special(string.pieces)

    def _read_backslash(self, pieces: list[bytes]) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        is_escape = following in ("'", "\\")
        pieces.append(following.encode() if is_escape else b"\\")
        self._at += 2 if is_escape else 1

    def _read_special(self, pieces: list[bytes]) -> None:
        text, at = self._text, self._at
        if text[at] == "#":
            if text[at + 1 : at + 2] in ("{", "@", "$"):
                self.fail(
                    "values inside a string are not filled in here",
                    self._line,
                    at + 1,
                    hint="write \\# for a plain #, or use single quotes",
                )
            pieces.append(b"#")
            self._at += 1
        else:
            self._read_escape(pieces)

    def _read_escape(self, pieces: list[bytes]) -> None:
        match = _ESCAPE.match(self._text, self._at)
        if match is None:  # a backslash ends the line: the line end is no part of the string
            self._at += 1
            pieces.append(b"")
            return
        if match["bad"]:
            self.fail(
                f"'\\{match['bad']}' is no escape",
                self._line,
                self._at + 1,
                hint='such as "\\x00", "\\n", "\\101", "\\u00e9"; write \\\\ for a backslash',
            )
        if match["hex"]:
            pieces.append(bytes([int(match["hex"], 16)]))
        elif match["octal"]:
            pieces.append(bytes([int(match["octal"], 8) & 0xFF]))
        elif match["point"] or match["points"]:
            points = [match["point"]] if match["point"] else match["points"].split()
            pieces += [self._point(point) for point in points]
        else:
            plain = match["plain"]
            pieces.append(_PLAIN_ESCAPES.get(plain) or self._encode(plain))
        self._at = match.end()

    def _point(self, digits: str) -> bytes:
        try:
            return chr(int(digits, 16)).encode()
        except (ValueError, OverflowError):  # not a character, or half of one
            self.fail(f"'\\u{digits:.20}' is no character", self._line, self._at + 1)

    def _encode(self, text: str) -> bytes:
        # Bytes of a file that are not UTF-8 are read as lone surrogates and written back as the
        # same bytes.
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            self.fail("there is half a character here", self._line, self._at + 1)


def last_command(text: str) -> Lexer:
    """Returns the lexer of the last command of a text; the command may go on.

    Raises:
        ShellSyntaxError: the text is none of the language.
    """
    lexer = Lexer()
    for line in text.split("\n"):
        if not lexer.is_open:
            lexer = Lexer()
        lexer.feed(line)
    return lexer
