"""`PageTable`: creates, opens, writes and reads a store of pages."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypedDict, Unpack

from webtable.errors import (
    AlreadyExists,
    BatchError,
    FormatVersionError,
    InvalidRequest,
    NotFound,
    SchemaMismatch,
    WebTableError,
)
from webtable.index.groups import add_marks
from webtable.index.rules import Clock
from webtable.index.table import IndexedTable
from webtable.pages import columns, schema
from webtable.pages.captures import Link, links_of_text
from webtable.pages.columns import BODY, LINKS
from webtable.pages.hooks import PageHook
from webtable.pages.indexes import BY_TIME, DIGESTS, page_indexes
from webtable.pages.keys import SALT_SPLITS, KeyScheme, SaltedKeys, key_scheme
from webtable.pages.page import NewCapture, Outcome, Page, PageContent, page_of
from webtable.pages.public_suffixes import Suffixes, newest_list, suffixes_of
from webtable.pages.schema import PROFILES, SETTINGS_TABLE, TABLE, Profile
from webtable.pages.storing.capture_writer import CaptureWriter
from webtable.pages.storing.history import CaptureNote, Versions
from webtable.pages.storing.newest_cell import CaptureSummary
from webtable.pages.storing.row_history import RowHistory, read_history
from webtable.pages.storing.row_write import Parse, links_identity
from webtable.pages.storing.table_creation import (
    PlannedTable,
    check_foreign,
    create_missing,
    index_table,
)
from webtable.pages.urls import typed_urls
from webtable.store.mutation import Mutation
from webtable.store.store import Store

__all__ = ["PageTable"]

FORMAT = "3"
_READABLE = ("1", "2", FORMAT)
"""Format 1 has no `metadata:held`: rows get it when they are written again. Up to format 2 the
indexes by time contain days only; the setting `a:times` names those that contain the second."""
_SETTINGS_ROW, _GROUPS, _TIMES = b"pages", b"a:groups", b"a:times"
_METADATA = (columns.METADATA_FAMILY,)


class PageSettings(NamedTuple):
    """The settings of a store of pages, chosen when it was created."""

    keys: KeyScheme
    profile: Profile
    suffixes: Suffixes
    written: str = FORMAT
    """The format of its rows."""
    exact_times: frozenset[str] = frozenset(BY_TIME)
    """The indexes by time that contain the second."""


class IndexOptions(TypedDict, total=False):
    """Options of the index machinery; see `webtable.index.table_base.IndexHome`."""

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
        exact_times: the indexes by time that contain the second; others contain the day only.
        parse: parses a stored body again.
    """

    def __init__(self, settings: PageSettings, rows: IndexedTable, parse: Parse) -> None:
        self.store = rows.store
        self.keys = settings.keys
        self.profile = settings.profile
        self.suffixes = settings.suffixes
        self.rows = rows
        self.hook: PageHook | None = None
        self.exact_times = settings.exact_times
        self._format = settings.written
        self.parse = parse
        self._writer = CaptureWriter(rows, settings.keys, parse)

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
            beside: tables that the caller creates afterwards; they are checked as well.

        Raises:
            AlreadyExists: the store has pages already.
            InvalidRequest: it has tables of another application with the same names, or its
                creation began with other keys or another profile.
        """
        is_embedded = store.capabilities.atomic_commits
        begun = _read_settings(store)
        if b"a:format" in begun:
            raise AlreadyExists(
                "store of pages", store.location, hint="open it, or drop its tables"
            )
        keys = _settled(begun, "keys", keys) or ("readable" if is_embedded else "salted")
        profile = _settled(begun, "profile", profile) or "archive"
        if profile not in PROFILES:
            raise InvalidRequest(f"unknown profile '{profile}'", hint="use live or archive")
        suffixes = suffixes_of(newest_list())
        scheme = key_scheme(keys, suffixes)
        main = schema.pages_schema(
            "archive" if profile == "archive" else "live", is_embedded=is_embedded
        )
        indexes = page_indexes(scheme, suffixes)
        planned = [
            PlannedTable(schema.settings_schema()),
            PlannedTable(main, SALT_SPLITS if isinstance(scheme, SaltedKeys) else ()),
            *(index_table(each, scheme, "ready", is_embedded=is_embedded) for each in indexes),
        ]
        check_foreign(store, [*(planned[1:] if begun else planned), *beside])
        create_missing(store, planned[:1])
        settings = store.table(SETTINGS_TABLE)
        chosen = {b"a:keys": keys.encode(), b"a:profile": profile.encode()}
        settings.put(_SETTINGS_ROW, chosen, durability="sync")
        create_missing(store, planned)
        # The format is written last: it marks the creation as complete.
        settings.put(
            _SETTINGS_ROW,
            {
                b"a:format": FORMAT.encode(),
                _GROUPS: b"digests",
                _TIMES: " ".join(BY_TIME).encode(),
                **chosen,
                b"a:suffixes": zlib.compress(suffixes.text.encode()),
            },
            durability="sync",
        )
        return cls.open(store, parse)

    @classmethod
    def open(cls, store: Store, parse: Parse, **options: Unpack[IndexOptions]) -> PageTable:
        """Opens a store of pages; the options are those of `IndexedTable`.

        Raises:
            NotFound: the store has no pages.
            SchemaMismatch: its creation was interrupted.
            FormatVersionError: the pages have a newer format.
        """
        values = _read_settings(store)
        if not values:
            raise NotFound(
                "store of pages", store.location, hint="create it with `webtable init`, then load"
            )
        written = values.get(b"a:format", b"").decode()
        if not written:
            raise SchemaMismatch(
                f"the store of pages '{store.location}' is not complete: `webtable init` was"
                " interrupted",
                hint="run `webtable init` again; it creates the missing tables",
            )
        if written not in _READABLE:
            raise FormatVersionError(
                f"the pages of store '{store.location}' have format "
                f"{written!r:.20}, this version of webtable reads formats up to {FORMAT}",
                hint="use a newer webtable",
            )
        suffixes = suffixes_of(zlib.decompress(values[b"a:suffixes"]).decode())
        keys = key_scheme(values[b"a:keys"].decode(), suffixes)
        profile: Profile = "archive" if values[b"a:profile"] == b"archive" else "live"
        # Older stores do not mark which pages have the same body.
        times = frozenset(values.get(_TIMES, b"").decode().split())
        indexes = page_indexes(keys, suffixes, with_groups=_GROUPS in values, exact_times=times)
        rows = IndexedTable(
            store, TABLE, indexes, columns=_METADATA, cells=columns.METADATA, **options
        )
        return cls(PageSettings(keys, profile, suffixes, written, times), rows, parse)

    def with_newest(self, name: str) -> PageTable:
        """Returns the pages with an index in the form of new stores.

        Where the store has an older form, the caller must rebuild the index afterwards, and other
        writers must open the store again.
        """
        if name == DIGESTS and not self.rows.index(name).is_grouped:
            return self.with_groups()
        if name not in BY_TIME or name in self.exact_times:
            return self
        # Close the index to readers first: it has no entries until it is rebuilt.
        self.rows.set_state(name, "building")
        self.store.truncate_table(self.rows.index(name).table)
        times = " ".join(sorted({*self.exact_times, name})).encode()
        settings = {b"a:format": FORMAT.encode(), _TIMES: times}
        self.store.table(SETTINGS_TABLE).put(_SETTINGS_ROW, settings)
        return PageTable.open(self.store, self.parse)

    def with_groups(self) -> PageTable:
        """Returns the pages with an index of digests that marks which pages have the same body.

        In an older store without such marks, the caller must rebuild the index afterwards, and
        other writers must open the store again.
        """
        indexes = page_indexes(self.keys, self.suffixes)
        (digests,) = (index for index in indexes if index.name == DIGESTS)
        add_marks(self.rows, digests)
        settings = {b"a:format": FORMAT.encode(), _GROUPS: b"digests"}
        self.store.table(SETTINGS_TABLE).put(_SETTINGS_ROW, settings)
        return PageTable.open(self.store, self.parse)

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
        self._settle_format()
        return self._writer.store(captures, also, self.hook)

    def store_summaries(self, captures: Sequence[CaptureSummary]) -> list[int | None]:
        """Stores those captures whose bodies, or that themselves, are stored already.

        All must be of different pages. The result is the same as that of `store_captures` with the
        bodies; the outcome is `unchanged`. Returns the number of links of each stored capture; None
        where the body is needed or the capture was rejected. Pass those to `store_captures`, which
        also returns the reason.
        """
        self._settle_format()
        return self._writer.repeat(captures, self.hook)

    def _settle_format(self) -> None:
        """Sets the format of the store before the first write of a row of this format."""
        if self._format != FORMAT:
            settings = self.store.table(SETTINGS_TABLE)
            settings.put(_SETTINGS_ROW, {b"a:format": FORMAT.encode()})
            self._format = FORMAT

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

    def contents(self, url: str) -> Iterator[PageContent]:
        """Yields every capture of a page, the oldest first, with its body where that is stored."""
        row = self.keys.row_key(url)
        history = read_history(self.rows.table, row)
        for _, note in sorted(history.notes.items()):
            body = self._version(row, BODY, history.bodies, note.time, note.digest)
            yield PageContent(note, body)

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


def _as_of(history: RowHistory, limit: int | None) -> CaptureNote | None:
    notes = history.counted
    return next((n for n in reversed(notes) if limit is None or n.time <= limit), None)


def _read_settings(store: Store) -> Mapping[bytes, bytes]:
    """Returns the settings of a store of pages; empty: its creation was never begun."""
    if SETTINGS_TABLE not in store.tables():
        return {}
    if [each.name for each in store.describe_table(SETTINGS_TABLE).families] != ["a"]:
        return {}  # a table of another application
    found = store.table(SETTINGS_TABLE).get(_SETTINGS_ROW)
    return {} if found is None else found.values()


def _settled(begun: Mapping[bytes, bytes], name: str, requested: str | None) -> str | None:
    """Returns an option as it was when the creation began, otherwise as it is requested."""
    chosen = begun.get(f"a:{name}".encode(), b"").decode() or None
    if chosen and requested and chosen != requested:
        raise InvalidRequest(
            f"the creation of this store began with {name}={chosen}, not {requested}, and stopped",
            hint="complete it with the same options, or drop its tables first",
        )
    return chosen or requested
