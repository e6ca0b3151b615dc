"""What storing captures does to the row of their page, computed from the row as it is.

Two clocks: what a capture said is stamped with its own time, what was derived from it (index
entries, the revision) with the row's revision. A row is changed by check-and-mutate on its
revision; so what is read here after the revision was read is as it was then, or the write fails
and all of it is done again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from webtable.errors import ConflictError, CorruptData
from webtable.index.table import Change, RowState
from webtable.pages import schema
from webtable.pages.columns import (
    BODY,
    BODY_OF,
    CAPTURE,
    DIGEST,
    LAST_MODIFIED,
    LINK_COUNT,
    LINKS,
    LINKS_OF,
    NEWEST,
    OUTLINKS,
    STATUS,
    URL,
)
from webtable.pages.hooks import LinksChange
from webtable.pages.page import NewCapture, Outcome, PageInfo, changed_in, info_of, metadata_of
from webtable.pages.storing.cells import (
    NO_LINKS,
    encode_body_of,
    encode_note,
    encode_time,
    note_qualifier,
)
from webtable.pages.storing.digest_collisions import told_apart
from webtable.pages.storing.fast_append import append
from webtable.pages.storing.history import CaptureNote, Versions, modified, rank, versions_to_put
from webtable.pages.storing.newest_cell import (
    Keeping,
    Offered,
    Repeated,
    encode_held,
    repeat,
    repeated_change,
    said_of,
)
from webtable.pages.storing.row_history import (
    HISTORY,
    Decided,
    Histories,
    RowHistory,
    history_of,
    read_history,
)
from webtable.store.mutation import Mutation, Put
from webtable.store.scan import ALL_VERSIONS
from webtable.store.schema import TableSchema
from webtable.store.table import Table

__all__ = [
    "Parse",
    "RowHistory",
    "RowWrite",
    "described",
    "links_held",
    "links_identity",
    "read_histories",
]

Parse = Callable[[str, bytes, str], PageInfo]
"""(URL, body, media type) → what the body says. For bodies that are stored already."""


def read_histories(
    table: Table, known: Histories, writes: Mapping[bytes, RowWrite], states: Iterable[RowState]
) -> None:
    """Reads the histories of rows that are about to be written, with few round trips."""
    rows = []
    for state in states:
        write = writes[state.row]
        if write.needs_history(state):
            write.history = known.take(state.row, state.revision.number)
            if write.history is None:
                rows.append(state.row)
    if len(rows) > 1:
        found = table.get_many(rows, HISTORY, versions=ALL_VERSIONS)
        for row, each in zip(rows, found, strict=True):
            # What is damaged is told when that row is decided: the others are written.
            with contextlib.suppress(CorruptData):
                writes[row].history = history_of(each)


class RowWrite:
    """Stores captures of one page; called with the row as it was read, at every attempt anew.

    `outcomes` says, after the last attempt, what each capture was, and `links` what became of the
    page's links, None where they are as they were. `guard` is called before every attempt;
    `history` is the row's, where it was read already for this attempt.
    """

    def __init__(
        self, table: Table, described: TableSchema, captures: Sequence[NewCapture], parse: Parse
    ) -> None:
        self.guard: Callable[[], None] | None = None
        self.keeping: Keeping | None = None
        self.history: RowHistory | None = None
        self.decided: Decided | None = None
        self.links: LinksChange | None = None
        self._table = table
        self._schema = described
        self._given = self._captures = sorted(captures, key=lambda each: each.key)
        self._parse = parse
        self._repeated: Repeated | None = None
        self.url = captures[0].url
        self.outcomes: dict[tuple[int, str], Outcome] = {}

    def __call__(self, state: RowState) -> Change | None:
        """Decides what to do; see `webtable.index.table.Decide`.

        Raises:
            ConflictError: the row holds another URL.
        """
        if self.guard is not None:
            self.guard()
        there = state.facts.get(URL, b"").decode()
        if there not in ("", self.url):
            raise ConflictError(
                f"row {state.row!r:.200} holds {there!r:.200}, not {self.url!r:.200}",
                hint="two URLs have one key, which must not be; keep one of them elsewhere",
            )
        history, self.history = self.history, None
        repeated, self._repeated = self._repeated, None
        if repeated is not None:
            change = self._repeat(state, repeated)
            self.decided = Decided(state.revision.number, None, change)
            return change
        if history is None:
            is_new = state.cell is None
            history = RowHistory() if is_new else read_history(self._table, state.row)
        self._captures = told_apart(self._given, history)
        if all(history.notes.get(each.key) == each.note for each in self._captures):
            # As it is when a file is loaded again.
            for each in self._given:
                self.outcomes.setdefault(each.key, "unchanged")
            self.links, self.decided = None, Decided(state.revision.number, history, None)
            return None
        change = self._stored(state, history)
        for given, stored in zip(self._given, self._captures, strict=True):
            if given is not stored:
                self.outcomes[given.key] = self.outcomes[stored.key]
        self.decided = Decided(state.revision.number, history, change)
        return change

    def _stored(self, state: RowState, history: RowHistory) -> Change | None:
        if len(self._captures) == 1 and (change := self._appended(state, history)) is not None:
            return change
        attempt = _Attempt(self, state, history)
        change = attempt.change()
        self.links = None if change is None else attempt.links_change()
        return change

    def needs_history(self, state: RowState) -> bool:
        """Whether to decide takes more than the state of the row; called before each attempt."""
        self._repeated = None
        if state.cell is None:
            return False
        capture, keeping = self._captures[0], self.keeping
        if (
            len(self._captures) == 1
            and keeping is not None
            and capture.body is not None
            and capture.info is not None
            and capture.info.said is not None
        ):
            offered = Offered(capture.url, capture.note, capture.info.said)
            self._repeated = repeat(offered, state.facts, keeping)
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
        return Change(more=[Put(state.row, done.values, timestamp=time * 1000)], facts=done.facts)

    # What an attempt needs

    def fresh(self, history: RowHistory) -> list[NewCapture]:
        """Adds the captures that the row does not have; returns them. Tells what each of all is."""
        fresh = []
        for capture in self._captures:
            note, key = capture.note, capture.key
            known = history.notes.get(key)
            if known is not None:
                self.outcomes.setdefault(key, "unchanged")
                if rank(note) > rank(known):
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
        """Reads the version of a column that holds from a second on."""
        at = time * 1000
        found = self._table.get(row, (column,), time_range=(at, at + 1))
        value = None if found is None else found.value(column)
        return b"" if value is None else value

    def parse(self, body: bytes, note: CaptureNote) -> PageInfo:
        """Returns what a stored body says."""
        return self._parse(self.url, body, note.type)


class _Attempt:
    """One attempt to store captures in a row that is as it was read."""

    def __init__(self, write: RowWrite, state: RowState, history: RowHistory) -> None:
        self._write = write
        self._state = state
        self._history = history
        before = history.newest
        self._was = None if before is None else _held(before, history.links, {})
        self._new = write.fresh(history)
        self._counting = history.counted
        self._bodies = {c.note.digest: c.body for c in self._new if c.body is not None}
        # Of some files (WAT) comes what bodies say, and not the bodies themselves.
        told = sorted(self._new, key=lambda capture: capture.body is not None)
        self._infos = {c.note.digest: c.info for c in told if c.info is not None}
        self._puts: dict[int, dict[bytes, bytes]] = {}
        # A body came of which only the links were told: it says itself what they are.
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
        """Returns what to do to the row."""
        if not self._new:
            return None
        for capture in self._new:
            column = CAPTURE + note_qualifier(capture.note)
            self._put(capture.note.time, {column: encode_note(capture.note)})
        self._put_bodies()
        self._put_links()
        facts = self._put_metadata()
        mutations: list[Mutation] = [
            Put(self._state.row, values, timestamp=time * 1000)
            for time, values in sorted(self._puts.items())
        ]
        return Change(more=mutations, facts=facts)

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
        """Returns from when on which versions are to be put; `brought` came with new captures."""
        bodies = self._history.bodies

        def is_stored(each: str) -> bool:
            return stored.last(each) is not None or bodies.last(each) is not None

        new = {capture.note.time for capture in self._new}
        # A body that comes after a reference to it makes the reference whole.
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
        ttl, holds = self._write.ttl_seconds(family), stored.visible_with(newest.time, dict(puts))
        if (
            ttl is not None
            and holds is not None
            and newest.time - holds.time > ttl / 2
            and holds.identity == identity(newest)
        ):
            # Before the only version of what is still there expires, it is written again.
            return [*puts, (newest.time, holds.identity)]
        return list(puts)

    def _put_bodies(self) -> None:
        stored = self._history.bodies
        times = self._times(stored, schema.CONTENT, lambda note: note.digest, self._bodies)
        for time, digest in times:
            body = self._body(digest)
            if body is not None:
                self._put(time, {BODY: body, BODY_OF: self._body_of(digest, body)})

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
        """Returns what became of the links of the page; None where they are as they were."""
        stored = self._history.links
        # Not whether there is a revision: a row that was deleted by hand may have one.
        is_new = URL not in self._state.facts
        put = {time: values for time, values in self._puts.items() if LINKS_OF in values}
        versions = {time: values[LINKS_OF].decode() for time, values in put.items()}
        newest = self._counting[-1]
        holds = _held(newest, stored, versions)
        stored_now = {v[LINKS_OF].decode(): v[LINKS].decode() for v in put.values()}
        earlier = [
            text
            for whose, text in stored_now.items()
            if text and whose != holds and stored.last(whose) is None
        ]
        visible = stored.visible_with(newest.time, versions)
        is_confirmed = visible is not None and visible.time in self._confirmed
        if not is_new and holds == self._was and not is_confirmed:
            return LinksChange(self._write.url, None, earlier) if earlier else None
        links = ""
        if holds is not None and holds != NO_LINKS:
            at = (
                max(time for time, whose in versions.items() if whose == holds)
                if (holds in versions.values())
                else stored.last(holds)
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
        # A stored one, put once more for another second: its cell goes with it.
        at = self._history.bodies.last(digest)
        assert at is not None
        return self._write.stored(self._state.row, BODY_OF, at)

    def _info(self, digest: str) -> PageInfo | None:
        """Returns what the body of a digest says, if there is one."""
        if digest not in self._infos and (body := self._body(digest)) is not None:
            note = self._history.first(digest) or self._counting[-1]
            self._infos[digest] = self._write.parse(body, note)
        return self._infos.get(digest)

    # Metadata

    def _put_metadata(self) -> dict[bytes, bytes]:
        """Puts what the newest capture says, where that is new; returns the facts of the row."""
        facts = self._state.facts
        newest = self._counting[-1]
        changed_at = modified(newest, self._history.since)
        is_newer = any(capture.note == newest for capture in self._new)
        is_told = newest.is_revisit and any(c.note.digest == newest.digest for c in self._new)
        if is_newer or is_told:
            first = self._history.first(newest.digest)
            shown = described(newest, () if first is None else (first,))
            capture = NewCapture(self._write.url, shown, None, None)
            info = self._newest_info(newest)
            told, said = metadata_of(capture, info, changed_at), info.said
        else:
            told, said = {LAST_MODIFIED: encode_time(changed_at).encode()}, said_of(facts)
        told[NEWEST] = self._held(newest, said)
        if changed := changed_in(facts, told):
            self._put(newest.time, changed)
        return {**facts, **changed}

    def _held(self, newest: CaptureNote, said: str | None) -> bytes:
        """Returns what the row holds of its newest capture, once everything is put."""
        history, versions = self._history, []
        for stored, column, identity in (
            (history.bodies, BODY_OF, newest.digest),
            (history.links, LINKS_OF, links_identity(newest)),
        ):
            # Behind a tab is the body's own digest.
            put = {
                at: v[column].decode().partition("\t")[0]
                for at, v in self._puts.items()
                if column in v
            }
            holds = stored.visible_with(newest.time, put)
            is_own = holds is not None and holds.identity == identity
            versions.append(holds.time if holds is not None and is_own else None)
        return encode_held(newest, (versions[0], versions[1]), history.since, said)

    def _newest_info(self, newest: CaptureNote) -> PageInfo:
        facts = self._state.facts
        is_same = facts.get(DIGEST) == newest.digest.encode()
        # A revisit says what the capture before it said, headers included, which a parse of the
        # stored body does not see. What an older parser wrote is parsed again.
        is_current = said_of(facts) is not None or not facts.get(NEWEST)
        if is_same and is_current and newest.digest not in self._infos:
            return _info_in(facts)
        info = self._info(newest.digest)
        if info is not None:
            return info
        # No body to be had: what an earlier capture of the same said may still be there.
        return _info_in(facts) if is_same else PageInfo()


def _info_in(facts: Mapping[bytes, bytes]) -> PageInfo:
    """Returns what the newest capture of a row said, as far as that is in its facts."""
    count = int(facts.get(OUTLINKS) or 0)
    return info_of(facts)._replace(link_count=count, said=said_of(facts))


def described(note: CaptureNote, same: Iterable[CaptureNote]) -> CaptureNote:
    """Returns a note with what a revisit does not say, but the capture that it repeats does."""
    repeated = min(
        (each for each in same if not each.is_revisit),
        key=lambda each: each.time,
        default=None,
    )
    if not note.is_revisit or repeated is None:
        return note
    return note._replace(size=repeated.size, type=note.type or repeated.type)


def _held(note: CaptureNote, stored: Versions, put: Mapping[int, str]) -> str | None:
    """Returns whose links are stored for a capture; None where its own are not known."""
    holds = stored.visible_with(note.time, put)
    return None if holds is None or holds.identity != links_identity(note) else holds.identity


def links_held(values: Mapping[bytes, bytes]) -> str:
    """Returns the links of the newest capture, of a row's newest values; empty where it has none.

    That is also where they are not known, as of a reference to a capture that was never loaded.
    """
    is_ok = 200 <= int(values.get(STATUS) or 0) <= 299
    if not is_ok or values.get(LINKS_OF) != values.get(DIGEST):
        return ""
    return values.get(LINKS, b"").decode()


def links_identity(note: CaptureNote) -> str:
    """Returns whose links hold at a capture: equal ones share a version."""
    return note.digest if note.is_ok else NO_LINKS
