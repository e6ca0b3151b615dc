"""What storing captures does to the row of their page, computed from the row as it is.

Two clocks: what a capture said is stamped with its own time, what was derived from it (index
entries, the revision) with the row's revision. A row is changed by check-and-mutate on its
revision; so what is read here after the revision was read is as it was then, or the write fails
and all of it is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from webtable.errors import ConflictError
from webtable.pages import schema
from webtable.pages.appending import append
from webtable.pages.cells import (
    BODY,
    BODY_OF,
    LINK_COUNT,
    LINKS,
    LINKS_OF,
    NO_LINKS,
    decode_note,
    encode_note,
    encode_time,
    note_qualifier,
)
from webtable.pages.held import (
    HELD,
    Keeping,
    Offered,
    Repeated,
    encode_held,
    repeat,
    repeated_change,
    said_of,
)
from webtable.pages.history import (
    CaptureNote,
    RowHistory,
    counting,
    last_modified,
    rank,
    run_start,
    versions_to_put,
    visible_at,
)
from webtable.pages.hooks import LinksChange
from webtable.pages.page import (
    NewCapture,
    Outcome,
    PageInfo,
    changed_in,
    info_of,
    metadata_of,
)
from webtable.records.index import Change, RowState
from webtable.store.model import Row
from webtable.store.mutation import Mutation, Put
from webtable.store.scan import ALL_VERSIONS
from webtable.store.schema import TableSchema
from webtable.store.table import Table

__all__ = [
    "BODY",
    "LINKS",
    "LINKS_OF",
    "Parse",
    "RowHistory",
    "RowWrite",
    "described",
    "history_of",
    "links_held",
    "links_identity",
    "read_histories",
    "read_history",
]

Parse = Callable[[str, bytes, str], PageInfo]
"""(URL, body, media type) → what the body says. For bodies that are stored already."""

_HISTORY = (schema.CAPTURES.encode(), BODY_OF, LINKS_OF)
_URL, _MODIFIED = b"metadata:url", b"metadata:last_modified"


def read_history(table: Table, row: bytes) -> RowHistory:
    """Reads the captures of a page, and which versions it has, without any body."""
    return history_of(table.get(row, _HISTORY, versions=ALL_VERSIONS))


def read_histories(
    table: Table, writes: Mapping[bytes, RowWrite], states: Iterable[RowState]
) -> None:
    """Reads the histories of rows that are about to be written, with few round trips."""
    rows = [state.row for state in states if writes[state.row].needs_history(state)]
    if len(rows) > 1:
        found = table.get_many(rows, _HISTORY, versions=ALL_VERSIONS)
        for row, each in zip(rows, found, strict=True):
            writes[row].history = history_of(each)


def history_of(found: Row | None) -> RowHistory:
    """Returns the history in a row that was read with it."""
    history = RowHistory({}, {}, {})
    if found is None:
        return history
    for column, timestamp, value, _ in found.raw_cells:
        if column == BODY_OF:
            history.bodies[timestamp // 1000] = value.decode()
        elif column == LINKS_OF:
            history.links[timestamp // 1000] = value.decode()
        elif column.startswith(b"captures:"):
            note = decode_note(column.partition(b":")[2], value)
            history.notes[note.time, note.digest] = note
    return history


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
        self.links: LinksChange | None = None
        self._table = table
        self._schema = described
        self._captures = sorted(captures, key=lambda each: (each.note.time, each.note.digest))
        self._parse = parse
        self._repeated: Repeated | None = None
        self.url = captures[0].url
        self.outcomes: dict[tuple[int, str], Outcome] = {}

    def __call__(self, state: RowState) -> Change | None:
        """Decides what to do; see `webtable.records.index.Decide`.

        Raises:
            ConflictError: the row holds another URL.
        """
        if self.guard is not None:
            self.guard()
        there = state.facts.get(_URL, b"").decode()
        if there not in ("", self.url):
            raise ConflictError(
                f"row {state.row!r:.200} holds {there!r:.200}, not {self.url!r:.200}",
                hint="two URLs have one key, which must not be; keep one of them elsewhere",
            )
        history, self.history = self.history, None
        repeated, self._repeated = self._repeated, None
        if repeated is not None:
            return self._repeat(state, repeated)
        if history is None:
            is_new = state.cell is None
            history = RowHistory({}, {}, {}) if is_new else read_history(self._table, state.row)
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
        """Returns the captures that the row does not have, and tells what each of all is."""
        known, fresh = dict(history.notes), []
        for capture in self._captures:
            note = capture.note
            key = note.time, note.digest
            if key in known:
                self.outcomes.setdefault(key, "unchanged")
                if rank(note) > rank(known[key]):
                    known[key] = note
                    fresh.append(capture)
                continue
            newest = max(known, default=None)
            if newest is None:
                self.outcomes[key] = "new"
            elif key < newest:
                self.outcomes[key] = "older"
            else:
                self.outcomes[key] = "unchanged" if newest[1] == note.digest else "changed"
            known[key] = note
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
        self._new = write.fresh(history)
        self._notes = {**history.notes, **{(c.note.time, c.note.digest): c.note for c in self._new}}
        self._counting = counting(self._notes.values())
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
            and c.note in self._counting
            and c.note.is_ok
            and history.links.get(c.note.time) == c.note.digest
        }

    def change(self) -> Change | None:
        """Returns what to do to the row."""
        if not self._new:
            return None
        for capture in self._new:
            column = b"captures:" + note_qualifier(capture.note)
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
        stored: Mapping[int, str],
        family: str,
        identity: Callable[[CaptureNote], str],
        brought: Collection[str],
    ) -> list[tuple[int, str]]:
        """Returns from when on which versions are to be put; `brought` came with new captures."""
        known = {*stored.values(), *self._history.bodies.values()}
        new = {capture.note.time for capture in self._new}
        # A body that comes after a reference to it makes the reference whole.
        new.update(
            note.time
            for note in self._counting
            if note.waits_for_body and note.digest in brought and note.digest not in known
        )
        puts = versions_to_put(
            self._counting,
            stored,
            new,
            identity,
            lambda each: each in brought or each in known or each == NO_LINKS,
        )
        newest, after = self._counting[-1], {**stored, **dict(puts)}
        ttl, holds = self._write.ttl_seconds(family), visible_at(newest.time, after)
        if (
            ttl is not None
            and holds is not None
            and newest.time - holds > ttl / 2
            and after[holds] == identity(newest)
        ):
            # Before the only version of what is still there expires, it is written again.
            return [*puts, (newest.time, after[holds])]
        return list(puts)

    def _put_bodies(self) -> None:
        stored = self._history.bodies
        times = self._times(stored, schema.CONTENT, lambda note: note.digest, self._bodies)
        for time, digest in times:
            body = self._body(digest)
            if body is not None:
                self._put(time, {BODY: body, BODY_OF: digest.encode()})

    def _put_links(self) -> None:
        stored = self._history.links
        brought = {*self._bodies, *self._infos}
        times = dict(self._times(stored, schema.OUTLINKS, links_identity, brought))
        for time, whose in {**times, **self._confirmed}.items():
            links, count = "", 0
            if whose in stored.values() and time not in self._confirmed:
                at = max(each for each, identity in stored.items() if identity == whose)
                links = self._write.stored(self._state.row, LINKS, at).decode()
                count = int(self._write.stored(self._state.row, LINK_COUNT, at) or 0)
            elif whose != NO_LINKS and (info := self._info(whose)) is not None:
                links, count = info.links, info.link_count
            values = {LINKS: links.encode(), LINK_COUNT: str(count).encode()}
            self._put(time, {**values, LINKS_OF: whose.encode()})

    def links_change(self) -> LinksChange | None:
        """Returns what became of the links of the page; None where they are as they were."""
        history = self._history
        is_new = self._state.cell is None
        before = counting(history.notes.values())
        was = _held(before[-1], history.links) if before else None
        put = {time: values for time, values in self._puts.items() if LINKS_OF in values}
        versions = {**history.links, **{t: v[LINKS_OF].decode() for t, v in put.items()}}
        newest = self._counting[-1]
        holds = _held(newest, versions)
        known = {*history.links.values(), holds}
        stored_now = {v[LINKS_OF].decode(): v[LINKS].decode() for v in put.values()}
        earlier = [text for whose, text in stored_now.items() if text and whose not in known]
        if not is_new and holds == was and visible_at(newest.time, versions) not in self._confirmed:
            return LinksChange(self._write.url, None, earlier) if earlier else None
        links = ""
        if holds not in (None, NO_LINKS):
            at = max(time for time, whose in versions.items() if whose == holds)
            stored = put[at][LINKS] if at in put else self._write.stored(self._state.row, LINKS, at)
            links = stored.decode()
        return LinksChange(self._write.url, links, earlier)

    def _body(self, digest: str) -> bytes | None:
        if digest in self._bodies:
            return self._bodies[digest]
        times = [time for time, whose in self._history.bodies.items() if whose == digest]
        return self._write.stored(self._state.row, BODY, max(times)) if times else None

    def _info(self, digest: str) -> PageInfo | None:
        """Returns what the body of a digest says, if there is one."""
        if digest not in self._infos and (body := self._body(digest)) is not None:
            note = next(note for note in self._counting if note.digest == digest)
            self._infos[digest] = self._write.parse(body, note)
        return self._infos.get(digest)

    # Metadata

    def _put_metadata(self) -> dict[bytes, bytes]:
        """Puts what the newest capture says, where that is new; returns the facts of the row."""
        facts = self._state.facts
        newest, modified = self._counting[-1], last_modified(self._counting)
        is_newer = self._history.notes.get((newest.time, newest.digest)) != newest
        same = [note for note in self._notes.values() if note.digest == newest.digest]
        is_told = newest.is_revisit and any(c.note.digest == newest.digest for c in self._new)
        if is_newer or is_told:
            capture = NewCapture(self._write.url, described(newest, same), None, None)
            info = self._newest_info(newest)
            told, said = metadata_of(capture, info, modified), info.said
        else:
            told, said = {_MODIFIED: encode_time(modified).encode()}, said_of(facts)
        told[HELD] = self._held(newest, said)
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
            put = {at: v[column].decode() for at, v in self._puts.items() if column in v}
            after = {**stored, **put}
            at = visible_at(newest.time, after)
            versions.append(at if at is not None and after[at] == identity else None)
        return encode_held(newest, (versions[0], versions[1]), run_start(self._counting), said)

    def _newest_info(self, newest: CaptureNote) -> PageInfo:
        info = self._info(newest.digest)
        if info is not None:
            return info
        # No body to be had: what an earlier capture of the same said may still be there.
        if self._state.facts.get(b"metadata:digest") == newest.digest.encode():
            count = int(self._state.facts.get(b"metadata:outlinks") or 0)
            said = said_of(self._state.facts)
            return info_of(self._state.facts)._replace(link_count=count, said=said)
        return PageInfo()


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


def _held(note: CaptureNote, versions: Mapping[int, str]) -> str | None:
    """Returns whose links are stored for a capture; None where its own are not known."""
    holds = visible_at(note.time, versions)
    if holds is None or versions[holds] != links_identity(note):
        return None
    return versions[holds]


def links_held(values: Mapping[bytes, bytes]) -> str:
    """Returns the links of the newest capture, of a row's newest values; empty where it has none.

    That is also where they are not known, as of a reference to a capture that was never loaded.
    """
    is_ok = 200 <= int(values.get(b"metadata:status_code") or 0) <= 299
    if not is_ok or values.get(LINKS_OF) != values.get(b"metadata:digest"):
        return ""
    return values.get(LINKS, b"").decode()


def links_identity(note: CaptureNote) -> str:
    """Returns whose links hold at a capture: equal ones share a version."""
    return note.digest if note.is_ok else NO_LINKS
