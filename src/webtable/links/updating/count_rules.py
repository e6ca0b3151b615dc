"""The rules of exporting counts: which cells depend on the number of links to a page.

Pure functions. `embedded_counts.Counts` calls them for a whole batch before one commit,
`cluster_counts.Exporter` for one row of a cluster at a time. The cells are described in
`docs/explain/links.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from webtable.links import write_protocol_rules
from webtable.links.cell_encoding import GONE
from webtable.pages.columns import INLINK_COUNT, INLINKS, INLINKS_AT, URL

__all__ = ["HERE", "incount", "inlink_columns", "is_here", "member_state"]

HERE = b"+"
"""The state, in its domain, of a URI that is crawled or linked to."""


def is_here(links: int, *, is_crawled: bool) -> bool:
    """Whether a URI has a rank and belongs to its domain: it is crawled, or a page links to it."""
    return is_crawled or links > 0


def member_state(links: int, *, is_crawled: bool) -> bytes:
    """Returns the state of a URI in its domain."""
    return HERE if is_here(links, is_crawled=is_crawled) else GONE


def incount(links: int, *, is_crawled: bool) -> bytes | None:
    """Returns the value of `page:incount`; None if the row has neither this cell nor a rank."""
    return b"%d" % links if is_here(links, is_crawled=is_crawled) else None


def inlink_columns(
    stored: Mapping[bytes, bytes], links: int, guard: int, *, is_alone: bool
) -> dict[bytes, bytes] | None:
    """Returns the columns to put into the page's own row; None if nothing must be written.

    Nothing is written to a row without a page, or to a row whose number has a newer guard.

    Args:
        stored: `URL`, `INLINKS` and `INLINKS_AT` of the row; missing columns are left out.
        links: how many pages link here.
        guard: the revision of `p:<uri>` under which the links were counted.
        is_alone: whether no other process exports counts. Then a number that is stored already is
            not written again. With other exporters it is, because its guard must grow: an
            exporter that counted earlier and writes later must find a newer guard.
    """
    if URL not in stored or not write_protocol_rules.is_newer(
        guard, int(stored.get(INLINKS_AT) or 0)
    ):
        return None
    number = b"%d" % links
    if is_alone and stored.get(INLINKS) == number:
        return None
    return {INLINKS: number, INLINKS_AT: b"%d" % guard, INLINK_COUNT: number}
