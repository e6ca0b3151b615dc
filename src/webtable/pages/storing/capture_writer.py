"""Stores captures of many pages in one call; rejected captures do not stop the others.

`RowWrite` computes the change of a row. This module writes many rows and calls the hook.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from webtable.errors import BatchError, UrlBlocked, WebTableError
from webtable.index.indexed_table import RowState, commit_lock
from webtable.index.row_writer import Also, Before
from webtable.pages import schema
from webtable.pages.columns import URL
from webtable.pages.hooks import Begun, LinksChange, PageHook
from webtable.pages.page import CaptureSummary, NewCapture, Outcome
from webtable.pages.removing.remover import Remover
from webtable.pages.schema import TABLE
from webtable.pages.storing.rejected_captures import cut, rejections
from webtable.pages.storing.repeated_captures import RepeatWrite, Retention
from webtable.pages.storing.revisited_bodies import RevisitedBodies
from webtable.pages.storing.row_history import Histories
from webtable.pages.storing.row_write import Parse, RowWrite, read_histories
from webtable.pages.storing.waiting_revisits import WaitingRevisits
from webtable.store.mutation import Mutation, Write

if TYPE_CHECKING:
    from webtable.pages.page_table import PageTable

__all__ = ["CaptureWriter"]

_EXPIRING = (schema.CONTENT, schema.OUTLINKS)


class CaptureWriter:
    """Writes captures into the rows of their pages."""

    def __init__(self, pages: PageTable, parse: Parse) -> None:
        self._pages = pages
        self._rows = rows = pages.rows
        self._keys = pages.keys
        self._blocked = pages.blocked
        self._parse = parse
        self._is_atomic = rows.store.capabilities.atomic_commits
        self._schema = rows.store.describe_table(TABLE)
        self._histories = Histories()
        self._waiting = WaitingRevisits(rows)

    def store(
        self,
        captures: Sequence[NewCapture],
        also: Sequence[tuple[str, Mutation]],
        hook: PageHook | None,
    ) -> list[Outcome | WebTableError]:
        """Stores captures; see `PageTable.try_captures`."""
        results: list[Outcome | WebTableError] = []
        *parts, last = cut(captures)
        for part in parts:
            results += self._store_allowed(part, (), hook)
        return results + self._store_allowed(last, also, hook)

    def _store_allowed(
        self,
        captures: Sequence[NewCapture],
        also: Sequence[tuple[str, Mutation]],
        hook: PageHook | None,
    ) -> list[Outcome | WebTableError]:
        """Stores the captures whose URLs are not blocked."""
        self._blocked.refresh()
        if self._blocked.is_empty:
            return self._store(captures, also, hook)
        blocked = [self._blocked.blocks(each.url) for each in captures]
        allowed = [each for each, no in zip(captures, blocked, strict=True) if not no]
        if not allowed and also:
            # The position in the file must move on.
            self._rows.store.commit(list(also))
        stored = iter(self._store(allowed, also, hook) if allowed else ())
        return [UrlBlocked() if no else next(stored) for no in blocked]

    def _store(
        self,
        captures: Sequence[NewCapture],
        also: Sequence[tuple[str, Mutation]],
        hook: PageHook | None,
    ) -> list[Outcome | WebTableError]:
        keys = [self._keys.row_key(capture.url) for capture in captures]
        by_row: dict[bytes, list[NewCapture]] = {}
        for row, capture in zip(keys, captures, strict=True):
            by_row.setdefault(row, []).append(capture)
        bodies = RevisitedBodies(self._rows, self._keys, self._parse, captures)
        writes = self._row_writes(by_row, bodies)
        waiting = self._waiting.of_bodies(captures, keys)
        if self._is_atomic:
            with commit_lock(self._rows.store):
                self._complete_all(waiting, bodies, hook)
                rejected = self._write(captures, writes, also, hook)
        else:
            rejected = self._write(captures, writes, also, hook)
            self._complete_all(waiting, bodies, hook)
            self._complete_late(by_row, writes, hook)
        # Revisits that name no URL find the bodies that others got by theirs.
        if others := bodies.completed.difference(e.note.digest for e in captures if e.body):
            own = RevisitedBodies(self._rows, self._keys, self._parse, ())
            self._complete_all(self._waiting.of_digests(others), own, hook)
        if hidden := self._hidden_rows(writes, without=rejected):
            mine, more = self._write_hidden({row: by_row[row] for row in hidden}, hook, bodies)
            writes, rejected = writes | mine, rejected | more
        return [
            rejected.get(row) or writes[row].outcomes[each.note.time, each.note.digest]
            for row, each in zip(keys, captures, strict=True)
        ]

    def complete(
        self, revisits: Sequence[NewCapture], known: Mapping[str, bytes], hook: PageHook | None
    ) -> list[NewCapture]:
        """Stores revisits with their bodies; see `PageTable.complete_revisits`."""
        bodies = RevisitedBodies(self._rows, self._keys, self._parse, (), known)
        with commit_lock(self._rows.store) if self._is_atomic else contextlib.nullcontext():
            found = [each for each in revisits if bodies.complete(each) is not None]
            self._complete_all(iter([found] if found else []), bodies, hook)
        return found

    def _complete_all(
        self, parts: Iterator[list[NewCapture]], bodies: RevisitedBodies, hook: PageHook | None
    ) -> None:
        """Stores revisits that waited for bodies, one part after the other."""
        for revisits in parts:
            by_row: dict[bytes, list[NewCapture]] = {}
            for each in revisits:
                by_row.setdefault(self._keys.row_key(each.url), []).append(each)
            self._write(revisits, self._row_writes(by_row, bodies), (), hook)

    def _complete_late(
        self,
        by_row: Mapping[bytes, Sequence[NewCapture]],
        writes: Mapping[bytes, RowWrite],
        hook: PageHook | None,
    ) -> None:
        """Looks again for the bodies of revisits that were stored without them, on a cluster.

        The writer of such a body may have looked for revisits before these were stored.
        """
        late = [each for row, write in writes.items() if write.waits for each in by_row[row]]
        if late:
            self.complete([each for each in late if each.note.is_revisit], {}, hook)

    def repeat(self, captures: Sequence[CaptureSummary], hook: PageHook | None) -> list[int | None]:
        """Stores captures that need no body; see `PageTable.store_summaries`."""
        retention = self._retention()
        self._blocked.refresh()
        writes = [RepeatWrite(capture, retention) for capture in captures]
        for write in writes:
            write.guard = partial(self._blocked.check, write.capture.url)
        items = [(self._keys.row_key(each.capture.url), each) for each in writes]
        if hook is None or self._is_atomic:
            # Their links are unchanged: the hook has nothing to do.
            rejected = self._write_items(items)
        else:
            begun = hook.begin([NewCapture(each.url, each.note, None, None) for each in captures])
            for write in writes:
                write.guard = partial(self._guard, begun, write.capture.url)
            rejected = self._write_items(items)
            rejected |= self._remove_blocked({row: w.capture.url for row, w in items}, hook)
            hook.finish(begun, [])
        if not self._is_atomic:
            # A writer that died may have stored these bodies, and not the revisits that waited.
            known = {each.capture.note.digest: row for row, each in items if row not in rejected}
            bodies = RevisitedBodies(self._rows, self._keys, self._parse, (), known)
            self._complete_all(self._waiting.of_digests(known), bodies, hook)
        return [None if row in rejected else write.links for row, write in items]

    def _row_writes(
        self, by_row: Mapping[bytes, Sequence[NewCapture]], bodies: RevisitedBodies
    ) -> dict[bytes, RowWrite]:
        writes, retention = {}, self._retention()
        for row, captures in by_row.items():
            writes[row] = RowWrite(self._rows.table, self._schema, captures, self._parse)
            writes[row].retention = retention
            writes[row].guard = partial(self._blocked.check, captures[0].url)
            writes[row].complete = bodies.complete
        return writes

    def _hidden_rows(
        self, writes: Mapping[bytes, RowWrite], *, without: Collection[bytes]
    ) -> list[bytes]:
        """Returns the rows of new pages that were just written, but that no read returns.

        Delete markers that were made by hand mask them: a marker masks all cells with an earlier
        timestamp, also those that are put after it. In an embedded store also the rows of removed
        pages, where such markers would mask the captures.
        """
        new, masked = [], []
        for row, write in writes.items():
            if row in without:
                continue
            if "hidden" in write.outcomes.values():
                masked.append(row)
            elif "new" in write.outcomes.values():
                new.append(row)
        found = self._rows.table.get_many(new, (URL,)) if new else []
        hidden = [row for row, each in zip(new, found, strict=True) if each is None]
        # On a cluster, captures of a removed page stay hidden; the others of its row are stored.
        return hidden + masked if self._is_atomic else hidden

    def _write_hidden(
        self,
        by_row: Mapping[bytes, Sequence[NewCapture]],
        hook: PageHook | None,
        bodies: RevisitedBodies,
    ) -> tuple[dict[bytes, RowWrite], dict[bytes, WebTableError]]:
        """Removes the delete markers of pages that were deleted, and stores their captures.

        Returns the writes, and the error of each rejected row.
        """
        writes = self._row_writes(by_row, bodies)
        if all(self._rows.store.admin.purge_row(TABLE, row) for row in by_row):
            captures = [each for mine in by_row.values() for each in mine]
            return writes, self._write(captures, writes, (), hook)
        for row, mine in by_row.items():
            for each in mine:
                writes[row].outcomes[each.note.time, each.note.digest] = "hidden"
        return writes, {}

    def _remember(
        self,
        writes: Sequence[tuple[bytes, RowWrite | RepeatWrite]],
        revisions: Sequence[int | None],
    ) -> None:
        """Caches long histories after a write, for the next write."""
        for (row, write), revision in zip(writes, revisions, strict=True):
            if write.decided is not None:
                self._histories.update(row, write.decided, revision)

    def _retention(self) -> Retention:
        ttl = [family.ttl_seconds for family in map(self._schema.family, _EXPIRING) if family]
        return Retention(ttl[0], ttl[1], self._rows.clock.now_ms() / 1000)

    def _write(
        self,
        captures: Sequence[NewCapture],
        writes: Mapping[bytes, RowWrite],
        also: Sequence[tuple[str, Mutation]],
        hook: PageHook | None,
    ) -> dict[bytes, WebTableError]:
        """Writes rows and calls the hook; returns the error of each rejected row."""
        urls = {row: write.url for row, write in writes.items()}

        def before(states: Sequence[RowState]) -> None:
            # In an embedded store this is under the lock of the commit, on a cluster there is a
            # second check after the write.
            self._blocked.refresh()
            read_histories(self._rows.table, self._histories, writes, states)

        if hook is not None and not self._is_atomic:
            begun = hook.begin(captures)
            for write in writes.values():
                write.guard = partial(self._guard, begun, write.url)
            rejected = self._write_items(list(writes.items()), also=also, before=before)
            rejected |= self._remove_blocked(urls, hook)
            hook.finish(begun, _changes(writes, without=rejected))
            return rejected
        if hook is None and not also:
            rejected = self._write_items(list(writes.items()), before=before)
            return rejected | self._remove_blocked(urls, hook)
        rejected = {}

        def together() -> list[tuple[str, Write]]:
            more = [] if hook is None else hook.together(_changes(writes, without=rejected))
            return [*also, *more]

        # The commit is atomic: the next attempt leaves out the rejected rows.
        while True:
            items = [item for item in writes.items() if item[0] not in rejected]
            try:
                more = self._write_items(items, also=together, before=before)
            except BaseException:
                if hook is not None:
                    hook.forget()
                raise
            if not more:
                return rejected
            rejected |= more

    def _guard(self, begun: Begun, url: str) -> None:
        """Checks that a row may be written; called at every attempt."""
        begun.check()
        self._blocked.check(url)

    def _remove_blocked(
        self, urls: Mapping[bytes, str], hook: PageHook | None
    ) -> dict[bytes, WebTableError]:
        """Removes the pages whose URLs were blocked while they were written, on a cluster.

        A process that blocks a URL writes the block list first, and then removes the page. So a
        page that was stored too late to be found there finds its URL in the list here.
        """
        if self._is_atomic:
            return {}
        self._blocked.refresh()
        slipped = {row: url for row, url in urls.items() if self._blocked.blocks(url)}
        if slipped:
            list(Remover(self._pages, hook).remove(slipped.items()))
        return dict.fromkeys(slipped, UrlBlocked())

    def _write_items(
        self,
        items: Sequence[tuple[bytes, RowWrite | RepeatWrite]],
        also: Also = (),
        before: Before | None = None,
    ) -> dict[bytes, WebTableError]:
        """Writes rows; returns the error of each rejected row.

        Raises:
            BatchError: some rows failed for another reason than their own content.
        """
        try:
            revisions = self._rows.write_many(items, also=also, before=before)
        except BatchError as error:
            reasons = rejections(error)
            return {items[position][0]: reason for position, reason in reasons.items()}
        self._remember(items, revisions)
        return {}


def _changes(writes: Mapping[bytes, RowWrite], *, without: Collection[bytes]) -> list[LinksChange]:
    return [
        write.links
        for row, write in writes.items()
        if write.links is not None and row not in without
    ]
