"""Removes pages from a store: their rows, their index entries, and the links that they gave.

In an embedded store all of a batch is one commit. On a cluster each step is atomic in one row and
may be repeated, like the steps of a capture:

0. the tombstone's record with the links of the page, then an intent for the link index;
1. the row becomes a tombstone, by check-and-mutate; the index entries go;
2. the link index follows: the hook removes the states at the targets;
3. later, `webtable.pages.removing.purge` removes what is left.

A removal that is killed is finished by the next removal of the same page, or by an exporter of the
link index, which finds the intent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from webtable.pages.columns import URL
from webtable.pages.hooks import LinksChange
from webtable.pages.removing.row_removal import RemovedPage, RowRemoval, links_of_row
from webtable.pages.removing.targets import Target
from webtable.pages.removing.tombstones import Tombstone, Tombstones
from webtable.pages.schema import SETTINGS_TABLE, TABLE
from webtable.store.mutation import Write
from webtable.store.scan import Scan

if TYPE_CHECKING:
    from webtable.pages.hooks import PageHook
    from webtable.pages.page_table import PageTable

__all__ = ["Remover", "pages_of", "unfinished_of"]

_BATCH_ROWS = 100


def pages_of(pages: PageTable, target: Target) -> Iterator[tuple[bytes, str]]:
    """Yields the row key and URL of every stored page of a target, in the order of row keys."""
    belongs = target.matcher()
    for start, stop in target.ranges(pages.keys):
        for row in pages.rows.table.scan(Scan(start=start, stop=stop, columns=(URL,))):
            url = (row.value(URL) or b"").decode("utf-8", "replace")
            if url and belongs(url):
                yield row.key, url


def unfinished_of(pages: PageTable, target: Target) -> Iterator[tuple[bytes, str]]:
    """Yields the row key and URL of every removed page of a target that is not purged yet."""
    belongs = target.matcher()
    for tombstone in Tombstones(pages.store).scan():
        if belongs(tombstone.url):
            yield tombstone.row, tombstone.url


class Remover:
    """Removes pages, with the hook of their store."""

    def __init__(self, pages: PageTable, hook: PageHook | None) -> None:
        self._pages = pages
        self._hook = hook
        self._rows = pages.rows
        self._tombstones = Tombstones(pages.store)
        self._is_atomic = pages.store.capabilities.atomic_commits

    def remove(self, found: Iterable[tuple[bytes, str]]) -> Iterator[RemovedPage]:
        """Removes pages, given by row key and URL; yields each that was stored.

        Raises:
            RetryableError: the store failed; repeat the call.
        """
        remaining = iter(found)
        while batch := dict(islice(remaining, _BATCH_ROWS)):
            yield from self._commit(batch) if self._is_atomic else self._step_by_step(batch)

    def _commit(self, urls: dict[bytes, str]) -> list[RemovedPage]:
        removals = [RowRemoval(self._rows.table, row) for row in urls]
        now_ms = self._rows.clock.now_ms()

        def together() -> list[tuple[str, Write]]:
            # The hook counts links to blocked pages out only once: when they are blocked.
            self._pages.blocked.refresh()
            removed = [each.removed for each in removals if each.removed is not None]
            writes: list[tuple[str, Write]] = []
            for page in removed:
                tombstone = Tombstone(page.row, urls[page.row], now_ms, page.links)
                writes += self._tombstones.puts(tombstone)
            if self._hook is not None:
                writes += self._hook.together([_change(urls[p.row], p.links) for p in removed])
            return writes

        try:
            self._rows.write_many([(each.row, each) for each in removals], also=together)
        except BaseException:
            if self._hook is not None:
                self._hook.forget()
            raise
        found = [each.removed for each in removals if each.removed is not None]
        for page in found:
            # Without markers, the same captures can be stored again, where the URL is not blocked.
            self._pages.store.admin.purge_row(TABLE, page.row)
        return found

    def _step_by_step(self, urls: dict[bytes, str]) -> list[RemovedPage]:
        rows = list(urls)
        now_ms = self._rows.clock.now_ms()
        links: dict[bytes, frozenset[str]] = {}
        for row, earlier in zip(rows, self._tombstones.get_many(rows), strict=True):
            there = links_of_row(self._rows.table, row)
            links[row] = frozenset(there | (earlier.links if earlier is not None else set()))
        self._record([Tombstone(row, urls[row], now_ms, links[row]) for row in rows])

        def record_more(page: RemovedPage) -> None:
            """Adds the links of captures that were stored since, before the row changes."""
            if not page.links <= links[page.row]:
                links[page.row] |= page.links
                tombstone = Tombstone(page.row, urls[page.row], now_ms, links[page.row])
                self._record([tombstone])

        removals = [RowRemoval(self._rows.table, row) for row in rows]
        for each in removals:
            each.record = record_more
        begun = None if self._hook is None else self._hook.begin_removal(list(urls.values()))
        if begun is not None:
            for each in removals:
                each.guard = begun.check
        self._rows.write_many([(each.row, each) for each in removals])
        found = {each.row: each.removed for each in removals if each.removed is not None}
        if self._hook is not None and begun is not None:
            # Also of rows that were tombstones already: their removal may have been killed.
            self._hook.finish(begun, [_change(urls[row], links[row]) for row in rows])
        return list(found.values())

    def _record(self, tombstones: Sequence[Tombstone]) -> None:
        with self._pages.store.table(SETTINGS_TABLE).batch() as batch:
            for tombstone in tombstones:
                for _, put in self._tombstones.puts(tombstone):
                    batch.add(put)


def _change(url: str, links: Iterable[str]) -> LinksChange:
    text = "\n".join(sorted(links))
    return LinksChange(url, None, [text] if text else [], is_new=True, is_removed=True)
