"""The filter language: `PrefixFilter('a') AND (KeyOnlyFilter() OR PageFilter(5))`, both ways.

As in HBase: `SKIP` and `WHILE` bind closer than `AND`, that closer than `OR`; all in capital
letters, with a blank or a parenthesis on each side; a run of one operator makes one list. `''`
inside quotes is a quote. Unlike in HBase, `(A OR B AND C)` is read too, and other white space will
do for a blank. Text that is not UTF-8 travels through `str` by surrogate escapes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any, NoReturn

from webtable.errors import InvalidRequest
from webtable.store.filtering import filters as f
from webtable.store.filtering.filter_text_forms import (
    COMPARATORS,
    FLAG_ARGUMENTS,
    FORMS,
    NUMBER_ARGUMENTS,
    as_text,
    filter_text,
    make_filter,
    usage,
)

__all__ = ["as_filter", "filter_text", "parse_filter"]

_BLANKS = re.compile(rb"\s*")
_WORD = re.compile(rb"[^\s(),']+")
_SEPARATORS = re.compile(rb"[\s,]*")
_QUOTED = re.compile(rb"'((?:[^']|'')*)'(?!')")
_NUMBER = re.compile(rb"-?[0-9]{1,19}")
_END = re.compile(rb"(?=[\s(])|$")
_AFTER_ARGUMENT = re.compile(rb"(?=[\s,)])|$")
_API_ONLY = ("FilterList", "FuzzyRowFilter", "MultiRowRangeFilter", "RandomRowFilter")
_OPERATORS = ("AND", "OR", "SKIP", "WHILE")
_OPS = ("<", "<=", "=", "!=", ">=", ">")


def as_filter(given: f.Filter | str) -> f.Filter:
    """Returns a filter as it is, or the one that a text describes.

    Raises:
        InvalidRequest: it is neither a filter nor text of the filter language.
    """
    return given if isinstance(given, f.Filter) else parse_filter(given)


def parse_filter(text: str | bytes) -> f.Filter:
    """Returns the filter that a text of the filter language describes.

    Raises:
        InvalidRequest: the text does not; the message names the position.
    """
    try:
        source = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    except UnicodeEncodeError as exc:
        raise InvalidRequest(
            f"filter text, position {exc.start}: {text[exc.start]!r} is half of a character",
            hint="give the text as bytes, or decode it with errors='surrogateescape'",
        ) from exc
    if not isinstance(source, bytes):
        raise InvalidRequest(
            f"filter {text!r:.80} is {type(text).__name__}",
            hint="give a filter of webtable.filters, or text of the filter language",
        )
    return _Parser(source).parse()


class _Parser:
    """One text being read; `_at` is how far."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._at = 0
        self._depth = 0

    def parse(self) -> f.Filter:
        found = self._any()
        self._skip(_BLANKS)
        if self._at < len(self._source):
            if self._source[self._at : self._at + 1] == b")":
                self._fail("a parenthesis that was never opened", hint="remove it")
            self._fail_after_filter()
        return found

    def _any(self) -> f.Filter:
        return self._run(b"OR", lambda: self._run(b"AND", self._one))

    def _run(self, operator: bytes, part: Callable[[], f.Filter]) -> f.Filter:
        parts = [part()]
        while self._take_operator(operator):
            parts.append(part())
        if len(parts) == 1:
            return parts[0]
        return f.FilterList(tuple(parts), "one" if operator == b"OR" else "all")

    def _one(self) -> f.Filter:
        self._depth += 1
        if self._depth > f.MAX_DEPTH:
            self._fail(f"filters are nested more than {f.MAX_DEPTH} deep", hint="flatten them")
        self._skip(_BLANKS)
        found: f.Filter
        if self._take_operator(b"SKIP"):
            found = f.SkipFilter(self._one())
        elif self._take_operator(b"WHILE"):
            found = f.WhileMatchFilter(self._one())
        elif self._source.startswith(b"(", self._at):
            opened = self._at
            self._at += 1
            found = self._any()
            self._skip(_BLANKS)
            if not self._source.startswith(b")", self._at):
                if self._at == len(self._source):
                    self._at = opened
                    self._fail("a parenthesis that is never closed", hint="add ) at its end")
                self._fail_after_filter()
            self._at += 1
        else:
            found = self._simple()
        self._depth -= 1
        return found

    def _simple(self) -> f.Filter:
        start = self._at
        name = self._name()
        form = FORMS[name]
        self._skip(_BLANKS)
        if not self._source.startswith(b"(", self._at):
            self._fail(f"no arguments after {name}", hint=f"write {usage(name)}")
        self._at += 1
        arguments = self._arguments(name)
        count = len(arguments)
        if not form.repeats and count not in form.allowed:
            self._at = start
            self._fail(f"{name} has {count} arguments", hint=f"write {usage(name)}")
        names = form.arguments * count if form.repeats else form.arguments
        values = [
            self._value(name, argument, at, quoted, given)
            for argument, (at, quoted, given) in zip(names, arguments, strict=False)
        ]
        try:
            return make_filter(form, values)
        except InvalidRequest as exc:
            self._at = start
            self._fail(exc.message, hint=exc.hint)

    def _name(self) -> str:
        word = _WORD.match(self._source, self._at)
        if word is None:
            if self._at == len(self._source):
                self._fail("a filter is missing at the end", hint="write one, as PageFilter(5)")
            self._fail(
                f"{self._next_word()!r} where a filter is expected",
                hint="write one, as PrefixFilter('a')",
            )
        name = as_text(word[0])
        if name not in FORMS:
            self._fail(f"filter {name!r:.80} is not valid", hint=_name_hint(name))
        self._at = word.end()
        return name

    def _arguments(self, name: str) -> list[tuple[int, bool, bytes]]:
        """Returns position, whether it was quoted, and bytes of each argument."""
        arguments: list[tuple[int, bool, bytes]] = []
        while True:
            at = self._skip(_SEPARATORS)
            if self._source.startswith(b")", at):
                self._at += 1
                return arguments
            quoted = _QUOTED.match(self._source, at)
            bare = None if quoted else _WORD.match(self._source, at)
            if quoted:
                arguments.append((at, True, quoted[1].replace(b"''", b"'")))
                self._at = quoted.end()
            elif bare:
                arguments.append((at, False, bare[0]))
                self._at = bare.end()
            elif self._source.startswith(b"'", at):
                self._fail("a quote that is never closed", hint="inside quotes write '' for one")
            elif at == len(self._source):
                self._fail(f"the arguments of {name} do not end", hint="add ) after them")
            else:
                self._fail(f"{self._next_word()!r} among arguments", hint=f"write {usage(name)}")
            if not _AFTER_ARGUMENT.match(self._source, self._at):
                self._fail("arguments that touch", hint="put a comma between arguments")

    def _value(self, name: str, argument: str, at: int, quoted: bool, given: bytes) -> Any:
        def fail(problem: str, hint: str) -> NoReturn:
            self._at = at
            self._fail(f"{argument} {as_text(given)!r:.80} of {name} {problem}", hint=hint)

        if argument in NUMBER_ARGUMENTS:
            if quoted or not _NUMBER.fullmatch(given):
                fail("is not a whole number", "write it without quotes, as 5")
            return int(given)
        if argument in FLAG_ARGUMENTS:
            if quoted or given.lower() not in {b"true", b"false"}:
                fail("is neither true nor false", "write true or false without quotes")
            return given.lower() == b"true"
        if argument == "op":
            op = as_text(given)
            if quoted or op not in _OPS:
                fail("is not a comparison", f"one of {'  '.join(_OPS)} without quotes")
            return op
        if not quoted:
            fail("is not in quotes", f"write '{as_text(given)}'")
        if argument == "comparator":
            kind, colon, value = given.partition(b":")
            if not colon or kind not in COMPARATORS:
                kinds = ", ".join(as_text(each) for each in COMPARATORS)
                fail("is not a comparator", f"write 'binary:VALUE'; kinds are {kinds}")
            return COMPARATORS[kind](value)
        return given

    def _take_operator(self, operator: bytes) -> bool:
        self._skip(_BLANKS)
        end = self._at + len(operator)
        if not self._source.startswith(operator, self._at):
            return False
        if not _END.match(self._source, end):
            return False
        self._at = end
        return True

    def _skip(self, pattern: re.Pattern[bytes]) -> int:
        found = pattern.match(self._source, self._at)
        assert found is not None
        self._at = found.end()
        return self._at

    def _next_word(self) -> str:
        word = _WORD.match(self._source, self._at)
        return as_text(word[0] if word else self._source[self._at : self._at + 1])[:40]

    def _fail_after_filter(self) -> NoReturn:
        word = self._next_word()
        is_operator = word.upper() in _OPERATORS
        self._fail(
            f"{word!r} after a filter",
            hint=_name_hint(word) if is_operator else "join filters by AND or OR",
        )

    def _fail(self, problem: str, *, hint: str) -> NoReturn:
        position = len(as_text(self._source[: self._at]))
        raise InvalidRequest(f"filter text, position {position}: {problem}", hint=hint)


def _name_hint(name: str) -> str:
    if name.upper() in _OPERATORS:
        if name.isupper():
            return "AND and OR stand between two filters, SKIP and WHILE before one"
        return f"operators are in capital letters: {name.upper()}"
    if name in _API_ONLY:
        return f"it has no text form; make a webtable.filters.{name}"
    close = difflib.get_close_matches(name, FORMS, n=1)
    names = ", ".join(FORMS)
    return f"did you mean {close[0]}?" if close else f"known filters: {names}"
