"""Computes the changes of captures to the row of their page.

Two kinds of timestamps: the values of a capture have the time of that capture; derived data (index
entries, the revision) has the row's revision. A row is changed by check-and-mutate on its revision.
So all cells that are read here after the revision belong to that revision, or the write fails and
everything is computed again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from webtable.errors import ConflictError, CorruptData
from webtable.index.indexed_table import Change, RowState
from webtable.pages import schema
from webtable.pages.columns import (
    BODY,
    BODY_OF,
    DIGEST,
    FACTS,
    LAST_MODIFIED,
    LINK_COUNT,
    LINKS,
    LINKS_OF,
    NEWEST,
    REMOVED,
    STATUS,
    URL,
    WAITS,
)
from webtable.pages.hooks import LinksChange
from webtable.pages.page import NewCapture, Outcome, PageInfo, changed_in, metadata_of
from webtable.pages.removing.row_removal import unmasked
from webtable.pages.storing.capture_cells import (
    NO_LINKS,
    capture_cells,
    encode_body_of,
    encode_time,
)
from webtable.pages.storing.content_revision import content_change
from webtable.pages.storing.digest_collisions import with_distinct_digests
from webtable.pages.storing.page_versions import (
    CaptureNote,
    Versions,
    completed,
    modified,
    rank,
    versions_to_put,
)
from webtable.pages.storing.repeated_captures import (
    Repeated,
    Retention,
    encode_newest,
    info_in,
    repeat,
    repeated_change,
    stored_parse_context,
)
from webtable.pages.storing.revisited_bodies import (
    Complete,
    Parse,
    is_stored,
    with_revisited_body,
)
from webtable.pages.storing.row_history import (
    HISTORY,
    Decided,
    Histories,
    RowHistory,
    history_of,
    read_history,
)
from webtable.pages.storing.row_write_fast_path import append
from webtable.pages.storing.stored_links import links_identity, visible_links
from webtable.pages.storing.waiting_revisits import waits_after
from webtable.store.mutation import Mutation, Put
from webtable.store.scan import ALL_VERSIONS
from webtable.store.schema import TableSchema
from webtable.store.table import Table

__all__ = [
    "Parse",
    "RowHistory",
    "RowWrite",
    "read_histories",
]


def read_histories(
    table: Table, cache: Histories, writes: Mapping[bytes, RowWrite], states: Iterable[RowState]
) -> None:
    """Reads the histories of rows that will be written, with few round trips."""
    rows = []
    for state in states:
        write = writes[state.row]
        if write.prepare(state):
            write.history = cache.pop(state.row, state.revision.number)
            if write.history is None:
                rows.append(state.row)
    if len(rows) > 1:
        found = table.get_many(rows, HISTORY, versions=ALL_VERSIONS)
        for row, each in zip(rows, found, strict=True):
            # A damaged history raises when its row is computed: the other rows are written.
            with contextlib.suppress(CorruptData):
                writes[row].history = history_of(each)


class RowWrite:
    """Stores captures of one page; called at every attempt with the row as it was read.

    After the last attempt, `outcomes` has the outcome of each capture, and `links` the change of
    the page's links, None where they are unchanged. `waits`: the row waits for other bodies than
    before. `guard` is called before every attempt.
    `history` is the history of the row, where it was read already for this attempt. `complete`
    returns revisits with the bodies that the row does not have.
    """

    def __init__(
        self, table: Table, described: TableSchema, captures: Sequence[NewCapture], parse: Parse
    ) -> None:
        self.guard: Callable[[], None] | None = None
        self.retention: Retention | None = None
        self.complete: Complete | None = None
        self.history: RowHistory | None = None
        self.decided: Decided | None = None
        self.links: LinksChange | None = None
        self.waits = False
        self._table = table
        self._schema = described
        self._all = self._given = self._captures = sorted(captures, key=lambda each: each.key)
        self._parse = parse
        self._repeated: Repeated | None = None
        self.url = captures[0].url
        self.outcomes: dict[tuple[int, str], Outcome] = {}

    def __call__(self, state: RowState) -> Change | None:
        """Computes the change of the row; see `webtable.index.indexed_table.Decide`.

        Raises:
            ConflictError: the row is the page of another URL.
        """
        if self.guard is not None:
            self.guard()
        there = state.facts.get(URL, b"").decode()
        if there not in ("", self.url):
            raise ConflictError(
                f"row {state.row!r:.200} is the page {there!r:.200}, not {self.url!r:.200}",
                hint="two URLs have the same row key; store one of them in another store",
            )
        self.waits = False
        if REMOVED in state.facts:
            self._given, self.outcomes = unmasked(self._table, state.row, self._all)
            if not self._given:
                self.links = self.decided = None
                return None
        history, self.history = self.history, None
        if (repeated := self._repeated) is not None:
            self._repeated, change = None, self._repeat(state, repeated)
            self.decided = Decided(state.revision.number, None, change)
            return change
        if history is None:
            is_new = state.cell is None
            history = RowHistory() if is_new else read_history(self._table, state.row)
        self._captures = self._completed(with_distinct_digests(self._given, history), history)
        if all(is_stored(each, history) for each in self._captures):
            # The usual case when a file is loaded again.
            for each in self._given:
                self.outcomes.setdefault(each.key, "unchanged")
            self.links, self.decided = None, Decided(state.revision.number, history, None)
            return None
        change = self._stored(state, history)
        for given, stored in zip(self._given, self._captures, strict=True):
            if given.key != stored.key:
                self.outcomes[given.key] = self.outcomes[stored.key]
        self.decided = Decided(state.revision.number, history, change)
        return change

    def _completed(self, captures: list[NewCapture], history: RowHistory) -> list[NewCapture]:
        """Returns the captures, revisits with the bodies that other URLs have."""
        complete = self.complete
        if complete is None or not any(each.note.is_revisit for each in captures):
            return captures
        return [with_revisited_body(each, history, captures, complete) for each in captures]

    def _stored(self, state: RowState, history: RowHistory) -> Change | None:
        if len(self._captures) == 1 and (change := self._appended(state, history)) is not None:
            return change
        attempt = _Attempt(self, state, history)
        change = attempt.change()
        self.links = None if change is None else attempt.links_change()
        return change

    def prepare(self, state: RowState) -> bool:
        """Prepares an attempt; returns whether it needs more than the state of the row."""
        self._repeated = None
        if state.cell is None:
            return False
        capture, retention = self._captures[0], self.retention
        if (
            len(self._captures) == 1
            and retention is not None
            and (summary := capture.summary) is not None
        ):
            self._repeated = repeat(summary, state.facts, retention)
        return self._repeated is None

    def _repeat(self, state: RowState, repeated: Repeated) -> Change | None:
        (capture,) = self._captures
        time, digest = capture.note.time, capture.note.digest
        self.outcomes[time, digest] = "unchanged"
        self.links = None
        return repeated_change(state, time, repeated)

    def _appended(self, state: RowState, history: RowHistory) -> Change | None:
        (capture,) = self._captures
        done = append(capture, history, state.facts, self.ttl_seconds)
        if done is None:
            return None
        time, digest = capture.note.time, capture.note.digest
        self.outcomes[time, digest] = done.outcome
        self.links = done.links
        put = Put(state.row, done.values, timestamp=time * 1000)
        changed = content_change(state.facts, done.facts)
        return Change(more=[put], facts=done.facts, of_revision=changed)

    # Used by an attempt

    def fresh(self, history: RowHistory) -> list[NewCapture]:
        """Adds the captures that the row does not have; returns them. Sets all outcomes."""
        fresh = []
        for capture in self._captures:
            note, key = capture.note, capture.key
            stored = history.notes.get(key)
            if stored is not None:
                self.outcomes.setdefault(key, "unchanged")
                if rank(note) > rank(stored) or (
                    note == stored and not is_stored(capture, history)
                ):
                    history.add(note)
                    fresh.append(capture)
                continue
            newest = history.newest
            if newest is None:
                self.outcomes[key] = "new"
            elif key < (newest.time, newest.digest):
                self.outcomes[key] = "older"
            else:
                self.outcomes[key] = "unchanged" if newest.digest == note.digest else "changed"
            history.add(note)
            fresh.append(capture)
        return fresh

    def ttl_seconds(self, family: str) -> int | None:
        """Returns the time to live of a family."""
        found = self._schema.family(family)
        return None if found is None else found.ttl_seconds

    def stored(self, row: bytes, column: bytes, time: int) -> bytes:
        """Reads the version of a column that is valid from a second on."""
        at = time * 1000
        found = self._table.get(row, (column,), time_range=(at, at + 1))
        value = None if found is None else found.value(column)
        return b"" if value is None else value

    def parse(self, body: bytes, note: CaptureNote) -> PageInfo:
        """Parses a stored body."""
        return self._parse(self.url, body, note.type)


class _Attempt:
    """One attempt to store captures in a row, computed from the row as it was read."""

    def __init__(self, write: RowWrite, state: RowState, history: RowHistory) -> None:
        self._write = write
        self._state = state
        self._history = history
        before = history.newest
        self._was = None if before is None else visible_links(before, history.links, {})
        self._new = write.fresh(history)
        self._counting = history.counted
        self._bodies = {c.note.digest: c.body for c in self._new if c.body is not None}
        # Some files (WAT) have the values of bodies without the bodies: those of bodies win.
        ordered = sorted(self._new, key=lambda capture: capture.body is not None)
        self._infos = {c.note.digest: c.info for c in ordered if c.info is not None}
        self._puts: dict[int, dict[bytes, bytes]] = {}
        # New bodies whose links were described by a WAT file: the links of the body replace them.
        self._confirmed = {
            c.note.time: c.note.digest
            for c in self._new
            if c.info is not None
            and not c.note.waits_for_body
            and history.counts(c.note)
            and c.note.is_ok
            and history.links.by_time.get(c.note.time) == c.note.digest
        }

    def change(self) -> Change | None:
        """Returns the change of the row."""
        if not self._new:
            return None
        for capture in self._new:
            cells = capture_cells(capture.note, capture.head, capture.origin)
            self._put(capture.note.time, cells)
        self._put_bodies()
        self._put_links()
        facts = self._put_metadata()
        mutations: list[Mutation] = [
            Put(self._state.row, values, timestamp=time * 1000)
            for time, values in sorted(self._puts.items())
        ]
        changed = content_change(self._state.facts, facts)
        waits = waits_after(facts, self._history, self._new, self._bodies)
        if waits:
            facts = {**facts, **waits}
            self._write.waits = bool(waits[WAITS])
        return Change(put=waits, more=mutations, facts=facts, of_revision=changed)

    def _put(self, time: int, values: Mapping[bytes, bytes]) -> None:
        self._puts.setdefault(time, {}).update(values)

    # Versions

    def _times(
        self,
        stored: Versions,
        family: str,
        identity: Callable[[CaptureNote], str],
        brought: Collection[str],
    ) -> list[tuple[int, str]]:
        """Returns the versions to be put; `brought` are the identities of new captures."""
        bodies = self._history.bodies

        def is_stored(each: str) -> bool:
            return stored.last(each) is not None or bodies.last(each) is not None

        new = {capture.note.time for capture in self._new}
        # A body that arrives after a reference to it completes the reference.
        for digest in brought:
            if not is_stored(digest):
                new.update(self._history.waiting(digest))
        puts = versions_to_put(
            self._counting,
            stored,
            new,
            identity,
            lambda each: each in brought or is_stored(each) or each == NO_LINKS,
        )
        newest = self._counting[-1]
        ttl, visible = self._write.ttl_seconds(family), stored.visible_with(newest.time, dict(puts))
        if (
            ttl is not None
            and visible is not None
            and newest.time - visible.time > ttl / 2
            and visible.identity == identity(newest)
        ):
            # The only version of a current body or link list is written again before it expires.
            return [*puts, (newest.time, visible.identity)]
        return list(puts)

    def _put_bodies(self) -> None:
        stored = self._history.bodies
        times = self._times(stored, schema.CONTENT, lambda note: note.digest, self._bodies)
        with_facts: set[str] = set()
        for time, digest in sorted(times):
            body = self._body(digest)
            if body is None:
                continue
            self._put(time, {BODY: body, BODY_OF: self._body_of(digest, body)})
            info = self._infos.get(digest)
            # The facts of a body are stored once, at the first version of that body.
            if info is not None and info.facts and digest not in with_facts:
                with_facts.add(digest)
                if stored.last(digest) is None:
                    self._put(time, {FACTS + digest.encode(): info.facts})

    def _put_links(self) -> None:
        stored = self._history.links
        brought = {*self._bodies, *self._infos}
        times = dict(self._times(stored, schema.OUTLINKS, links_identity, brought))
        for time, whose in {**times, **self._confirmed}.items():
            links, count = "", 0
            at = stored.last(whose)
            if at is not None and time not in self._confirmed:
                links = self._write.stored(self._state.row, LINKS, at).decode()
                count = int(self._write.stored(self._state.row, LINK_COUNT, at) or 0)
            elif whose != NO_LINKS and (info := self._info(whose)) is not None:
                links, count = info.links, info.link_count
            values = {LINKS: links.encode(), LINK_COUNT: str(count).encode()}
            self._put(time, {**values, LINKS_OF: whose.encode()})

    def links_change(self) -> LinksChange | None:
        """Returns the change of the page's links; None where they are unchanged."""
        stored = self._history.links
        # Not whether there is a revision: a row that was deleted by hand may have one.
        is_new = URL not in self._state.facts
        put = {time: values for time, values in self._puts.items() if LINKS_OF in values}
        versions = {time: values[LINKS_OF].decode() for time, values in put.items()}
        newest = self._counting[-1]
        now = visible_links(newest, stored, versions)
        stored_now = {v[LINKS_OF].decode(): v[LINKS].decode() for v in put.values()}
        earlier = [
            text
            for whose, text in stored_now.items()
            if text and whose != now and stored.last(whose) is None
        ]
        visible = stored.visible_with(newest.time, versions)
        is_confirmed = visible is not None and visible.time in self._confirmed
        if not is_new and now == self._was and not is_confirmed:
            return LinksChange(self._write.url, None, earlier) if earlier else None
        links = ""
        if now is not None and now != NO_LINKS:
            at = (
                max(time for time, whose in versions.items() if whose == now)
                if (now in versions.values())
                else stored.last(now)
            )
            assert at is not None
            text = put[at][LINKS] if at in put else self._write.stored(self._state.row, LINKS, at)
            links = text.decode()
        return LinksChange(self._write.url, links, earlier, is_new)

    def _body(self, digest: str) -> bytes | None:
        if digest in self._bodies:
            return self._bodies[digest]
        at = self._history.bodies.last(digest)
        return None if at is None else self._write.stored(self._state.row, BODY, at)

    def _body_of(self, digest: str, body: bytes) -> bytes:
        for each in self._new:
            if each.note.digest == digest and each.body is body:
                return encode_body_of(digest, each.body_digest)
        # A stored body is put again at another second, and its cell with it.
        at = self._history.bodies.last(digest)
        assert at is not None
        return self._write.stored(self._state.row, BODY_OF, at)

    def _info(self, digest: str) -> PageInfo | None:
        """Returns the values of the body of a digest, if it exists."""
        if digest not in self._infos and (body := self._body(digest)) is not None:
            note = self._history.first(digest) or self._counting[-1]
            self._infos[digest] = self._write.parse(body, note)
        return self._infos.get(digest)

    # Metadata

    def _put_metadata(self) -> dict[bytes, bytes]:
        """Puts the values of the newest capture that changed; returns the facts of the row."""
        facts = self._state.facts
        newest = self._counting[-1]
        changed_at = modified(newest, self._history.since)
        is_newer = any(capture.note == newest for capture in self._new)
        is_completed = newest.is_revisit and any(c.note.digest == newest.digest for c in self._new)
        if is_newer or is_completed:
            first = self._history.first(newest.digest)
            shown = completed(newest, () if first is None else (first,))
            capture = NewCapture(self._write.url, shown, None, None)
            info = self._newest_info(newest)
            metadata, context = metadata_of(capture, info, changed_at), info.context
        else:
            metadata = {LAST_MODIFIED: encode_time(changed_at).encode()}
            context = stored_parse_context(facts)
        metadata[NEWEST] = self._newest_cell(newest, context)
        if changed := changed_in(facts, metadata):
            self._put(newest.time, changed)
        return {**facts, **changed}

    def _newest_cell(self, newest: CaptureNote, context: str | None) -> bytes:
        """Returns the cell `metadata:held` for the row after all puts."""
        history, versions = self._history, []
        for stored, column, identity in (
            (history.bodies, BODY_OF, newest.digest),
            (history.links, LINKS_OF, links_identity(newest)),
        ):
            # The body's own digest follows a tab.
            put = {
                at: v[column].decode().partition("\t")[0]
                for at, v in self._puts.items()
                if column in v
            }
            visible = stored.visible_with(newest.time, put)
            is_own = visible is not None and visible.identity == identity
            versions.append(visible.time if visible is not None and is_own else None)
        return encode_newest(newest, (versions[0], versions[1]), history.since, context)

    def _newest_info(self, newest: CaptureNote) -> PageInfo:
        facts = self._state.facts
        is_same = facts.get(DIGEST) == newest.digest.encode()
        # A revisit has the values of the capture before it, also those of its headers, which a
        # parse of the stored body does not see. Values of an older parser are parsed again.
        is_current = stored_parse_context(facts) is not None or not facts.get(NEWEST)
        # A response that was no success has no links, and a revisit of the same body may have.
        has_links = not newest.is_ok or facts.get(STATUS, b"")[:1] == b"2"
        if is_same and is_current and has_links and newest.digest not in self._infos:
            return info_in(facts)
        info = self._info(newest.digest)
        if info is not None:
            return info
        # Without a body, the row may still have the values of an earlier capture with this digest.
        return info_in(facts) if is_same else PageInfo()
