"""`PageTable`: a store of pages, made, opened, written and read."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypedDict, Unpack

from webtable.errors import AlreadyExists, FormatVersionError, InvalidRequest, NotFound
from webtable.pages import schema
from webtable.pages.captures import Link, links_of_text
from webtable.pages.held import Keeping, Offered, RepeatWrite
from webtable.pages.history import CaptureNote, counting, visible_at
from webtable.pages.hooks import LinksChange, PageHook
from webtable.pages.indexes import DIGESTS, page_indexes
from webtable.pages.keys import SALT_SPLITS, KeyScheme, SaltedKeys, key_scheme
from webtable.pages.page import NewCapture, Outcome, Page, PageContent, page_of
from webtable.pages.schema import PROFILES, SETTINGS_TABLE, TABLE, Profile
from webtable.pages.suffixes import Suffixes, newest_list, suffixes_of
from webtable.pages.writing import (
    BODY,
    LINKS,
    Parse,
    RowHistory,
    RowWrite,
    links_identity,
    read_histories,
    read_history,
)
from webtable.records.index import IndexedTable
from webtable.records.index_groups import add_marks
from webtable.records.index_rules import Clock
from webtable.store.mutation import Mutation, Write
from webtable.store.store import Store

__all__ = ["PageTable"]

FORMAT = "2"
_READABLE = ("1", FORMAT)
"""Format 1 has no `metadata:held`: rows get it when they are written again."""
_SETTINGS_ROW, _GROUPS = b"pages", b"a:groups"
_METADATA = (b"metadata",)
_EXPIRING = (schema.CONTENT, schema.OUTLINKS)


class PageSettings(NamedTuple):
    """How a store of pages was made."""

    keys: KeyScheme
    profile: Profile
    suffixes: Suffixes
    written: str = FORMAT
    """The format of its rows."""


class IndexOptions(TypedDict, total=False):
    """How the index machinery works here; see `webtable.records.index_home.IndexHome`."""

    workers: int
    clock: Clock | None
    tokens: Callable[[], bytes]


class PageTable:
    """The pages of a store. Made by `create` or `open`; share it between threads.

    Attributes:
        keys: how the pages are keyed.
        profile: how long versions are kept.
        suffixes: the public suffix list that the store was made with.
        rows: the main table with its indexes.
        hook: is told of every capture that is stored.
    """

    def __init__(self, settings: PageSettings, rows: IndexedTable, parse: Parse) -> None:
        self.store = rows.store
        self.keys = settings.keys
        self.profile = settings.profile
        self.suffixes = settings.suffixes
        self.rows = rows
        self.hook: PageHook | None = None
        self._format = settings.written
        self._parse = parse
        self._schema = self.store.describe_table(TABLE)

    @classmethod
    def create(
        cls,
        store: Store,
        parse: Parse,
        *,
        keys: str | None = None,
        profile: str = "live",
    ) -> PageTable:
        """Makes the tables of a store of pages, and opens it.

        Args:
            parse: what reads a stored body again, where a capture refers to it.
            keys: `readable` or `salted`; None: readable in an embedded store, salted on a cluster.
            profile: `live` or `archive`.

        Raises:
            AlreadyExists: the store has pages already.
        """
        is_embedded = store.capabilities.atomic_commits
        if profile not in PROFILES:
            raise InvalidRequest(f"no profile is called '{profile}'", hint="take live or archive")
        suffixes = suffixes_of(newest_list())
        scheme = key_scheme(keys or ("readable" if is_embedded else "salted"), suffixes)
        tables = set(store.tables())
        if SETTINGS_TABLE in tables:
            raise AlreadyExists(
                "store of pages", store.location, hint="open it, or drop its tables"
            )
        splits = SALT_SPLITS if isinstance(scheme, SaltedKeys) else ()
        if TABLE not in tables:  # a creation that was cut off goes on where it was
            described = schema.pages_schema(profile, is_embedded=is_embedded)
            store.create_table(described, splits=splits)
        for index in page_indexes(scheme, suffixes):
            if index.table not in tables:
                described = schema.packed_schema(index.schema("ready"), is_embedded=is_embedded)
                store.create_table(described, splits=index.splits or splits)
        # The settings come last: they say that everything else is there.
        settings = store.create_table(schema.settings_schema())
        settings.put(
            _SETTINGS_ROW,
            {
                b"a:format": FORMAT.encode(),
                _GROUPS: b"digests",
                b"a:keys": scheme.name.encode(),
                b"a:profile": profile.encode(),
                b"a:suffixes": zlib.compress(suffixes.text.encode()),
            },
        )
        return cls.open(store, parse)

    @classmethod
    def open(cls, store: Store, parse: Parse, **options: Unpack[IndexOptions]) -> PageTable:
        """Opens a store of pages; the options are those of `IndexedTable`.

        Raises:
            NotFound: the store has no pages.
            FormatVersionError: they are of a newer format.
        """
        found = None
        if SETTINGS_TABLE in store.tables():
            found = store.table(SETTINGS_TABLE).get(_SETTINGS_ROW)
        if found is None:
            raise NotFound(
                "store of pages", store.location, hint="make it with `webtable init`, then load"
            )
        values = found.values()
        written = values.get(b"a:format", b"").decode()
        if written not in _READABLE:
            raise FormatVersionError(
                f"the pages of store '{store.location}' have format "
                f"{written!r:.20}, this version knows {FORMAT}",
                hint="use a newer webtable",
            )
        suffixes = suffixes_of(zlib.decompress(values[b"a:suffixes"]).decode())
        keys = key_scheme(values[b"a:keys"].decode(), suffixes)
        profile: Profile = "archive" if values[b"a:profile"] == b"archive" else "live"
        # Stores made before that do not mark which pages have the same body.
        indexes = page_indexes(keys, suffixes, with_groups=_GROUPS in values)
        rows = IndexedTable(store, TABLE, indexes, columns=_METADATA, cells=b"metadata:", **options)
        return cls(PageSettings(keys, profile, suffixes, written), rows, parse)

    def with_groups(self) -> PageTable:
        """Returns the pages with an index of digests that marks which pages have the same body.

        In a store made before there were such marks that index has to be built anew then, and
        whoever has the store open for writing must open it again.
        """
        indexes = page_indexes(self.keys, self.suffixes)
        (digests,) = (index for index in indexes if index.name == DIGESTS)
        add_marks(self.rows, digests)
        settings = {b"a:format": FORMAT.encode(), _GROUPS: b"digests"}
        self.store.table(SETTINGS_TABLE).put(_SETTINGS_ROW, settings)
        return PageTable.open(self.store, self._parse)

    # Writing

    def store_captures(
        self, captures: Sequence[NewCapture], also: Sequence[tuple[str, Mutation]] = ()
    ) -> list[Outcome]:
        """Stores captures, in any order, each once however often it comes.

        Returns what each was. In an embedded store all of it is one commit.

        Args:
            also: (table, mutation) pairs for the same commit; in an embedded store only.

        Raises:
            BatchError: some pages were not written; it names their positions.
        """
        keys = [self.keys.row_key(capture.url) for capture in captures]
        by_row: dict[bytes, list[NewCapture]] = {}
        for row, capture in zip(keys, captures, strict=True):
            by_row.setdefault(row, []).append(capture)
        self._settle_format()
        writes, keeping = {}, self._keeping()
        for row, mine in by_row.items():
            writes[row] = RowWrite(self.rows.table, self._schema, mine, self._parse)
            writes[row].keeping = keeping
        self._write(captures, writes, also)
        return [
            writes[row].outcomes[each.note.time, each.note.digest]
            for row, each in zip(keys, captures, strict=True)
        ]

    def take_offered(self, captures: Sequence[Offered]) -> list[int | None]:
        """Stores those captures whose bodies are stored already, or are there themselves.

        They must be of different pages. What is stored is what `store_captures` would, given the
        bodies; its outcome is `unchanged`. Returns the number of links of each that was stored;
        None where the body is needed, to be stored by `store_captures`.

        Raises:
            BatchError: some pages were not written; it names their positions.
        """
        self._settle_format()
        keeping, hook = self._keeping(), self.hook
        writes = [RepeatWrite(capture, keeping) for capture in captures]
        items = [(self.keys.row_key(each.capture.url), each) for each in writes]
        if hook is None or self.store.capabilities.atomic_commits:
            # Their links are as they were: the hook has nothing to do.
            self.rows.write_many(items)
        else:
            begun = hook.begin([NewCapture(each.url, each.note, None, None) for each in captures])
            for write in writes:
                write.guard = begun.check
            self.rows.write_many(items)
            hook.finish(begun, [])
        return [each.links for each in writes]

    def _keeping(self) -> Keeping:
        ttl = [family.ttl_seconds for family in map(self._schema.family, _EXPIRING) if family]
        return Keeping(ttl[0], ttl[1], self.rows.clock.now_ms() / 1000)

    def _settle_format(self) -> None:
        """Says, before the first write, that rows of this format are there from now on."""
        if self._format != FORMAT:
            settings = self.store.table(SETTINGS_TABLE)
            settings.put(_SETTINGS_ROW, {b"a:format": FORMAT.encode()})
            self._format = FORMAT

    def _write(
        self,
        captures: Sequence[NewCapture],
        writes: Mapping[bytes, RowWrite],
        also: Sequence[tuple[str, Mutation]],
    ) -> None:
        items, hook = list(writes.items()), self.hook
        before = partial(read_histories, self.rows.table, writes)
        if hook is None:
            self.rows.write_many(items, also=also, before=before)
        elif self.store.capabilities.atomic_commits:

            def together() -> list[tuple[str, Write]]:
                return [*also, *hook.together(_changes(writes))]

            try:
                self.rows.write_many(items, also=together, before=before)
            except BaseException:
                hook.forget()
                raise
        else:
            begun = hook.begin(captures)
            for write in writes.values():
                write.guard = begun.check
            self.rows.write_many(items, also=also, before=before)
            hook.finish(begun, _changes(writes))

    # Reading

    def page(self, url: str) -> Page | None:
        """Returns what the newest capture of a page said; None when there is none."""
        row = self.keys.row_key(url)
        found = self.rows.table.get(row, _METADATA)
        return None if found is None else page_of(row, found.values())

    def captures(self, url: str) -> list[CaptureNote]:
        """Returns the captures of a page, the oldest first."""
        history = read_history(self.rows.table, self.keys.row_key(url))
        return [note for _, note in sorted(history.notes.items())]

    def content(self, url: str, as_of: int | None = None) -> PageContent | None:
        """Returns a page as it was at a second, the newest one by default.

        None when the page was not captured by then. The body is None where it was never stored,
        or is not kept any more.
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

        An answer that was no success has none. None when the page was not captured by then, or
        its links are not kept any more.
        """
        row = self.keys.row_key(url)
        history = read_history(self.rows.table, row)
        note = _as_of(history, as_of)
        if note is None:
            return None
        text = self._version(row, LINKS, history.links, note.time, links_identity(note))
        return None if text is None else links_of_text(text.decode())

    def _version(
        self, row: bytes, column: bytes, versions: Mapping[int, str], time: int, identity: str
    ) -> bytes | None:
        """Reads what holds at a second, if that is what it should be."""
        holds = visible_at(time, versions)
        if holds is None or versions[holds] != identity:
            return None
        at = holds * 1000
        found = self.rows.table.get(row, (column,), time_range=(at, at + 1))
        return None if found is None else found.value(column)


def _changes(writes: Mapping[bytes, RowWrite]) -> list[LinksChange]:
    return [write.links for write in writes.values() if write.links is not None]


def _as_of(history: RowHistory, limit: int | None) -> CaptureNote | None:
    notes = counting(history.notes.values())
    return next((n for n in reversed(notes) if limit is None or n.time <= limit), None)
