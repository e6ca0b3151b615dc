"""A unified diff of two lists of lines, in time that grows with their length and no faster.

`difflib` makes the diff where it needs few steps, as for nearly every page. It reads all lines
again for each block that it finds, so it would take hours for a long page with a change in every
second line. For such a page, the lines that both texts have exactly once are found first and
aligned (a "patience" diff); `difflib` compares the gaps between them, the smallest gaps first. When
the steps are used up, each remaining gap is shown as replaced whole.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

__all__ = ["MAX_STEPS", "LineDiff", "diff_lines"]

MAX_STEPS = 10_000_000
"""The steps of `difflib` for a diff; about a second. A step compares two lines, or passes one."""

_CONTEXT = 2


class LineDiff(NamedTuple):
    """A unified diff without its two header lines; no lines where the texts are equal.

    `coarse` is the number of lines, old and new, that were not compared with each other because
    that would have taken too many steps: they are shown as replaced whole.
    """

    lines: list[str]
    coarse: int


class _Gap(NamedTuple):
    """Lines `old_start` to `old_stop` of one text beside `new_start` to `new_stop` of the other."""

    old_start: int
    old_stop: int
    new_start: int
    new_stop: int

    @property
    def size(self) -> int:
        return self.old_stop - self.old_start + self.new_stop - self.new_start


def diff_lines(old: list[str], new: list[str], max_steps: int = MAX_STEPS) -> LineDiff:
    """Returns the diff of two texts, with two lines of context around each change.

    Where `difflib` needs at most `max_steps` steps, it is the diff of `difflib.unified_diff`.
    Otherwise it is another one, which turns one text into the other all the same.
    """
    if old == new:
        return LineDiff([], 0)
    # Numbers in place of lines: comparing two of them does not take longer for a longer line.
    numbers: dict[str, int] = {}
    was, now = ([numbers.setdefault(line, len(numbers)) for line in text] for text in (old, new))
    coarse = 0
    try:
        blocks = _Matcher(was, now, max_steps).get_matching_blocks()
    except _TooManySteps:
        blocks, coarse = _patience_blocks(was, now, max_steps)
    return LineDiff(list(_unified(old, new, blocks)), coarse)


class _TooManySteps(Exception):
    pass


class _Matcher(difflib.SequenceMatcher[int]):
    """`difflib`'s matcher, which counts its steps and raises an error at the limit."""

    b2j: dict[int, list[int]]  # Public in difflib: where each line of the new text is.

    def __init__(self, old: Sequence[int], new: Sequence[int], max_steps: int) -> None:
        if max_steps < 0:
            raise _TooManySteps
        super().__init__(None, old, new)
        self.steps_left = max_steps
        # The steps for the first n lines of `old`: one a line, and one for each equal line of
        # `new`. So the steps of a search are known before it begins.
        places = self.b2j
        self._steps = list(accumulate((1 + len(places.get(x, ())) for x in old), initial=0))

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        self.steps_left -= 1 + self._steps[-1 if ahi is None else ahi] - self._steps[alo]
        if self.steps_left < 0:
            raise _TooManySteps
        return super().find_longest_match(alo, ahi, blo, bhi)


class _KnownBlocks(difflib.SequenceMatcher[int]):
    """Makes `difflib`'s groups of changes from blocks of equal lines that are known already."""

    def __init__(self, blocks: list[difflib.Match]) -> None:
        super().__init__(None, (), ())
        self._blocks = blocks

    def get_matching_blocks(self) -> list[difflib.Match]:
        return self._blocks


def _patience_blocks(
    old: list[int], new: list[int], max_steps: int
) -> tuple[list[difflib.Match], int]:
    """Returns blocks of equal lines in order, and the number of lines that were not compared."""
    found: list[tuple[int, int, int]] = []
    coarse = 0
    for gap in sorted(_gaps(old, new, found), key=lambda gap: gap.size):
        was, now = old[gap.old_start : gap.old_stop], new[gap.new_start : gap.new_stop]
        if set(was).isdisjoint(now):
            continue
        max_steps -= gap.size
        try:
            matcher = _Matcher(was, now, max_steps)
            blocks = matcher.get_matching_blocks()
        except _TooManySteps:
            max_steps = 0
            coarse += gap.size
            continue
        max_steps = matcher.steps_left
        found += [(gap.old_start + i, gap.new_start + j, size) for i, j, size in blocks if size]
    return _joined(found, len(old), len(new)), coarse


def _gaps(old: list[int], new: list[int], found: list[tuple[int, int, int]]) -> list[_Gap]:
    """Returns what is between lines that are certainly equal, and adds those to `found`."""
    whole = _trimmed(old, new, _Gap(0, len(old), 0, len(new)), found)
    gaps: list[_Gap] = []
    old_start, new_start = whole.old_start, whole.new_start
    for old_line, new_line in _anchors(old, new, whole):
        found.append((old_line, new_line, 1))
        gaps.append(_Gap(old_start, old_line, new_start, new_line))
        old_start, new_start = old_line + 1, new_line + 1
    gaps.append(_Gap(old_start, whole.old_stop, new_start, whole.new_stop))
    return [_trimmed(old, new, gap, found) for gap in gaps]


def _trimmed(old: list[int], new: list[int], gap: _Gap, found: list[tuple[int, int, int]]) -> _Gap:
    """Takes equal lines off both ends of a gap, and adds them to `found`."""
    old_start, old_stop, new_start, new_stop = gap
    while old_start < old_stop and new_start < new_stop and old[old_start] == new[new_start]:
        old_start += 1
        new_start += 1
    while old_start < old_stop and new_start < new_stop and old[old_stop - 1] == new[new_stop - 1]:
        old_stop -= 1
        new_stop -= 1
    if old_start > gap.old_start:
        found.append((gap.old_start, gap.new_start, old_start - gap.old_start))
    if old_stop < gap.old_stop:
        found.append((old_stop, new_stop, gap.old_stop - old_stop))
    return _Gap(old_start, old_stop, new_start, new_stop)


def _anchors(old: list[int], new: list[int], gap: _Gap) -> list[tuple[int, int]]:
    """Returns lines that both sides have once, as many as are in the same order in both."""
    was, now = old[gap.old_start : gap.old_stop], new[gap.new_start : gap.new_stop]
    once = {line for line, count in Counter(now).items() if count == 1}
    once &= {line for line, count in Counter(was).items() if count == 1}
    places = {line: at for at, line in enumerate(now, gap.new_start) if line in once}
    pairs = [(at, places[line]) for at, line in enumerate(was, gap.old_start) if line in once]
    # The longest increasing subsequence: `ends` has, for each length, the pair with the smallest
    # place that a sequence of that length ends with.
    ends: list[int] = []
    at_end: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(at_end[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            at_end.append(number)
        else:
            ends[length], at_end[length] = place, number
    chain: list[tuple[int, int]] = []
    number = at_end[-1] if at_end else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _joined(
    found: list[tuple[int, int, int]], old_length: int, new_length: int
) -> list[difflib.Match]:
    """Returns blocks in order, those that touch made one, with the empty one at the end."""
    blocks: list[difflib.Match] = []
    for i, j, size in sorted(found):
        if blocks and blocks[-1].a + blocks[-1].size == i and blocks[-1].b + blocks[-1].size == j:
            first = blocks.pop()
            i, j, size = first.a, first.b, first.size + size
        blocks.append(difflib.Match(i, j, size))
    blocks.append(difflib.Match(old_length, new_length, 0))
    return blocks


def _unified(old: list[str], new: list[str], blocks: list[difflib.Match]) -> Iterator[str]:
    for group in _KnownBlocks(blocks).get_grouped_opcodes(_CONTEXT):
        _, old_start, _, new_start, _ = group[0]
        _, _, old_stop, _, new_stop = group[-1]
        yield f"@@ -{_range(old_start, old_stop)} +{_range(new_start, new_stop)} @@"
        for tag, i, i_stop, j, j_stop in group:
            if tag == "equal":
                yield from (" " + line for line in old[i:i_stop])
                continue
            yield from ("-" + line for line in old[i:i_stop])
            yield from ("+" + line for line in new[j:j_stop])


def _range(start: int, stop: int) -> str:
    """Returns lines as the head of a hunk names them: the first and how many, from 1 on."""
    if stop - start == 1:
        return str(start + 1)
    return f"{start + 1 if stop > start else start},{stop - start}"
