"""Counts on their way out: from the shards of a page to its rank, its domain and its own row.

An exporter takes the marks that others left, and on a cluster the intents of workers that died. For
each marked page it reads the revision first and sums the shards after that, and it always moves the
revision, so that a sum from before a change is never written over one from after it. What it
writes elsewhere carries that revision as a guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec

from webtable.index.table import Change, RowState
from webtable.index.writer import Writer
from webtable.links import rules, schema
from webtable.links.cells import decode_uris, live_values
from webtable.links.index import LinkIndex
from webtable.links.updating.cluster import Intent, Updater
from webtable.links.updating.count_rules import incount, inlink_columns, member_state
from webtable.links.updating.shards import DOMAIN_CELLS, ShardWriter, State
from webtable.logs import get_logger
from webtable.pages.columns import LINKS
from webtable.pages.storing.row_history import read_history
from webtable.store.model import Row
from webtable.store.mutation import Delete
from webtable.values import Value

__all__ = ["Drained", "Exporter"]

_MARKS = 50
_PAGES = 250
_TAKEN = 50

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
        """Logs it, where there was something to do."""
        if self.marks or self.intents:
            _log.info(
                "store '%s': drained link work; counts written of %d pages, marks removed: %d,"
                " intents of other processes finished: %d",
                *(location, self.pages, self.marks, self.intents),
            )


class _Exported(msgspec.Struct):
    """A page whose links were counted: how many there are, and under which revision."""

    uri: bytes
    count: int = 0
    is_crawled: bool = False
    revision: int = 0


class Exporter:
    """Takes what is under way on a cluster to its end, beside any number of others."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index
        self._clock = index.rows.clock
        self._updater = Updater(index)
        self._domains = ShardWriter(index.table, DOMAIN_CELLS, self._clock, index.rows.new_token)

    def drain(self) -> Drained:
        """Works until no marks are left, and no intents that somebody must finish.

        Younger intents belong to workers under way; what they leave is somebody's next turn.
        """
        done = Drained()
        done.intents = self._take_intents()
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

    def _take_intents(self) -> int:
        """Finishes what workers began who have been gone for long."""
        now = self._clock.now_ms()
        found = [
            intent
            for row in self._index.work.scan(prefix=b"i:")
            for intent in self._abandoned(row, now)
        ]
        pages = self._index.pages
        for at in range(0, len(found), _TAKEN):
            some = found[at : at + _TAKEN]
            uris = list(dict.fromkeys(intent.uri for intent in some))
            keys = [pages.keys.row_key(schema.url_of(uri)) for uri in uris]
            Writer(pages.rows).finish(pages.rows.read_states(keys), clears=True)
            own = {uri: self._targets(key) for uri, key in zip(uris, keys, strict=True)}
            self._updater.take_over(some, own)
        return len(found)

    def _abandoned(self, row: Row, now_ms: int) -> Iterator[Intent]:
        uri = row.key.split(b":", 2)[2]
        for column, timestamp, value, _ in row.raw_cells:
            if rules.is_abandoned(timestamp, now_ms):
                yield Intent(uri, column, timestamp, value)

    def _targets(self, row_key: bytes) -> set[bytes]:
        """Returns where a page links to, or once did, as far as that is stored."""
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
        """Counts the links to pages anew, and tells everybody who shows the number."""
        remaining = iter(uris)
        while some := list(islice(remaining, _PAGES)):
            exported = self._count(some)
            self._tell_domains(exported)
            self._tell_pages(exported)

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

    def _tell_domains(self, exported: Iterable[_Exported]) -> None:
        states: dict[bytes, list[State]] = {}
        for each in exported:
            shard = schema.shard_of(each.uri, self._index.shards)
            row = schema.shard_row(b"d:", self._index.domains.of(each.uri), shard)
            value = member_state(each.count, is_crawled=each.is_crawled)
            states.setdefault(row, []).append(State(each.uri, value, each.revision))
        self._domains.write(states)

    def _tell_pages(self, exported: Iterable[_Exported]) -> None:
        pages = self._index.pages
        pages.rows.write_many(
            [
                (pages.keys.row_key(schema.url_of(each.uri)), _TellPage(each))
                for each in exported
                if each.is_crawled
            ]
        )


class _Sums:
    """The sums of the shards of pages, each read after somebody asked for it."""

    def __init__(self, index: LinkIndex, uris: Sequence[bytes]) -> None:
        self._index = index
        self._wanted = uris
        self._read: dict[bytes, int] = {}
        self._is_first = True
        if not rules.sums_late():
            self._fetch(uris)

    def take(self, uri: bytes) -> int:
        """Returns the sum of a page, as it is now or was after the first of its chunk was asked.

        The first one of a chunk is asked for when the states of all of it were read; whoever has
        to try again asks anew.
        """
        if self._is_first and rules.sums_late():
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
    """Decides what the row of a page says of its links; see `Decide`. It always moves it."""

    def __init__(self, uri: bytes, sums: _Sums) -> None:
        self._sums = sums
        self.exported = _Exported(uri)

    def __call__(self, state: RowState) -> Change:
        """Decides what to do."""
        exported = self.exported
        exported.count = self._sums.take(exported.uri)
        exported.is_crawled = schema.AT in state.facts
        value = incount(exported.count, is_crawled=exported.is_crawled)
        if value is None:
            return Change(delete=(schema.INCOUNT,))
        return Change(put={schema.INCOUNT: value})


class _TellPage:
    """Decides what a page's own row says of the links to it; see `Decide`."""

    def __init__(self, exported: _Exported) -> None:
        self._exported = exported

    def __call__(self, state: RowState) -> Change | None:
        """Decides what to do."""
        count, guard = self._exported.count, self._exported.revision
        put = inlink_columns(state.facts, count, guard, is_alone=False)
        return None if put is None else Change(put=put)
