"""Stores captures of many pages in one call; rejected captures do not stop the others.

`RowWrite` computes the change of a row. This module writes many rows and calls the hook.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from webtable.errors import BatchError, WebTableError
from webtable.index.indexed_table import IndexedTable, commit_lock
from webtable.index.row_writer import Also, Before
from webtable.pages import schema
from webtable.pages.columns import URL
from webtable.pages.hooks import LinksChange, PageHook
from webtable.pages.keys import KeyScheme
from webtable.pages.page import CaptureSummary, NewCapture, Outcome
from webtable.pages.schema import TABLE
from webtable.pages.storing.rejected_captures import cut, rejections
from webtable.pages.storing.repeat_detection import RepeatWrite, Retention
from webtable.pages.storing.revisited_bodies import RevisitedBodies
from webtable.pages.storing.row_history import Histories
from webtable.pages.storing.row_write import Parse, RowWrite, read_histories
from webtable.pages.storing.waiting_revisits import WaitingRevisits
from webtable.store.mutation import Mutation, Write

__all__ = ["CaptureWriter"]

_EXPIRING = (schema.CONTENT, schema.OUTLINKS)


class CaptureWriter:
    """Writes captures into the rows of their pages."""

    def __init__(self, rows: IndexedTable, keys: KeyScheme, parse: Parse) -> None:
        self._rows = rows
        self._keys = keys
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
            results += self._store(part, (), hook)
        return results + self._store(last, also, hook)

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
        writes = [RepeatWrite(capture, retention) for capture in captures]
        items = [(self._keys.row_key(each.capture.url), each) for each in writes]
        if hook is None or self._is_atomic:
            # Their links are unchanged: the hook has nothing to do.
            rejected = self._write_items(items)
        else:
            begun = hook.begin([NewCapture(each.url, each.note, None, None) for each in captures])
            for write in writes:
                write.guard = begun.check
            rejected = self._write_items(items)
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
            writes[row].complete = bodies.complete
        return writes

    def _hidden_rows(
        self, writes: Mapping[bytes, RowWrite], *, without: Collection[bytes]
    ) -> list[bytes]:
        """Returns the rows of new pages that were just written, but that no read returns.

        Delete markers that were made by hand mask them: a marker masks all cells with an earlier
        timestamp, also those that are put after it.
        """
        new = [
            row
            for row, write in writes.items()
            if row not in without and "new" in write.outcomes.values()
        ]
        found = self._rows.table.get_many(new, (URL,)) if new else []
        return [row for row, each in zip(new, found, strict=True) if each is None]

    def _write_hidden(
        self,
        by_row: Mapping[bytes, Sequence[NewCapture]],
        hook: PageHook | None,
        bodies: RevisitedBodies,
    ) -> tuple[dict[bytes, RowWrite], dict[bytes, WebTableError]]:
        """Removes the delete markers of pages that were deleted by hand, and stores their captures.

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
        before = partial(read_histories, self._rows.table, self._histories, writes)
        if hook is not None and not self._is_atomic:
            begun = hook.begin(captures)
            for write in writes.values():
                write.guard = begun.check
            rejected = self._write_items(list(writes.items()), also=also, before=before)
            hook.finish(begun, _changes(writes, without=rejected))
            return rejected
        if hook is None and not also:
            return self._write_items(list(writes.items()), before=before)
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
