"""Storing captures: many pages at once, those that the store refuses named, the others stored.

`RowWrite` decides what a row gets; here rows are written together, and the hook follows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from webtable.errors import BatchError, WebTableError
from webtable.index.table import IndexedTable
from webtable.index.writer import Also, Before
from webtable.pages import schema
from webtable.pages.columns import URL
from webtable.pages.hooks import LinksChange, PageHook
from webtable.pages.keys import KeyScheme
from webtable.pages.page import NewCapture, Outcome
from webtable.pages.schema import TABLE
from webtable.pages.storing.newest_cell import Keeping, Offered, RepeatWrite
from webtable.pages.storing.rejected_captures import cut, refusals
from webtable.pages.storing.row_history import Histories
from webtable.pages.storing.row_write import Parse, RowWrite, read_histories
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
        writes = self._row_writes(by_row)
        refused = self._write(captures, writes, also, hook)
        if hidden := self._hidden_rows(writes, without=refused):
            mine, more = self._write_hidden({row: by_row[row] for row in hidden}, hook)
            writes, refused = writes | mine, refused | more
        return [
            refused.get(row) or writes[row].outcomes[each.note.time, each.note.digest]
            for row, each in zip(keys, captures, strict=True)
        ]

    def repeat(self, captures: Sequence[Offered], hook: PageHook | None) -> list[int | None]:
        """Stores captures whose bodies are stored already; see `PageTable.take_offered`."""
        keeping = self._keeping()
        writes = [RepeatWrite(capture, keeping) for capture in captures]
        items = [(self._keys.row_key(each.capture.url), each) for each in writes]
        if hook is None or self._is_atomic:
            # Their links are as they were: the hook has nothing to do.
            refused = self._write_items(items)
        else:
            begun = hook.begin([NewCapture(each.url, each.note, None, None) for each in captures])
            for write in writes:
                write.guard = begun.check
            refused = self._write_items(items)
            hook.finish(begun, [])
        return [None if row in refused else write.links for row, write in items]

    def _row_writes(self, by_row: Mapping[bytes, Sequence[NewCapture]]) -> dict[bytes, RowWrite]:
        writes, keeping = {}, self._keeping()
        for row, captures in by_row.items():
            writes[row] = RowWrite(self._rows.table, self._schema, captures, self._parse)
            writes[row].keeping = keeping
        return writes

    def _hidden_rows(
        self, writes: Mapping[bytes, RowWrite], *, without: Collection[bytes]
    ) -> list[bytes]:
        """Returns the rows of new pages that no read shows although they were just written.

        Delete markers that were made by hand hide them: those hide all that is stamped with an
        earlier time, whenever it is put.
        """
        new = [
            row
            for row, write in writes.items()
            if row not in without and "new" in write.outcomes.values()
        ]
        found = self._rows.table.get_many(new, (URL,)) if new else []
        return [row for row, each in zip(new, found, strict=True) if each is None]

    def _write_hidden(
        self, by_row: Mapping[bytes, Sequence[NewCapture]], hook: PageHook | None
    ) -> tuple[dict[bytes, RowWrite], dict[bytes, WebTableError]]:
        """Stores captures of pages that were deleted by hand, once their markers are removed.

        Returns the writes, and why rows were refused.
        """
        writes = self._row_writes(by_row)
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
        """Remembers long histories as they are after a write, for the next one."""
        for (row, write), revision in zip(writes, revisions, strict=True):
            if write.decided is not None:
                self._histories.follow(row, write.decided, revision)

    def _keeping(self) -> Keeping:
        ttl = [family.ttl_seconds for family in map(self._schema.family, _EXPIRING) if family]
        return Keeping(ttl[0], ttl[1], self._rows.clock.now_ms() / 1000)

    def _write(
        self,
        captures: Sequence[NewCapture],
        writes: Mapping[bytes, RowWrite],
        also: Sequence[tuple[str, Mutation]],
        hook: PageHook | None,
    ) -> dict[bytes, WebTableError]:
        """Writes rows, and lets the hook follow; returns why rows were refused."""
        before = partial(read_histories, self._rows.table, self._histories, writes)
        if hook is not None and not self._is_atomic:
            begun = hook.begin(captures)
            for write in writes.values():
                write.guard = begun.check
            refused = self._write_items(list(writes.items()), also=also, before=before)
            hook.finish(begun, _changes(writes, without=refused))
            return refused
        if hook is None and not also:
            return self._write_items(list(writes.items()), before=before)
        refused = {}

        def together() -> list[tuple[str, Write]]:
            more = [] if hook is None else hook.together(_changes(writes, without=refused))
            return [*also, *more]

        # All of it is one commit, or none: what is refused is left out of the next attempt.
        while True:
            items = [item for item in writes.items() if item[0] not in refused]
            try:
                more = self._write_items(items, also=together, before=before)
            except BaseException:
                if hook is not None:
                    hook.forget()
                raise
            if not more:
                return refused
            refused |= more

    def _write_items(
        self,
        items: Sequence[tuple[bytes, RowWrite | RepeatWrite]],
        also: Also = (),
        before: Before | None = None,
    ) -> dict[bytes, WebTableError]:
        """Writes rows; returns why some were refused.

        Raises:
            BatchError: some failed for another reason than what was to be written.
        """
        try:
            revisions = self._rows.write_many(items, also=also, before=before)
        except BatchError as error:
            reasons = refusals(error)
            return {items[position][0]: reason for position, reason in reasons.items()}
        self._remember(items, revisions)
        return {}


def _changes(writes: Mapping[bytes, RowWrite], *, without: Collection[bytes]) -> list[LinksChange]:
    return [
        write.links
        for row, write in writes.items()
        if write.links is not None and row not in without
    ]
