"""Lists of items that grow from a size, up to a bound."""

from __future__ import annotations

from webtable.links.batching import growing_batches


def test_batches_grow_up_to_a_bound() -> None:
    sizes = [len(batch) for batch in growing_batches(range(600), 21)]
    assert sizes == [21, 42, 84, 128, 128, 128, 69]
    assert [len(batch) for batch in growing_batches(range(600), 500)] == [500, 100]
