"""`PageTable`: creates, opens, writes and reads a store of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypedDict, Unpack

from webtable.errors import AlreadyExists, BatchError, InvalidRequest, WebTableError
from webtable.index.clock_check import ClockCheck
from webtable.index.indexed_table import IndexedTable
from webtable.index.write_protocol import Clock, SystemClock, new_token
from webtable.pages import columns, schema
from webtable.pages.body_facts import Facts, decode_facts
from webtable.pages.captures import Link, links_of_text
from webtable.pages.columns import BODY, CAPTURE, FACTS, HEAD, LINKS
from webtable.pages.hooks import PageHook
from webtable.pages.indexes import page_indexes
from webtable.pages.keys import SALT_SPLITS, SaltedKeys, key_scheme
from webtable.pages.page import (
    CaptureSummary,
    NewCapture,
    Outcome,
    Page,
    PageContent,
    PageHead,
    StoredCapture,
    page_of,
)
from webtable.pages.public_suffixes import newest_list, suffixes_of
from webtable.pages.removing.block_list import BlockList
from webtable.pages.schema import PROFILES, SETTINGS_TABLE, TABLE, Profile
from webtable.pages.settings import (
    CLOCKS,
    HIGHEST_REVISION,
    SETTINGS_ROW,
    PageSettings,
    check_current,
    decode_settings,
    encode_settings,
    read_settings,
)
from webtable.pages.storing.capture_cells import (
    Origin,
    decode_note,
    decode_origin,
    note_qualifier,
)
from webtable.pages.storing.capture_writer import CaptureWriter
from webtable.pages.storing.page_versions import CaptureNote, Versions
from webtable.pages.storing.row_history import HISTORY, RowHistory, history_of, read_history
from webtable.pages.storing.row_write import Parse
from webtable.pages.storing.stored_links import links_identity
from webtable.pages.storing.table_creation import (
    PlannedTable,
    check_foreign,
    create_missing,
    index_table,
)
from webtable.pages.urls import typed_urls
from webtable.store.mutation import Mutation
from webtable.store.scan import ALL_VERSIONS
from webtable.store.store import Store

__all__ = ["PageTable"]

_METADATA = (columns.METADATA_FAMILY,)


class IndexOptions(TypedDict, total=False):
    """Options of the index machinery; see `webtable.index.table_and_indexes.IndexHome`."""

    workers: int
    clock: Clock | None
    tokens: Callable[[], bytes]


class PageTable:
    """The pages of a store. Use `create` or `open`; threads may share it.

    Attributes:
        keys: the scheme of the row keys.
        profile: how long versions are stored.
        suffixes: the public suffix list that the store was created with.
        rows: the main table with its indexes.
        hook: is called for every stored capture.
        parse: parses a stored body again.
        blocked: the URLs that may not be stored.
        incarnation: identifies the store; a restored or copied store has another one.
    """

    def __init__(self, settings: PageSettings, rows: IndexedTable, parse: Parse) -> None:
        self.store = rows.store
        self.keys = settings.keys
        self.profile = settings.profile
        self.suffixes = settings.suffixes
        self.rows = rows
        self.hook: PageHook | None = None
        self.parse = parse
        self.incarnation = settings.incarnation
        self.blocked = BlockList(rows.store, settings.keys, rows.new_token)
        self._writer = CaptureWriter(self, parse)

    @classmethod
    def create(
        cls,
        store: Store,
        parse: Parse,
        *,
        keys: str | None = None,
        profile: str | None = None,
        beside: Sequence[PlannedTable] = (),
    ) -> PageTable:
        """Creates the tables of a store of pages, and opens it.

        It also completes an interrupted creation, with the same keys and profile.

        Args:
            parse: parses a stored body again, where a capture refers to it.
            keys: `readable` or `salted`; None: readable in an embedded store, salted on a cluster.
            profile: `live` or `archive`; None: archive.
            beside: tables that the caller needs besides; they are checked and created as well.

        Raises:
            AlreadyExists: the store has pages already.
            InvalidRequest: it has tables of another application with the same names, or its
                creation began with other keys or another profile.
        """
        is_embedded = store.capabilities.atomic_commits
        begun = read_settings(store)
        if b"a:format" in begun:
            raise AlreadyExists(
                "store of pages", store.location, hint="open it, or drop its tables"
            )
        keys = _settled(begun, "keys", keys) or ("readable" if is_embedded else "salted")
        profile = _settled(begun, "profile", profile) or "archive"
        if profile not in PROFILES:
            raise InvalidRequest(f"unknown profile '{profile}'", hint="use live or archive")
        kept: Profile = "archive" if profile == "archive" else "live"
        suffixes = suffixes_of(newest_list())
        scheme = key_scheme(keys, suffixes)
        main = schema.pages_schema(kept, is_embedded=is_embedded)
        indexes = page_indexes(scheme, suffixes)
        planned = [
            PlannedTable(schema.settings_schema()),
            PlannedTable(main, SALT_SPLITS if isinstance(scheme, SaltedKeys) else ()),
            *(index_table(each, "ready", is_embedded=is_embedded) for each in indexes),
        ]
        check_foreign(store, [*(planned[1:] if begun else planned), *beside])
        create_missing(store, planned[:1])
        settings = store.table(SETTINGS_TABLE)
        chosen = {b"a:keys": keys.encode(), b"a:profile": profile.encode()}
        settings.put(SETTINGS_ROW, chosen, durability="sync")
        # Those of the caller too: on a cluster all tables are created at the same time.
        create_missing(store, [*planned, *beside])
        # The format is written last: it marks the creation as complete.
        whole = encode_settings(PageSettings(scheme, kept, suffixes))
        settings.put(SETTINGS_ROW, whole, durability="sync")
        return cls.open(store, parse)

    @classmethod
    def open(cls, store: Store, parse: Parse, **options: Unpack[IndexOptions]) -> PageTable:
        """Opens a store of pages; the options are those of `IndexedTable`.

        Raises:
            NotFound: the store has no pages.
            SchemaMismatch: its creation was interrupted.
            FormatVersionError: the pages have a newer format, or an earlier one and must be
                upgraded first.
        """
        values = read_settings(store)
        check_current(store, values)
        settings = decode_settings(values)
        indexes = page_indexes(settings.keys, settings.suffixes)
        rows = IndexedTable(
            store,
            TABLE,
            indexes,
            columns=_METADATA,
            cells=columns.METADATA,
            highest=HIGHEST_REVISION,
            clock_check=_clock_check(store, options),
            **options,
        )
        return cls(settings, rows, parse)

    # Writing

    def store_captures(
        self, captures: Sequence[NewCapture], also: Sequence[tuple[str, Mutation]] = ()
    ) -> list[Outcome]:
        """Stores captures in any order; a repeated capture is stored once.

        Returns the outcome of each. In an embedded store all are one commit, unless they are very
        large.

        Args:
            also: (table, mutation) pairs for the same commit; in an embedded store only.

        Raises:
            BatchError: some captures were rejected; it has their positions. The others are stored.
        """
        results = self.try_captures(captures, also)
        rejected = {at: each for at, each in enumerate(results) if isinstance(each, WebTableError)}
        if rejected:
            message = f"{len(rejected):,} of {len(captures):,} captures not stored"
            raise BatchError(message, list(rejected.values()), list(rejected))
        return [each for each in results if not isinstance(each, WebTableError)]

    def try_captures(
        self, captures: Sequence[NewCapture], also: Sequence[tuple[str, Mutation]] = ()
    ) -> list[Outcome | WebTableError]:
        """Stores captures as `store_captures` does; returns the error of each rejected capture.

        All captures of a page are rejected together.

        Raises:
            WebTableError: the error concerns all captures.
        """
        return self._writer.store(captures, also, self.hook)

    def store_summaries(self, captures: Sequence[CaptureSummary]) -> list[int | None]:
        """Stores those captures whose bodies, or that themselves, are stored already.

        All must be of different pages. The result is the same as that of `store_captures` with the
        bodies; the outcome is `unchanged`. Returns the number of links of each stored capture; None
        where the body is needed or the capture was rejected. Pass those to `store_captures`, which
        also returns the reason.
        """
        return self._writer.repeat(captures, self.hook)

    def complete_revisits(
        self, revisits: Sequence[NewCapture], known: Mapping[str, bytes]
    ) -> list[NewCapture]:
        """Stores revisits again, with bodies that other pages have; returns the completed ones.

        Args:
            revisits: as `webtable.pages.storing.waiting_revisits` finds them.
            known: digest → a row that has the body.
        """
        return self._writer.complete(revisits, known, self.hook)

    # Reading

    def page(self, url: str) -> Page | None:
        """Returns a page as of its newest capture; None when it is not stored."""
        row = self.keys.row_key(url)
        found = self.rows.table.get(row, _METADATA)
        return None if found is None else page_of(row, found.values())

    def find_url(self, text: str) -> str:
        """Returns the URL of a typed text: https, or http where only that page is stored.

        Raises:
            InvalidUrl: the text is not a URL.
        """
        urls = typed_urls(text)
        if len(urls) > 1:
            rows = [self.keys.row_key(url) for url in urls]
            found = self.rows.table.get_many(rows, (columns.URL,))
            urls = [url for url, row in zip(urls, found, strict=True) if row is not None] or urls
        return urls[0]

    def captures(self, url: str) -> list[CaptureNote]:
        """Returns the captures of a page, the oldest first."""
        history = read_history(self.rows.table, self.keys.row_key(url))
        return [note for _, note in sorted(history.notes.items())]

    def content(self, url: str, as_of: int | None = None) -> PageContent | None:
        """Returns a page as it was at a second, the newest one by default.

        None when the page was not captured up to then. The body is None where it was never stored,
        or has expired.
        """
        row = self.keys.row_key(url)
        history = read_history(self.rows.table, row)
        note = _as_of(history, as_of)
        if note is None:
            return None
        return PageContent(note, self._version(row, BODY, history.bodies, note.time, note.digest))

    def contents(self, url: str) -> Iterator[StoredCapture]:
        """Yields every capture of a page, the oldest first, with its body and head."""
        row = self.keys.row_key(url)
        found = self.rows.table.get(row, HISTORY, versions=ALL_VERSIONS)
        history = history_of(found)
        for _, note in sorted(history.notes.items()):
            cell = None if found is None else found.value(CAPTURE + note_qualifier(note))
            origin = Origin() if cell is None else decode_origin(cell)
            body = self._version(row, BODY, history.bodies, note.time, note.digest)
            yield StoredCapture(note, origin, body, self.head_of(url, note))

    def head(self, url: str, as_of: int | None = None) -> PageHead | None:
        """Returns the head of a page's response at a second, of the newest one by default.

        None when the page was not captured up to then.
        """
        note = _as_of(read_history(self.rows.table, self.keys.row_key(url)), as_of)
        return None if note is None else PageHead(note, self.head_of(url, note))

    def origins(self, url: str) -> list[tuple[CaptureNote, Origin]]:
        """Returns the captures of a page and where they came from, the oldest first."""
        found = self.rows.table.get(self.keys.row_key(url), (columns.CAPTURES_FAMILY,))
        cells = [] if found is None else found.raw_cells
        captures = [
            (decode_note(column[len(CAPTURE) :], value), decode_origin(value))
            for column, _, value, _ in cells
        ]
        return sorted(captures, key=lambda each: (each[0].time, each[0].digest))

    def head_of(self, url: str, note: CaptureNote) -> bytes | None:
        """Returns the head of a capture; None where it is not stored."""
        column = HEAD + note_qualifier(note)
        found = self.rows.table.get(self.keys.row_key(url), (column,))
        return None if found is None else found.value(column)

    def links(self, url: str, as_of: int | None = None) -> list[Link] | None:
        """Returns the links of a page as it was at a second, the newest one by default.

        A response that was no success has no links. None when the page was not captured up to
        then, or its links have expired.
        """
        row = self.keys.row_key(url)
        history = read_history(self.rows.table, row)
        note = _as_of(history, as_of)
        if note is None:
            return None
        text = self._version(row, LINKS, history.links, note.time, links_identity(note))
        return None if text is None else links_of_text(text.decode())

    def facts(self, url: str, as_of: int | None = None) -> Facts | None:
        """Returns the facts of the body of a page as it was at a second, the newest by default.

        None when the page was not captured up to then, or its body was never stored or has no
        facts, such as an image. Facts remain when the body expires.

        Raises:
            CorruptData: the cell is damaged.
        """
        row = self.keys.row_key(url)
        if as_of is None:
            found = self.rows.table.get(row, (columns.DIGEST,))
            digest = None if found is None else found.value(columns.DIGEST)
        else:
            note = _as_of(read_history(self.rows.table, row), as_of)
            digest = None if note is None else note.digest.encode()
        if not digest:
            return None
        found = self.rows.table.get(row, (FACTS + digest,))
        value = None if found is None else found.value(FACTS + digest)
        return None if value is None else decode_facts(value)

    def _version(
        self, row: bytes, column: bytes, versions: Versions, time: int, identity: str
    ) -> bytes | None:
        """Reads the version that is valid at a second; None where it has another identity."""
        visible = versions.visible(time)
        if visible is None or versions.by_time[visible] != identity:
            return None
        at = visible * 1000
        found = self.rows.table.get(row, (column,), time_range=(at, at + 1))
        return None if found is None else found.value(column)


def _clock_check(store: Store, options: IndexOptions) -> ClockCheck | None:
    """Returns what compares the clock of a writer with that of a cluster."""
    if store.capabilities.atomic_commits:
        return None
    clock, new = options.get("clock"), options.get("tokens", new_token)
    return ClockCheck(store, clock or SystemClock(), CLOCKS, new())


def _as_of(history: RowHistory, limit: int | None) -> CaptureNote | None:
    notes = history.counted
    return next((n for n in reversed(notes) if limit is None or n.time <= limit), None)


def _settled(begun: Mapping[bytes, bytes], name: str, requested: str | None) -> str | None:
    """Returns an option as it was when the creation began, otherwise as it is requested."""
    chosen = begun.get(f"a:{name}".encode(), b"").decode() or None
    if chosen and requested and chosen != requested:
        raise InvalidRequest(
            f"the creation of this store began with {name}={chosen}, not {requested}, and stopped",
            hint="complete it with the same options, or drop its tables first",
        )
    return chosen or requested
