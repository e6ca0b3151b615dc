"""A search without backtracking: all ways to match are followed at once, character by character.

The states of the automaton are sets of places in the pattern. They are made when a text first
needs them and cached, so that most characters take one lookup in a dict. The cache is limited, and
so are the steps of a search: a text that needs ever new states is given up with `TooManySteps`.

It reports only whether something is found. For that it does not matter which of several ways a
backtracking search would take, so greedy and lazy repetitions are the same here. Look-around, back
references, atomic groups and possessive repetitions have no such automaton.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from webtable.store.regex.translation import END

__all__ = ["MOST_STEPS", "Automaton", "NoAutomaton", "TooManySteps"]

MOST_STEPS = 1_000_000
MOST_PLACES = 5_000
_MOST_CACHED = 200_000
_MOST_REPEATS = 1 << 16

_FOUND = -1
_IS_FOUND = frozenset((_FOUND,))

Test: TypeAlias = Callable[[str], bool]
_java_end = re.compile(END).match
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_CATEGORIES: dict[str, Test] = {
    "CATEGORY_DIGIT": lambda c: "0" <= c <= "9",
    "CATEGORY_NOT_DIGIT": lambda c: not "0" <= c <= "9",
    "CATEGORY_SPACE": lambda c: c in " \t\n\r\f\v",
    "CATEGORY_NOT_SPACE": lambda c: c not in " \t\n\r\f\v",
    "CATEGORY_WORD": lambda c: c in _WORD,
    "CATEGORY_NOT_WORD": lambda c: c not in _WORD,
}


class NoAutomaton(Exception):
    """A pattern has a part that no automaton can follow, or is too large for one."""


class TooManySteps(Exception):
    """A search took more than `MOST_STEPS`."""


class _Found(Exception):
    """The search has ended; raised, as a test for it would cost time at each character."""


class _Place(NamedTuple):
    """A place in the pattern, and what may come there.

    A character that passes `test`, or a condition of the position `at`, or neither; then the places
    `following`. Without any of them the pattern is found.
    """

    following: tuple[int, ...]
    test: Test | None = None
    at: str = ""


class _Position(NamedTuple):
    """The characters around a position; None at the beginning or the end of the text."""

    before: str | None
    after: str | None
    is_java_end: bool = False


class _State(dict[str, "_State"]):
    """The places that a text may be at, and by the next character the state after it."""

    def __init__(self, automaton: Automaton, places: frozenset[int], before: str | None) -> None:
        super().__init__()
        self.automaton = automaton
        self.places = places
        self.before = before

    def __missing__(self, character: str) -> _State:
        if _FOUND in self.places:
            raise _Found
        following = self.automaton.step(self.places, _Position(self.before, character))
        self[character] = state = self.automaton.state(following, character)
        self.automaton.cached += 1
        return state


class Automaton:
    """Searches texts for one pattern. Safe to use from many threads, which wait for one another.

    Attributes:
        steps: how many the last search took, without those cached from earlier ones.
        cached: how many states and transitions are cached.
    """

    def __init__(self, tree: Any, *, ignore_case: bool) -> None:
        """Makes it from a parsed pattern of Python, in which `$` has Java's meaning.

        Raises:
            NoAutomaton: the pattern cannot have one.
        """
        self._places: list[_Place] = [_Place(())]
        self._start = self._sequence(tree, 0, ignore_case)
        self._states: dict[tuple[frozenset[int], str | None], _State] = {}
        self.cached = 0
        self.steps = 0
        self._lock = threading.Lock()

    def finds(self, text: str) -> bool:
        """Returns whether the pattern matches a part of the text.

        Raises:
            TooManySteps: that takes too long to find out.
        """
        with self._lock:
            self.steps = 0
            self._forget_many()
            try:
                return self._find(text)
            except _Found:
                return True

    def _find(self, text: str) -> bool:
        # Conditions of the end can be met at the last three positions only.
        last = max(len(text) - 2, 0)
        state = self.state(frozenset((self._start,)), None)
        for character in text[:last]:
            state = state[character]
        places = state.places
        for at in range(last, len(text) + 1):
            before = text[at - 1] if at else None
            after = text[at] if at < len(text) else None
            if _FOUND in places:
                return True
            places = self.step(places, _Position(before, after, _java_end(text, at) is not None))
        return _FOUND in places

    def state(self, places: frozenset[int], before: str | None) -> _State:
        """Returns the state for these places after a character."""
        kind = before if before is None else "w" if before in _WORD else " "
        state = self._states.get((places, kind))
        if state is None:
            self.cached += len(places)
            self._forget_many()
            state = self._states[places, kind] = _State(self, places, kind)
        return state

    def _forget_many(self) -> None:
        if self.cached > _MOST_CACHED:
            self._states.clear()
            self.cached = 0

    def step(self, places: frozenset[int], position: _Position) -> frozenset[int]:
        """Returns the places after the next character, and the start, which is a place anywhere.

        Where the pattern ends, the only place after it is `_FOUND`.

        Raises:
            TooManySteps: there were too many in this search.
        """
        following = {self._start}
        character = position.after
        waiting, seen = list(places), set(places)
        while waiting:
            place = self._places[waiting.pop()]
            if place.test is not None:
                if character is not None and place.test(character):
                    following.update(place.following)
                continue
            if not place.following:
                return _IS_FOUND
            if not place.at or _holds(place.at, position):
                new = [each for each in place.following if each not in seen]
                seen.update(new)
                waiting += new
        self.steps += len(seen)
        if self.steps > MOST_STEPS:
            raise TooManySteps
        return frozenset(following)

    def _add(self, place: _Place) -> int:
        if len(self._places) >= MOST_PLACES:
            raise NoAutomaton
        self._places.append(place)
        return len(self._places) - 1

    def _sequence(self, items: Iterable[tuple[Any, Any]], after: int, ignore_case: bool) -> int:
        """Adds the places of parts that follow one another; returns the first."""
        for operation, arguments in reversed(list(items)):
            after = self._part(str(operation), arguments, after, ignore_case)
        return after

    def _part(self, operation: str, arguments: Any, after: int, ignore_case: bool) -> int:
        match operation:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                test = _test(operation, arguments, ignore_case)
                return self._add(_Place((after,), test))
            case "AT":
                return self._add(_Place((after,), at=str(arguments)))
            case "SUBPATTERN":
                _, added, removed, part = arguments
                ignore_case = bool(ignore_case or added & re.IGNORECASE)
                return self._sequence(part, after, ignore_case and not removed & re.IGNORECASE)
            case "BRANCH":
                branches = [self._sequence(each, after, ignore_case) for each in arguments[1]]
                return self._add(_Place(tuple(branches)))
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeated(arguments, after, ignore_case)
            case _:
                raise NoAutomaton

    def _repeated(self, arguments: Any, after: int, ignore_case: bool) -> int:
        least, most, part = int(arguments[0]), arguments[1], arguments[2]
        if least > _MOST_REPEATS:
            raise NoAutomaton
        if str(most) == "MAXREPEAT":
            loop = self._add(_Place((after,)))
            body = self._sequence(part, loop, ignore_case)
            self._places[loop] = _Place((body, after))
            after = loop
        elif int(most) > _MOST_REPEATS:
            raise NoAutomaton
        else:
            end = after
            for _ in range(int(most) - least):
                body = self._sequence(part, after, ignore_case)
                after = self._add(_Place((body, end)))
        for _ in range(least):
            end = after
            after = self._sequence(part, end, ignore_case)
            if after == end:
                break  # the part is empty
        return after


def _holds(condition: str, position: _Position) -> bool:
    match condition:
        case "AT_BEGINNING" | "AT_BEGINNING_STRING":
            return position.before is None
        case "AT_END":
            return position.is_java_end
        case "AT_END_STRING":
            return position.after is None
        case _:
            is_border = (position.before in _WORD) != (position.after in _WORD)
            return is_border == (condition == "AT_BOUNDARY")


def _test(operation: str, arguments: Any, ignore_case: bool) -> Test:
    """Returns a function that decides whether a part matches a character."""
    if operation == "ANY":
        return lambda character: True
    is_negated = operation == "NOT_LITERAL"
    if operation != "IN":
        items = [("LITERAL", arguments)]
    else:
        items = [(str(name), value) for name, value in arguments]
    if items and items[0][0] == "NEGATE":
        is_negated, items = True, items[1:]
    single = {chr(value) for name, value in items if name == "LITERAL"}
    ranges = [(chr(value[0]), chr(value[1])) for name, value in items if name == "RANGE"]
    categories = [_CATEGORIES[str(value)] for name, value in items if name == "CATEGORY"]

    if not (ranges or categories or ignore_case or is_negated):
        return single.__contains__

    def has(character: str) -> bool:
        return (
            character in single
            or any(first <= character <= last for first, last in ranges)
            or any(test(character) for test in categories)
        )

    def test(character: str) -> bool:
        is_in = has(character)
        if not is_in and ignore_case and character.isascii():
            is_in = has(character.swapcase())
        return is_in != is_negated

    return test
