"""`Removals`: removing pages from a store, the block list, the removal log, and the purge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from webtable.errors import NotFound, WebTableError
from webtable.links.create_or_open_tables import opened_links
from webtable.links.link_index import LinkIndex
from webtable.links.schema import uri_of
from webtable.loggers import get_logger
from webtable.operations.operational_state import OperationalState, open_state
from webtable.operations.removal_log import Check, LogEntry, RemovalLog
from webtable.pages.keys import reversed_host
from webtable.pages.page_table import PageTable
from webtable.pages.removing.block_list import Blocked
from webtable.pages.removing.remover import Remover, pages_of, unfinished_of
from webtable.pages.removing.row_removal import RemovedPage, stored_page
from webtable.pages.removing.targets import Target, target_of
from webtable.pages.storing.capture_cells import encode_time
from webtable.pages.urls import typed_site
from webtable.result_base import Value

if TYPE_CHECKING:
    from webtable.links.whole_store_verification import StoreReport
    from webtable.pages.removing.purge import PurgeReport

__all__ = ["RemovalReport", "Removals"]

_log = get_logger("webtable.operations")
_EXAMPLES = 10
_PURGED_AT_ONCE = 10_000


class RemovalReport(Value, msgspec.Struct, kw_only=True):
    """What was removed, or what would be.

    Attributes:
        kind: `url`, `domain` or `prefix`.
        hash: the SHA-256 of the row key, of the reversed host, or of the prefix, as in the log.
        pages: how many pages.
        captures: how many captures of them.
        bytes: the sizes of their distinct bodies together.
        unlinked: how many links to blocked pages the link index leaves out now; not counted in a
            dry run.
        blocked: whether they may not be stored again.
        dry_run: whether nothing was changed.
        examples: the URLs of the first pages; of a dry run only.
    """

    kind: str
    hash: str
    pages: int = 0
    captures: int = 0
    bytes: int = 0
    unlinked: int = 0
    blocked: bool = False
    dry_run: bool = False
    examples: list[str] = []

    def add(self, page: RemovedPage) -> None:
        """Counts a page."""
        self.pages += 1
        self.captures += page.captures
        self.bytes += page.bytes


class Removals:
    """Removes pages from a store, and tells what was removed.

    Args:
        writing: takes the turn to write, and returns the pages with their hook.
    """

    def __init__(
        self, pages: PageTable, writing: Callable[[], AbstractContextManager[PageTable]]
    ) -> None:
        self._pages = pages
        self._writing = writing

    def remove(self, text: str, *, dry_run: bool = False, block: bool = False) -> RemovalReport:
        """Removes a page, or all pages of a domain or a prefix; see `WebTable.remove`."""
        target = target_of(text, self._pages.keys, self._pages.find_url)
        report = RemovalReport(kind=target.kind, hash=target.hash, blocked=block, dry_run=dry_run)
        if dry_run:
            for row, url in pages_of(self._pages, target):
                report.add(stored_page(self._pages.rows.table, row, url))
                if len(report.examples) < _EXAMPLES:
                    report.examples.append(url)
            return report
        with self._writing() as pages:
            found = list(_known(pages, target)) if target.kind == "url" else _known(pages, target)
            if not found and not block:
                raise NotFound("page", target.text, hint="with --block its URL is blocked")
            self._log("begun", target, report)
            if block:
                # No commit of this process that read the list before may come after this.
                with pages.rows.lock:
                    pages.blocked.add([target], pages.rows.clock.now_ms())
                # Before the pages go: a link between two of them is counted out only once.
                report.unlinked = self._unlink(pages, target)
            for page in Remover(pages, pages.hook).remove(found):
                report.add(page)
            if pages.hook is not None:
                pages.hook.settle(is_last=True)
            self._log("done", target, report)
        return report

    def _unlink(self, pages: PageTable, target: Target) -> int:
        """Leaves the blocked pages out of the link index; returns the number of links."""
        from webtable.links.updating.blocked_targets import BlockedTargets

        blocked = BlockedTargets(opened_links(pages))
        if target.kind == "url":
            return blocked.unlink([uri_of(target.text)])
        if target.kind == "domain":
            prefix = reversed_host(typed_site(target.text).host).encode()
        else:
            prefix = uri_of(target.text)
        return blocked.unlink(blocked.linked(target.matcher(), prefix))

    def _log(self, state: str, target: Target, report: RemovalReport) -> None:
        entry = LogEntry(
            at=encode_time(self._pages.rows.clock.now_ms() // 1000),
            state=state,  # type: ignore[arg-type]
            kind=target.kind,
            target=target.hash,
            length=target.length,
            pages=report.pages,
            captures=report.captures,
            bytes=report.bytes,
            blocked=report.blocked,
        )
        RemovalLog(self._state()).append(entry)

    def _state(self) -> OperationalState:
        return open_state(self._pages.store)

    # The block list

    def blocked(self) -> list[Blocked]:
        """Returns the entries of the block list, by kind and hash."""
        return self._pages.blocked.entries()

    def unblock(self, text: str) -> StoreReport:
        """Removes an entry of the block list, and derives the links to its pages again.

        That reads every page. Returns the report about it.

        Raises:
            NotFound: it is not blocked; name it as it was blocked.
        """
        from webtable.links.whole_store_verification import verify_store

        target = target_of(text, self._pages.keys)
        with self._writing() as pages:
            pages.blocked.remove(target)
            self._log("unblocked", target, RemovalReport(kind=target.kind, hash=target.hash))
            LinkIndex.open(pages)
            return verify_store(pages, repair=True, quick=True)

    # The log

    def log(self) -> Iterator[LogEntry]:
        """Returns the entries of the removal log, the oldest first."""
        return RemovalLog(self._state()).entries()

    def check_log(self) -> Check:
        """Checks the chain of hashes of the removal log."""
        return RemovalLog(self._state()).check()

    # The purge

    def purge(self, *, limit: int | None = None) -> PurgeReport:
        """Deletes what is left of removed pages, where no writer and no consumer needs it.

        The end of a load and `verify` with `repair` do it as well. Their files keep deleted cells
        until a major compaction.

        Args:
            limit: check so many removed pages at most.
        """
        from webtable.links.asking.link_feed import LinkFeed
        from webtable.operations.feed_consumers import lowest_position
        from webtable.pages.asking.page_feed import PageFeed
        from webtable.pages.removing.purge import Purger

        with self._writing() as pages:
            state = self._state()
            passed = lowest_position(state, PageFeed(pages))
            links_passed = lowest_position(state, LinkFeed(opened_links(pages)))
            return Purger(pages, pages.hook, passed, links_passed).purge(limit)

    def purge_some(self) -> None:
        """Purges a bounded number; for the end of a load, which does not fail if this fails."""
        try:
            self.purge(limit=_PURGED_AT_ONCE)
        except WebTableError as error:
            _log.warning(
                "store '%s': removed pages are not purged: %s", self._pages.store.location, error
            )


def _known(pages: PageTable, target: Target) -> Iterator[tuple[bytes, str]]:
    """Yields the pages of a target, and on a cluster those whose removal may be unfinished."""
    if pages.store.capabilities.atomic_commits:
        return pages_of(pages, target)
    return chain(unfinished_of(pages, target), pages_of(pages, target))
