"""Counting different texts."""

from __future__ import annotations

import random
import tracemalloc

from webtable.pages.loading.distinct_count import Distinct


def test_it_counts_as_a_set_does() -> None:
    chance, counted, known = random.Random(5), Distinct(), set()
    for _ in range(30_000):
        text = f"https://example.com/{chance.randrange(20_000)}"
        counted.add(text)
        known.add(text)
        if chance.random() < 0.01:
            assert len(counted) == len(known)
    assert len(counted) == len(known)


def test_it_takes_little_memory() -> None:
    counted = Distinct()
    tracemalloc.start()
    for number in range(150_000):
        counted.add(str(number))
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(counted) == 150_000
    # A set of the hashes takes 80 bytes each; here those that are not merged yet take as much.
    assert taken < 45 * 150_000
