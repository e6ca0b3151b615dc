"""Completes revisits that wait for bodies which are stored under other URLs.

A writer that stores a body completes the revisits that wait for it. Some stay behind: those of
stores of earlier formats, those whose body was not that of the newest capture of a page, and those
whose writer died on a cluster. `verify --repair` looks for their bodies in the digest index, and
then in all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from webtable.pages.columns import BODY_OF
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import decode_body_of
from webtable.pages.storing.waiting_revisits import WaitingRevisits
from webtable.store.scan import ALL_VERSIONS, Scan

__all__ = ["complete_waiting"]

_MOST_DIGESTS = 100_000


def complete_waiting(pages: PageTable) -> Iterator[tuple[bytes, str, str]]:
    """Completes revisits; yields the row, the URL and the digest of each.

    Of very many digests, the first 100,000 are looked for in all rows; the next run does the rest.
    """
    waiting = WaitingRevisits(pages.rows)
    yield from _complete(pages, waiting, {})
    if digests := waiting.digests(_MOST_DIGESTS):
        known: dict[str, bytes] = {}
        for row in pages.rows.table.scan(Scan(columns=(BODY_OF,), versions=ALL_VERSIONS)):
            for _, _, value, _ in row.raw_cells:
                if (digest := decode_body_of(value).digest) in digests:
                    known[digest] = row.key
        if known:
            yield from _complete(pages, waiting, known)


def _complete(
    pages: PageTable, waiting: WaitingRevisits, known: Mapping[str, bytes]
) -> Iterator[tuple[bytes, str, str]]:
    for revisits in waiting.all():
        for each in pages.complete_revisits(revisits, known):
            yield pages.keys.row_key(each.url), each.url, each.note.digest
