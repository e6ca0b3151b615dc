"""What the number of links to a page changes, and where."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from webtable.links.updating.count_rules import (
    HERE,
    incount,
    inlink_columns,
    is_here,
    member_state,
)
from webtable.pages.columns import INLINK_COUNT, INLINKS, INLINKS_AT, URL

numbers = st.integers(0, 3)


@given(links=numbers, is_crawled=st.booleans())
def test_a_uri_is_here_while_it_is_crawled_or_linked_to(links: int, is_crawled: bool) -> None:
    here = is_crawled or links > 0
    assert is_here(links, is_crawled=is_crawled) == here
    assert member_state(links, is_crawled=is_crawled) == (b"+" if here else b"-")
    assert incount(links, is_crawled=is_crawled) == (str(links).encode() if here else None)
    assert HERE == b"+"


@st.composite
def page_rows(draw: st.DrawFn) -> dict[bytes, bytes]:
    """The own row of a page; it may be gone, and it may have no number yet."""
    row: dict[bytes, bytes] = {}
    if draw(st.booleans()):
        row[URL] = b"https://a.com/"
    if draw(st.booleans()):
        row |= {INLINKS: b"%d" % draw(numbers), INLINKS_AT: b"%d" % draw(numbers)}
    return row


@given(row=page_rows(), links=numbers, guard=st.integers(1, 4), is_alone=st.booleans())
def test_what_the_own_row_of_a_page_learns(
    row: dict[bytes, bytes], links: int, guard: int, is_alone: bool
) -> None:
    put = inlink_columns(row, links, guard, is_alone=is_alone)
    number = str(links).encode()
    is_newer = guard > int(row.get(INLINKS_AT, b"0"))
    is_same = row.get(INLINKS) == number
    if URL not in row or not is_newer or (is_alone and is_same):
        assert put is None
    else:
        assert put == {INLINKS: number, INLINK_COUNT: number, INLINKS_AT: str(guard).encode()}


@given(
    counts=st.lists(numbers, min_size=1, max_size=5),
    order=st.randoms(use_true_random=False),
)
def test_exporters_in_any_order_leave_the_last_count(
    counts: list[int], order: random.Random
) -> None:
    writes = list(enumerate(counts, 1))
    order.shuffle(writes)
    row = {URL: b"https://a.com/"}
    for guard, links in writes:
        row |= inlink_columns(row, links, guard, is_alone=False) or {}
    assert row[INLINKS] == str(counts[-1]).encode()
