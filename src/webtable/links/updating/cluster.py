"""The link index on a cluster, step by step: intents, journals, states, marks.

Each step is atomic in one row and may be repeated; a record of work is deleted only when its
results are durable. `docs/explain/links.md` explains each step, `write_protocol_rules.py` has the
rules.

0. an intent, before the row of a page is written;
1. the page's newest links into its row of the index, with a journal of the targets to update;
2. the state of each link into its target's shard row;
3. marks for the targets, then the journal is cleared, then the intent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeAlias, TypeVar

from webtable.errors import ConflictError, Timeout
from webtable.index.cell_encoding import decode_revision
from webtable.index.write_protocol import Clock
from webtable.links import schema, write_protocol_rules
from webtable.links.cell_encoding import GONE, encode_uris
from webtable.links.link_index import LinkIndex
from webtable.links.updating.link_changes import Newest
from webtable.links.updating.page_row_update import PageRowDecision, View, read_rows
from webtable.links.updating.shard_writer import PAGE_CELLS, ShardWriter, State
from webtable.pages.columns import DIGEST, LINKS, LINKS_OF, REMOVED, REVISION, STATUS, URL
from webtable.pages.page import NewCapture
from webtable.pages.removing.block_list import BlockList
from webtable.pages.removing.row_removal import is_tombstone
from webtable.pages.storing.stored_links import newest_links
from webtable.store.mutation import Delete, Mutation, Put
from webtable.store.table import Table

__all__ = ["Intent", "Intents", "Own", "Updater"]

T = TypeVar("T")

Own: TypeAlias = Mapping[bytes, Collection[bytes]]
"""page → targets that need a state of this page, whether its newest capture links there or not."""

_ROWS = 500
_MARKED = 1_000
_PAGE_COLUMNS = (REVISION, URL, REMOVED, DIGEST, STATUS, LINKS, LINKS_OF)


class Intent(NamedTuple):
    """The note that a page row is about to be written, or was written.

    Attributes:
        column, put_ms: the column of the intent in its row, and its timestamp.
        named: time and digest of the captures to be stored.
    """

    uri: bytes
    column: bytes
    put_ms: int
    named: bytes


class Intents:
    """Intents of one batch; see `webtable.pages.hooks.Begun`."""

    def __init__(self, clock: Clock, begun_ms: int, intents: Sequence[Intent]) -> None:
        self._clock = clock
        self._begun_ms = begun_ms
        self.intents = intents

    @property
    def may_write(self) -> bool:
        """Whether rows may still be written under these intents."""
        return write_protocol_rules.may_write(self._begun_ms, self._clock.elapsed_ms())

    def check(self) -> None:
        """Makes sure that rows may still be written under these intents.

        Raises:
            Timeout: the batch took too long.
        """
        if not self.may_write:
            error = Timeout(
                "storing a batch of pages took longer than its links allow",
                hint="load the file again: it goes on where it was",
            )
            error.maybe_applied = False
            raise error


class Updater:
    """Updates the link index of a cluster while pages are stored; any number may run at a time."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index
        self._clock = index.rows.clock
        self._shards = ShardWriter(index.table, PAGE_CELLS, self._clock, index.rows.new_token)

    # Step 0

    def begin(self, captures: Sequence[NewCapture]) -> Intents:
        """Writes an intent for each page of these captures."""
        named: dict[str, list[str]] = {}
        for capture in captures:
            note = capture.note
            named.setdefault(capture.url, []).append(f"{note.time}\t{note.digest}")
        return self._put_intents(
            {schema.uri_of(url): "\n".join(lines).encode() for url, lines in named.items()}
        )

    def begin_pages(self, urls: Iterable[str]) -> Intents:
        """Writes an intent for each page that is about to be removed.

        Raises:
            ConflictError: the link index is being rebuilt, or a rebuild was interrupted.
        """
        begun = self._put_intents({schema.uri_of(url): b"removed" for url in urls})
        if write_protocol_rules.waits_for_rebuild() and not self._index.is_ready:
            self._end(begun.intents)
            raise ConflictError(
                "pages cannot be removed while the link index is rebuilt",
                hint="repeat it when the rebuild has ended; run `webtable links rebuild` if that"
                " was interrupted",
            )
        return begun

    def _put_intents(self, named: Mapping[bytes, bytes]) -> Intents:
        # The age counts from before the write, so that a pause in between is part of it.
        begun_ms = self._clock.elapsed_ms()
        now = self._clock.now_ms()
        intents = [
            Intent(uri, schema.WORK + self._index.rows.new_token().hex().encode(), now, value)
            for uri, value in named.items()
        ]
        puts = [
            Put(schema.intent_row(uri), {column: value}, timestamp=now)
            for uri, column, _, value in intents
        ]
        _send(self._index.work, puts)
        return Intents(self._clock, begun_ms, intents)

    # Steps 1 to 3

    def finish(self, begun: Intents, own: Own) -> None:
        """Brings the index up to date with pages that were stored, and ends their intents.

        Args:
            own: of each page the targets of links that were not stored before.

        Raises:
            RetryableError: the store failed; an exporter that finds the intents later continues.
        """
        for some in _chunks(begun.intents, _ROWS):
            if begun.may_write:
                self._bring_up(begun, some, own)
            else:
                self.take_over(some, own)

    def take_over(self, intents: Sequence[Intent], own: Own) -> None:
        """Does the same as `finish` for intents that may be old; works under new intents.

        Another exporter may delete the old intents meanwhile. Without new ones a journal could be
        left that no worker finds again.
        """
        named: dict[bytes, bytes] = {}
        for intent in intents:
            before = named.get(intent.uri)
            named[intent.uri] = intent.named if before is None else before + b"\n" + intent.named
        fresh = self._put_intents(named)
        self._bring_up(fresh, fresh.intents, own)
        self._end(intents)

    def _bring_up(self, begun: Intents, some: Sequence[Intent], own: Own) -> None:
        uris = [intent.uri for intent in some]
        while uris:
            views = self._write_page_rows(begun, uris, own)
            self._mark(self._write_states(views))
            self._clear(views)
            own = {view.uri: view.later for view in views if view.later is not None}
            uris = list(own)
        self._end(some)

    def end(self, begun: Intents) -> None:
        """Ends the intents of `begin_pages`."""
        self._end(begun.intents)

    def _end(self, intents: Iterable[Intent]) -> None:
        deletes = [
            Delete(schema.intent_row(intent.uri), timestamp=intent.put_ms).column(intent.column)
            for intent in intents
        ]
        _send(self._index.work, deletes)

    def _write_page_rows(self, begun: Intents, uris: Sequence[bytes], own: Own) -> list[View]:
        newest = self._newest(uris)
        table, rows = self._index.table, self._index.rows
        decisions = {
            schema.page_row(uri): PageRowDecision(
                uri, newest[uri], own.get(uri, ()), check=begun.check
            )
            for uri in uris
            if newest[uri] is not None
        }
        written = rows.write_many(
            list(decisions.items()), before=partial(read_rows, table, decisions)
        )
        return [each.view(number) for each, number in zip(decisions.values(), written, strict=True)]

    def _newest(self, uris: Sequence[bytes]) -> dict[bytes, Newest | None]:
        """Reads the newest links of pages; None if the page is not stored."""
        pages = self._index.pages
        keys = [pages.keys.row_key(schema.url_of(uri)) for uri in uris]
        newest: dict[bytes, Newest | None] = {}
        for uri, found in zip(uris, pages.rows.table.get_many(keys, _PAGE_COLUMNS), strict=True):
            values = {} if found is None else found.values()
            if REVISION not in values:
                newest[uri] = None
                continue
            number = decode_revision(values[REVISION]).number
            newest[uri] = Newest(number, newest_links(values), is_tombstone(values))
        return newest

    def _write_states(self, views: Iterable[View]) -> set[bytes]:
        """Writes states to targets; returns the pages whose counts must be exported."""
        marked: set[bytes] = set()
        blocked = self._index.pages.blocked
        blocked.refresh()
        for some in _chunks(_target_states(views, self._index.shards), _ROWS):
            states: dict[bytes, list[State]] = {}
            targets: dict[bytes, bytes] = {}
            for row, target, state in some:
                states.setdefault(row, []).append(_without_blocked(target, state, blocked))
                targets[row] = target
            changed = self._shards.write(states)
            if write_protocol_rules.checks_again() and blocked.refresh():
                # The states of a URL that was blocked meanwhile were removed before these came.
                late: dict[bytes, list[State]] = {}
                for row, target, state in some:
                    if blocked.blocks(schema.url_of(target)):
                        late.setdefault(row, []).append(_without_blocked(target, state, blocked))
                changed |= self._shards.write(late)
            marked.update(
                t for row, t in targets.items() if write_protocol_rules.needs_mark(row in changed)
            )
        marked.update(view.uri for view in views if view.uri in view.targets)
        return marked

    def _mark(self, targets: Iterable[bytes]) -> None:
        now = self._clock.now_ms()
        puts = []
        for some in _chunks(sorted(targets), _MARKED):
            row = b"m:" + self._index.rows.new_token().hex().encode()
            puts.append(Put(row, {schema.TARGETS: encode_uris(some)}, timestamp=now))
        _send(self._index.work, puts)

    def _clear(self, views: Iterable[View]) -> None:
        # An empty value with the timestamp of the journal hides this journal, but no later one.
        puts = [
            Put(schema.page_row(view.uri), {schema.JOURNAL: b""}, timestamp=view.journal_at)
            for view in views
            if view.targets
        ]
        _send(self._index.table, puts)


def _target_states(views: Iterable[View], shards: int) -> Iterator[tuple[bytes, bytes, State]]:
    """Yields shard row, target and state for each target that must be updated."""
    for view in views:
        shard = schema.shard_of(view.uri, shards)
        for target in sorted(view.targets):
            if target != view.uri:
                row = schema.shard_row(b"p:", target, shard)
                yield row, target, State(view.uri, view.state(target), view.guard)


def _without_blocked(target: bytes, state: State, blocked: BlockList) -> State:
    """Returns the state to write to a target: no link, if the target is blocked."""
    if not blocked.blocks(schema.url_of(target)):
        return state
    return state._replace(value=GONE, is_forced=True)


def _send(table: Table, mutations: Sequence[Mutation]) -> None:
    if mutations:
        with table.batch(size=_MARKED) as batch:
            for mutation in mutations:
                batch.add(mutation)


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while chunk := list(islice(remaining, size)):
        yield chunk
