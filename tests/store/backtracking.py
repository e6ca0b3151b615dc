"""A backtracking matcher that counts its steps, to compare a bound of them with."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Rest = Callable[[int], bool]


class Backtracking:
    """Searches one text as Python does, without any of its short cuts.

    Attributes:
        steps: the parts that were tried.
    """

    def __init__(self, tree: Any, text: str) -> None:
        self._tree = list(tree)
        self._text = text
        self.steps = 0

    def finds(self) -> bool:
        return any(
            self._sequence(self._tree, start, lambda at: True)
            for start in range(len(self._text) + 1)
        )

    def _sequence(self, items: list[tuple[Any, Any]], at: int, rest: Rest) -> bool:
        if not items:
            return rest(at)
        self.steps += 1
        (operation, arguments), following = items[0], items[1:]
        return self._part(
            str(operation), arguments, at, lambda end: self._sequence(following, end, rest)
        )

    def _part(self, operation: str, arguments: Any, at: int, rest: Rest) -> bool:
        match operation:
            case "LITERAL":
                return self._text[at : at + 1] == chr(arguments) and rest(at + 1)
            case "ANY":
                return at < len(self._text) and rest(at + 1)
            case "AT":
                name = str(arguments)
                return at == (0 if "BEGINNING" in name else len(self._text)) and rest(at)
            case "SUBPATTERN":
                return self._sequence(list(arguments[-1]), at, rest)
            case "BRANCH":
                return any(self._sequence(list(each), at, rest) for each in arguments[1])
            case "ASSERT":
                return self._sequence(list(arguments[1]), at, lambda end: True) and rest(at)
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, part = arguments
                is_greedy = operation == "MAX_REPEAT"
                return self._repeated(list(part), (int(least), int(most), is_greedy), at, rest)
            case _:
                raise AssertionError(operation)

    def _repeated(
        self, part: list[tuple[Any, Any]], form: tuple[int, int, bool], at: int, rest: Rest
    ) -> bool:
        least, most, is_greedy = form

        def again(count: int, start: int, previous: int) -> bool:
            self.steps += 1

            def more() -> bool:
                if count >= most or (count > least and start == previous):
                    return False
                return self._sequence(part, start, lambda end: again(count + 1, end, start))

            if count < least:
                return more()
            if is_greedy:
                return more() or rest(start)
            return rest(start) or more()

        return again(0, at, -1)


def parsed(pattern: str) -> Any:
    """Returns the structure of a pattern of Python."""
    from webtable.store.regex.search import _parse

    return _parse(pattern, re.DOTALL | re.ASCII)
