r"""Searching by regular expressions of Java, in a number of steps that is limited.

Python's own search is the quickest, but it backtracks: `(a+)+$` takes twice as long for each
further `a`. So the steps that it can take are bounded beforehand (`backtracking_cost`), and longer
texts than the bound allows are searched by an automaton. A pattern without automaton is rejected
there.

An expression such as `^com\..*/page.*\.html$` is searched piece by piece, between its `.*`: as a
piece is found as early as can be, the next may follow anywhere. That takes one pass over the text.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias

from webtable.errors import InvalidRequest
from webtable.store.regex import backtracking_cost
from webtable.store.regex.automaton import MOST_STEPS, Automaton, NoAutomaton, TooManySteps
from webtable.store.regex.translation import Piece, Translation, translate

__all__ = ["Search", "compile_regex"]

Search: TypeAlias = Callable[[str], object]
"""Searches a text; None means that nothing is found. That is what Python's own search returns, and
to turn it into a bool would cost a call for each value of a scan.

Raises:
    InvalidRequest: that would take too many steps.
"""

MOST_CHARACTERS = 100_000
_FLAGS = re.DOTALL | re.ASCII
# Python's own parser: what it reads is what its search does.
_parse: Callable[[str, int], Any] = import_module("re._parser").parse


@lru_cache(maxsize=256)
def compile_regex(pattern: str, ignore_case: bool = False, *, whole: bool = False) -> Search:
    """Returns a search that finds what Java's `find` does.

    Args:
        whole: only the whole text will do, as with Java's `matches`.

    Raises:
        InvalidRequest: it is not an expression, one that Java and Python read differently, or one
            that could take too many steps on any text.
    """
    if len(pattern) > MOST_CHARACTERS:
        raise InvalidRequest(
            f"regular expression {pattern[:40]!r}… has {len(pattern):,} characters",
            hint=f"at most {MOST_CHARACTERS:,}",
        )
    translation = translate(pattern)
    flags = _FLAGS | (re.IGNORECASE if ignore_case or translation.ignore_case else 0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Python warns of what it may read differently one day
            _compile(translation.whole, flags)
            if whole:
                translation = translation.of_whole_text()
            return _search_for(pattern, translation, flags)
    except (re.error, RecursionError, OverflowError, Warning) as exc:
        raise InvalidRequest(
            f"regular expression {pattern!r:.80} is not valid: {exc}",
            hint="mind that \\ begins an escape, and that look-behind has a fixed length here",
        ) from exc


def _compile(piece: Piece, flags: int) -> re.Pattern[str]:
    return re.compile(piece.pattern, flags)


def _search_for(pattern: str, translation: Translation, flags: int) -> Search:
    piece = translation.to_find()
    search = _compile(piece, flags).search
    tree = _parse(piece.structure, flags)
    longest = backtracking_cost.longest_text(tree)
    if longest == backtracking_cost.UNLIMITED:
        return search
    search_long = _by_pieces(translation.pieces, flags) or _by_automaton(pattern, tree, flags)
    if search_long is None and longest < 0:
        raise _too_costly(pattern, backtracking_cost.MOST_STEPS, "any value")

    def search_by_length(text: str) -> object:
        if len(text) <= longest:
            return search(text)
        if search_long is None:
            raise _too_costly(
                pattern, backtracking_cost.MOST_STEPS, f"a value of {len(text):,} characters"
            )
        return search_long(text)

    return search_by_length


def _by_pieces(pieces: tuple[Piece, ...], flags: int) -> Search | None:
    """Returns a search for one piece after the other, if each takes one pass over the text."""
    trees = [_parse(piece.structure, flags) for piece in pieces]
    # Of pieces with one width, the first that is found ends first.
    widths = [tree.getwidth() for tree in trees[:-1]]
    is_quick = all(
        backtracking_cost.longest_text(tree) == backtracking_cost.UNLIMITED for tree in trees
    )
    if not is_quick or any(least != most for least, most in widths):
        return None
    searches = [_compile(piece, flags).search for piece in pieces]

    def search_pieces(text: str) -> object:
        at = 0
        for search in searches:
            found = search(text, at)
            if found is None:
                return None
            at = found.end()
        return found

    return search_pieces


def _by_automaton(pattern: str, tree: Any, flags: int) -> Search | None:
    """Returns a search that does not backtrack, if the pattern has one."""
    try:
        automaton = Automaton(tree, ignore_case=bool(flags & re.IGNORECASE))
    except NoAutomaton:
        return None

    def search(text: str) -> object:
        try:
            return automaton.finds(text) or None
        except TooManySteps:
            value = f"a value of {len(text):,} characters"
            raise _too_costly(pattern, MOST_STEPS, value) from None

    return search


def _too_costly(pattern: str, steps: int, value: str) -> InvalidRequest:
    return InvalidRequest(
        f"regular expression {pattern!r:.80} could take more than {steps:,} steps on {value}",
        hint="write it without look-around, back references, atomic groups and possessive "
        "quantifiers, and without quantifiers of quantifiers",
    )
