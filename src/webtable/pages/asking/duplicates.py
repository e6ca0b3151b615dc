"""Groups of pages with the same body, read from the index of digests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import msgspec

from webtable.errors import InvalidRequest
from webtable.index.indexed_table import Found, Hit
from webtable.pages.asking.paged_results import QueryCost, ResultPage, after_key, bounded
from webtable.pages.asking.pages_by_index import FEW, SiteRows
from webtable.pages.captures import payload_digest
from webtable.pages.indexes import DIGESTS, WAITING
from webtable.pages.page import Page, page_of
from webtable.pages.page_table import PageTable
from webtable.result_base import Value
from webtable.store.scan import Scan

__all__ = ["MOST_DUPLICATES", "Duplicates", "duplicates"]

MOST_DUPLICATES = 100
"""How many pages of each group are shown by default."""

_EMPTY_BODY = f"{payload_digest(b'')}_".encode()


class Duplicates(Value, msgspec.Struct):
    """Pages with the same body.

    Attributes:
        digest: of the body.
        pages: by row key; at most as many as requested.
        is_truncated: whether the group has more pages.
    """

    digest: str
    pages: list[Page]
    is_truncated: bool = False


def duplicates(
    pages: PageTable, *, domain: str, most: int, limit: int, after: str | None
) -> ResultPage[Duplicates]:
    """Returns the groups of pages that have the same body, which is not empty, by digest.

    Reads the index entries of these pages only.

    Args:
        domain: only groups with a page of this domain; all pages of such a group are shown.
        most: how many pages to show of each group.

    Raises:
        InvalidRequest: `most` is less than 1.
    """
    if most < 1:
        raise InvalidRequest(f"most {most} is less than 1", hint="give at least 1")
    cost = QueryCost(index=DIGESTS)
    site = SiteRows(pages, domain) if domain else None
    pieces = _marked_pieces(pages, after_key(after), limit + 1, most + 1, site)
    read: list[Found] = []

    def found() -> Iterator[tuple[str, Duplicates]]:
        for piece in pieces:
            # Every group of the piece is needed, so all of its rows are read at once.
            few = Scan(batch_rows=len(piece))
            read.append(pages.rows.check_hits(DIGESTS, piece, scan=few))
            yield from _duplicates(read[-1], most)

    results = bounded(found(), limit, cost)
    cost.entries = sum(checked.counts.entries for checked in read)
    cost.rows = sum(checked.counts.rows for checked in read)
    return results


def _marked_pieces(
    pages: PageTable, start: bytes, size: int, most: int, site: SiteRows | None
) -> Iterator[list[Hit]]:
    """Yields up to `most` entries of each of `size` marked groups at a time, behind a key."""
    # Some more at once: the mark of a group that has fallen apart stays until a repair.
    at_once = 2 * size
    found = pages.rows.marked(DIGESTS, start, few=at_once + 1)
    # Pages that wait for a body are behind all others.
    groups_of_pages = itertools.takewhile(lambda group: group < WAITING, found)
    marked = (group for group in groups_of_pages if group != _EMPTY_BODY)
    while groups := list(itertools.islice(marked, at_once)):
        streams = pages.rows.hits_of_prefixes(DIGESTS, groups, few=FEW)
        if site is not None:
            streams = _with_site(pages, groups, streams, site)
        each = (list(itertools.islice(stream, most)) for stream in streams)
        shared = (same for same in each if len(same) > 1)
        while piece := list(itertools.islice(shared, size)):
            yield list(itertools.chain.from_iterable(piece))


def _with_site(
    pages: PageTable, groups: Sequence[bytes], streams: Sequence[Iterator[Hit]], site: SiteRows
) -> list[Iterator[Hit]]:
    """Returns the entries of those groups that have an entry of a site."""
    first = [list(itertools.islice(stream, FEW)) for stream in streams]
    have = [any(site.may_have(hit.row) for hit in hits) for hits in first]
    # In a group with more entries, which may be too many to read, a scan looks for the site.
    longer = [n for n, hits in enumerate(first) if not have[n] and len(hits) >= FEW]
    # The entries of a group are in the order of row keys, so those of a site are in its ranges.
    scans = [
        Scan(start=groups[n] + low, stop=groups[n] + high, batch_rows=1)
        for n in longer
        for low, high in site.ranges
    ]
    found = iter(pages.rows.hits_of_many(DIGESTS, scans) if scans else ())
    for n in longer:
        of_group = list(itertools.islice(found, len(site.ranges)))
        have[n] = any(next(hits, None) is not None for hits in of_group)
    whole = (itertools.chain(*each) for each in zip(first, streams, strict=True))
    return list(itertools.compress(whole, have))


def _duplicates(checked: Found, most: int) -> Iterator[tuple[str, Duplicates]]:
    """Yields the groups among pages in the order of their digests, with cursors."""
    pages = (
        (hit.key.decode("latin-1"), page_of(hit.row, hit.found.values()))
        for hit in checked
        if hit.found is not None
    )
    known = ((key, page) for key, page in pages if page is not None and page.size)
    for digest, group in itertools.groupby(known, key=lambda pair: pair[1].digest):
        keys, same = zip(*group, strict=True)
        if len(same) > 1:
            yield keys[-1], Duplicates(digest, list(same[:most]), len(same) > most)
