"""An upper bound for the steps that a backtracking search takes, from the structure of a pattern.

Each part of a pattern has a number of ways to match from one place, and the work to try them all.
In a sequence the rest is tried once for each way of the part before it: ways multiply. A
repeated part with several ways has a power of them, which is unbounded if the repetition is. Both
numbers are bounded by `factor * length ** degree`, where length is that of the text, plus one.

The bound ignores what the parts match. `(ab|cd)*` counts as exponential, although it is not: such
patterns are searched by the automaton, which gives the same result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

__all__ = ["MOST_STEPS", "UNLIMITED", "longest_text", "search_steps"]

Tree: TypeAlias = Iterable[tuple[Any, Any]]
"""A parsed pattern of Python: pairs of an operation and its arguments."""

UNLIMITED = 1 << 62
MOST_STEPS = 5_000_000
"""What a backtracking search may take: a fraction of a second."""

MOST_STEPS_A_CHARACTER = 256
"""A search that takes no more than that for each character is quick enough for any text."""

_MOST_POWER = 32
_FEW = 1000  # repetitions that are counted one by one


class Bound(NamedTuple):
    """At most `factor * length ** degree`."""

    factor: float
    degree: int

    def __add__(self, other: Bound) -> Bound:  # type: ignore[override]
        return Bound(self.factor + other.factor, max(self.degree, other.degree))

    def __mul__(self, other: Bound) -> Bound:  # type: ignore[override]
        return Bound(self.factor * other.factor, self.degree + other.degree)


_ONE = Bound(1, 0)
_NONE = Bound(0, 0)
_LENGTH = Bound(1, 1)
_UNBOUNDED = Bound(math.inf, 0)


def longest_text(tree: Any) -> int:
    """Returns how many characters a text may have to be searched by backtracking.

    `UNLIMITED` means any number, -1 that no text is short enough.
    """
    steps = search_steps(tree)
    if not math.isfinite(steps.factor):
        return -1
    if steps.degree == 0 or (steps.degree == 1 and steps.factor <= MOST_STEPS_A_CHARACTER):
        return UNLIMITED if steps.factor <= MOST_STEPS else -1
    return int((MOST_STEPS / steps.factor) ** (1 / steps.degree)) - 1


def search_steps(tree: Any) -> Bound:
    """Returns a bound for the steps of a search in one text."""
    items: list[tuple[Any, Any]] = list(tree)
    starts = _LENGTH
    if items and str(items[0][0]) == "AT" and str(items[0][1]).startswith("AT_BEGINNING"):
        starts = _ONE  # at all other places the first step fails
    once = _NONE
    if items and str(items[-1][0]) in {"MAX_REPEAT", "MIN_REPEAT"}:
        # After the least number of repetitions the search has found something, and ends.
        name, (least, most, part) = items[-1]
        once = _times(int(least), int(most)) * _sequence(part)[1]
        items = [*items[:-1], (name, (least, least, part))]
    return _LENGTH + starts * _sequence(items)[1] + once


def _sequence(items: Tree) -> tuple[Bound, Bound]:
    """Returns the ways and the work of parts that follow one another."""
    ways, work = _ONE, _ONE
    for operation, arguments in items:
        each_ways, each_work = _part(str(operation), arguments)
        work += ways * each_work
        ways *= each_ways
    return ways, work


def _part(operation: str, arguments: Any) -> tuple[Bound, Bound]:
    match operation:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "AT":
            return _ONE, _ONE
        case "IN":
            return _ONE, Bound(len(arguments), 0)
        case "SUBPATTERN":
            return _sequence(arguments[-1])
        case "BRANCH":
            ways, work = _NONE, _ONE
            for branch in arguments[1]:
                each_ways, each_work = _sequence(branch)
                ways, work = ways + each_ways, work + each_work
            return ways, work
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return _repeated(operation, *arguments)
        case "ATOMIC_GROUP":
            return _ONE, _sequence(arguments)[1]
        case "ASSERT" | "ASSERT_NOT":
            return _ONE, _sequence(arguments[1])[1]
        case "GROUPREF":
            return _ONE, _LENGTH
        case _:
            return _UNBOUNDED, _UNBOUNDED


def _repeated(operation: str, least: int, most: int, part: Tree) -> tuple[Bound, Bound]:
    least, most = int(least), int(most)
    ways, work = _sequence(part)
    times = _times(least, most)
    if operation == "POSSESSIVE_REPEAT":
        return _ONE, times * work
    if ways == _ONE:
        different = most - least + 1
        return Bound(different, 0) if different <= _FEW else Bound(2, 1), times * work
    if most * max(ways.degree, 1) > _MOST_POWER:
        return _UNBOUNDED, _UNBOUNDED
    every = Bound(sum(ways.factor**count for count in range(most + 1)), ways.degree * most)
    return every, every * work


def _times(least: int, most: int) -> Bound:
    """Returns how often a part is repeated at most; an empty one only as often as it must be."""
    return Bound(most + 1, 0) if most <= _FEW else Bound(least + 1, 1)
