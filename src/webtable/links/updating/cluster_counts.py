"""Exports counts on a cluster: from the shards of a page to its rank, its domain and its own row.

An exporter processes the marks of all workers and finishes the intents of workers that died. For
each marked page it reads the revision first and sums the shards afterwards, and it always writes a
new revision, so that a sum from before a change never replaces a sum from after it. Everything it
writes to other rows has that revision as its guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec

from webtable.index.indexed_table import Change, RowState
from webtable.index.row_writer import Writer
from webtable.links import schema, write_protocol_rules
from webtable.links.cell_encoding import decode_uris, live_values
from webtable.links.link_index import LinkIndex
from webtable.links.updating.cluster import Intent, Updater
from webtable.links.updating.count_rules import incount, inlink_columns, member_state
from webtable.links.updating.shard_writer import DOMAIN_CELLS, ShardWriter, State
from webtable.loggers import get_logger
from webtable.pages.columns import LINKS, URL
from webtable.pages.removing.remover import Remover
from webtable.pages.removing.tombstones import Tombstones
from webtable.pages.storing.row_history import read_history
from webtable.result_base import Value
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Delete

__all__ = ["Drained", "Exporter"]

_MARKS = 50
_PAGES = 250
_INTENTS_AT_ONCE = 50

_log = get_logger("webtable.links")


class Drained(Value, msgspec.Struct):
    """Link updates that were finished.

    Attributes:
        marks: counts that were still to be written.
        intents: pages whose links another process began to store.
        pages: pages whose counts were written.
    """

    marks: int = 0
    intents: int = 0
    pages: int = 0

    def log(self, location: str) -> None:
        """Logs the numbers, unless there was no work."""
        if self.marks or self.intents:
            _log.info(
                "store '%s': drained link work; counts written of %d pages, marks removed: %d,"
                " intents of other processes finished: %d",
                *(location, self.pages, self.marks, self.intents),
            )


class _Exported(msgspec.Struct):
    """A page whose links were counted: their number, and the revision of that write."""

    uri: bytes
    count: int = 0
    is_crawled: bool = False
    revision: int = 0


class Exporter:
    """Finishes the work in progress on a cluster; any number of exporters may run at a time."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index
        self._clock = index.rows.clock
        self._updater = Updater(index)
        self._domains = ShardWriter(index.table, DOMAIN_CELLS, self._clock, index.rows.new_token)

    def drain(self) -> Drained:
        """Works until no marks are left, and no abandoned intents.

        Younger intents belong to workers that are running; a later call finishes what they leave.
        """
        done = Drained()
        done.intents = self._finish_abandoned()
        while marks := list(self._index.work.scan(prefix=b"m:", limit=_MARKS)):
            targets = {uri for mark in marks for uri in decode_uris(mark.value(schema.TARGETS))}
            self.export(sorted(targets))
            deletes = [
                Delete(mark.key, timestamp=mark.raw_cells[0][1]).column(schema.TARGETS)
                for mark in marks
            ]
            with self._index.work.batch() as batch:
                for delete in deletes:
                    batch.add(delete)
            done.marks += len(marks)
            done.pages += len(targets)
        done.log(self._index.store.location)
        return done

    # Intents

    def _finish_abandoned(self) -> int:
        """Finishes the intents of workers that died; returns their number."""
        now = self._clock.now_ms()
        found = [
            intent
            for row in self._index.work.scan(prefix=b"i:")
            for intent in self._abandoned(row, now)
        ]
        pages = self._index.pages
        for at in range(0, len(found), _INTENTS_AT_ONCE):
            some = found[at : at + _INTENTS_AT_ONCE]
            uris = list(dict.fromkeys(intent.uri for intent in some))
            keys = [pages.keys.row_key(schema.url_of(uri)) for uri in uris]
            Writer(pages.rows).finish(pages.rows.read_states(keys), clears=True)
            self._remove_blocked(keys)
            # The page itself, too: its row may be new since a removal, and lack its inlinks.
            own = {uri: {uri, *self._targets(key)} for uri, key in zip(uris, keys, strict=True)}
            for uri, tombstone in zip(uris, Tombstones(pages.store).get_many(keys), strict=True):
                if tombstone is not None:
                    own[uri].update(schema.uri_of(url) for url in tombstone.links)
            self._updater.take_over(some, own)
        return len(found)

    def _remove_blocked(self, keys: Sequence[bytes]) -> None:
        """Removes pages whose URLs were blocked while a worker stored them, and died."""
        pages = self._index.pages
        pages.blocked.refresh()
        if pages.blocked.is_empty:
            return
        for key, row in zip(keys, pages.rows.table.get_many(keys, (URL,)), strict=True):
            url = b"" if row is None else row.value(URL) or b""
            if url and pages.blocked.blocks(url.decode()):
                # Without the hook: the intents that are finished here update the links.
                list(Remover(pages, None).remove([(key, url.decode())]))

    def _abandoned(self, row: Row, now_ms: int) -> Iterator[Intent]:
        uri = row.key.split(b":", 2)[2]
        for column, timestamp, value, _ in row.raw_cells:
            if write_protocol_rules.is_abandoned(timestamp, now_ms):
                yield Intent(uri, column, timestamp, value)

    def _targets(self, row_key: bytes) -> set[bytes]:
        """Returns the targets of all stored versions of a page's links."""
        table = self._index.pages.rows.table
        times = {whose: time for time, whose in read_history(table, row_key).links.by_time.items()}
        targets: set[bytes] = set()
        for time in times.values():
            at = time * 1000
            found = table.get(row_key, (LINKS,), time_range=(at, at + 1))
            text = None if found is None else found.value(LINKS)
            targets.update(live_values((text or b"").decode()))
        return targets

    # Counts

    def export(self, uris: Sequence[bytes]) -> None:
        """Counts the links to pages again; writes the numbers to ranks, domains and page rows."""
        remaining = iter(uris)
        while some := list(islice(remaining, _PAGES)):
            exported = self._count(some)
            self._update_domains(exported)
            self._update_pages(exported)

    def _count(self, uris: Sequence[bytes]) -> list[_Exported]:
        sums = _Sums(self._index, uris)
        decisions = [_Recount(uri, sums) for uri in uris]
        written = self._index.rows.write_many(
            [(schema.page_row(each.exported.uri), each) for each in decisions]
        )
        for each, revision in zip(decisions, written, strict=True):
            assert revision is not None
            each.exported.revision = revision
        return [each.exported for each in decisions]

    def _update_domains(self, exported: Iterable[_Exported]) -> None:
        states: dict[bytes, list[State]] = {}
        for each in exported:
            shard = schema.shard_of(each.uri, self._index.shards)
            row = schema.shard_row(b"d:", self._index.domains.of(each.uri), shard)
            value = member_state(each.count, is_crawled=each.is_crawled)
            states.setdefault(row, []).append(State(each.uri, value, each.revision))
        self._domains.write(states)

    def _update_pages(self, exported: Iterable[_Exported]) -> None:
        pages = self._index.pages
        pages.rows.write_many(
            [
                (pages.keys.row_key(schema.url_of(each.uri)), _PageRowUpdate(each))
                for each in exported
                if each.is_crawled
            ]
        )


class _Sums:
    """The sums of the shards of pages, each read only after it is requested."""

    def __init__(self, index: LinkIndex, uris: Sequence[bytes]) -> None:
        self._index = index
        self._wanted = uris
        self._read: dict[bytes, int] = {}
        self._is_first = True
        if not write_protocol_rules.sums_late():
            self._fetch(uris)

    def take(self, uri: bytes) -> int:
        """Returns the sum of a page, read now or at the first call for its chunk.

        The first call for a chunk comes when the states of all its pages have been read. A page
        whose write is tried again calls again, and its sum is read again.
        """
        if self._is_first and write_protocol_rules.sums_late():
            self._fetch(self._wanted)
        elif uri not in self._read:
            self._fetch([uri])
        self._is_first = False
        return self._read.pop(uri)

    def _fetch(self, uris: Sequence[bytes]) -> None:
        shards = self._index.shards
        rows = [schema.shard_row(b"p:", uri, shard) for uri in uris for shard in range(shards)]
        found = self._index.table.get_many(rows, (schema.COUNT,))
        for at, uri in enumerate(uris):
            mine = found[at * shards : (at + 1) * shards]
            values = [row.value(schema.COUNT) for row in mine if row is not None]
            self._read[uri] = sum(int(value) for value in values if value)


class _Recount:
    """Decides the number of links in the row of a page; see `Decide`. It always writes the row."""

    def __init__(self, uri: bytes, sums: _Sums) -> None:
        self._sums = sums
        self.exported = _Exported(uri)

    def __call__(self, state: RowState) -> Change:
        """Decides what to write."""
        exported = self.exported
        exported.count = self._sums.take(exported.uri)
        exported.is_crawled = schema.AT in state.facts
        value = incount(exported.count, is_crawled=exported.is_crawled)
        if value is None:
            return Change(delete=(schema.INCOUNT,))
        return Change(put={schema.INCOUNT: value})


class _PageRowUpdate:
    """Decides the number of links in the page's own row; see `Decide`."""

    def __init__(self, exported: _Exported) -> None:
        self._exported = exported

    def __call__(self, state: RowState) -> Change | None:
        """Decides what to write."""
        count, guard = self._exported.count, self._exported.revision
        put = inlink_columns(state.facts, count, guard, is_alone=False)
        return None if put is None else Change(put=put)
