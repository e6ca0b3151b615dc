"""Diffs of lines: `difflib`'s for ordinary texts, and steps that grow with the text alone."""

from __future__ import annotations

import difflib
import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.pages.asking.line_diff import diff_lines

SMALL = 1_000
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "", "<p>"]), max_size=30)
Text = list[str]


def apply(lines: Text, old: Text) -> Text:
    """Applies a unified diff as `patch` does; every line of it that is in `old` must fit."""
    new: Text = []
    at = 0
    for line in lines:
        if line.startswith("@@"):
            first, _, count = line.split()[1][1:].partition(",")
            start = int(first) - (count != "0")
            new += old[at:start]
            at = start
            continue
        if line[0] in " -":
            assert old[at] == line[1:]
            at += 1
        if line[0] in " +":
            new.append(line[1:])
    return new + old[at:]


@given(TEXTS, TEXTS)
def test_ordinary_texts_have_the_diff_of_difflib(old: Text, new: Text) -> None:
    expected = list(difflib.unified_diff(old, new, lineterm="", n=2))
    assert diff_lines(old, new) == (expected[2:], 0)


@given(TEXTS, TEXTS, st.integers(0, 200))
def test_a_diff_with_few_steps_gives_the_new_text(old: Text, new: Text, steps: int) -> None:
    lines, coarse = diff_lines(old, new, steps)
    assert apply(lines, old) == new
    assert coarse <= len(old) + len(new)


def test_lines_changed_here_and_there_are_found_without_the_steps_for_it() -> None:
    old = [f"line {n}" for n in range(3_000)]
    new = [f"{line}, changed" if n % 2 else line for n, line in enumerate(old)]
    found = diff_lines(old, new, 10_000)
    assert found.coarse == 0
    assert sum(line[0] == "-" for line in found.lines) == 1_500
    assert apply(found.lines, old) == new


def test_what_is_replaced_whole_is_counted_and_small_gaps_go_first() -> None:
    draw = random.Random(7)
    words = [f"word {n}" for n in range(150)] * 2
    gap = [draw.sample(words, len(words)) for _ in range(2)]
    old = [*gap[0], "one", "same", "a", "x", "x", "two"]
    new = [*gap[1], "one", "same", "x", "x", "b", "two"]
    found = diff_lines(old, new, 1_000)
    assert found.coarse == 600
    assert found.lines[-6:] == [" same", "-a", " x", " x", "+b", " two"]
    assert apply(found.lines, old) == new


def named(name: str, size: int) -> Text:
    return [f"{name} {n}" for n in range(size)]


def alternating(size: int) -> tuple[Text, Text]:
    old = named("line", size)
    return old, [f"{line}, changed" if n % 2 else line for n, line in enumerate(old)]


def shuffled(size: int, distinct: int) -> tuple[Text, Text]:
    draw = random.Random(7)
    old, new = ([f"line {draw.randrange(distinct)}" for _ in range(size)] for _ in range(2))
    return old, new


TEXT_PAIRS: dict[str, Callable[[int], tuple[Text, Text]]] = {
    "every second line": alternating,
    "backwards": lambda n: (named("x", n), named("x", n)[::-1]),
    "each line twice": lambda n: ([str(each // 2) for each in range(n)],
                                  [str(each % (n // 2)) for each in range(n)]),
    "many of each line": lambda n: shuffled(n, 150),
    "two lines": lambda n: shuffled(n, 2),
    "nothing in common": lambda n: (named("x", n), named("y", n)),
    "small gaps": lambda n: ([f"{each // 3} {each % 3 > 0}" for each in range(n)],
                             [f"{each // 3} {each % 3 > 1}" for each in range(n)]),
    "one line more": lambda n: (["x"] * n, ["x"] * (n + 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXT_PAIRS)
def test_four_times_the_lines_take_about_four_times_the_steps(name: str) -> None:
    counts = []
    for size in (SMALL, 4 * SMALL):
        old, new = TEXT_PAIRS[name](size)
        lines = 0

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal lines
            lines += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            found = diff_lines(old, new, 5_000)
        finally:
            sys.settrace(before)
        assert apply(found.lines, old) == new
        counts.append(lines)
    small, large = counts
    assert large < 5.5 * small + 20_000, f"{small:,} steps, then {large:,}"
