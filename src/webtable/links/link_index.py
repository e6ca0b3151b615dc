"""`LinkIndex`: creates and opens the link index of a store of pages."""

from __future__ import annotations

from typing import Unpack

from webtable.errors import FormatVersionError, NotFound
from webtable.index.indexed_table import Entry, Facts, Index, IndexedTable
from webtable.links import schema
from webtable.links.schema import Domains
from webtable.pages.page_table import IndexOptions, PageTable
from webtable.pages.schema import SETTINGS_TABLE
from webtable.pages.settings import HIGHEST_LINK_REVISION, INCARNATION, new_incarnation
from webtable.pages.storing.table_creation import (
    PlannedTable,
    check_foreign,
    create_missing,
    index_table,
)

__all__ = ["LINK_SETTINGS", "LinkIndex", "change_index"]

FORMAT = "1"
LINK_SETTINGS = b"links"
"""The row of the settings of a link index."""
_FORMAT, _SHARDS, _STATE = b"a:format", b"a:shards", b"a:state"
_READY, _STALE = b"ready", b"stale"
_SPLITS = tuple(b"p:" + each for each in (b"com.", b"com.h", b"com.s", b"net.", b"org.", b"org.m"))


class LinkIndex:
    """The link index of a store of pages. Obtain it from `create` or `open`; threads may share it.

    Attributes:
        pages: the pages that it indexes.
        rows: the rows `p:<uri>`, with the ranks and the feed of the links as their indexes.
        table, work: the two tables.
        shards: over how many rows the links to a page are spread.
        has_buckets: whether the entries of the feed of the links are in 16 buckets.
        domains: finds the registered domain of a URI.
    """

    def __init__(self, pages: PageTable, shards: int, **options: Unpack[IndexOptions]) -> None:
        self.pages = pages
        self.store = pages.store
        self.shards = shards
        self.has_buckets = shards > 1
        self.domains = Domains(pages.suffixes)
        self.rows = IndexedTable(
            self.store,
            schema.INDEX_TABLE,
            [*self._ranks(), change_index(has_buckets=self.has_buckets)],
            columns=(schema.INCOUNT, schema.AT, schema.CHANGED),
            cells=b"page:",
            prefix=b"p:",
            highest=HIGHEST_LINK_REVISION,
            clock_check=pages.rows.clock_check,
            **options,
        )
        self.table = self.rows.table
        self.work = self.store.table(schema.WORK_TABLE)

    @classmethod
    def create(cls, pages: PageTable) -> LinkIndex:
        """Creates the tables of the link index and opens it; completes an interrupted creation.

        If the store has pages already, the index is marked as stale: `rebuild` indexes them.

        Raises:
            InvalidRequest: the store has other tables with the names of a link index.
        """
        store = pages.store
        is_embedded = store.capabilities.atomic_commits
        planned = cls.planned_tables(is_embedded=is_embedded)
        settings = store.table(SETTINGS_TABLE)
        is_new = settings.get(LINK_SETTINGS) is None
        if is_new:
            check_foreign(store, planned)
        is_whole = {each.schema.name for each in planned} <= set(store.tables())
        create_missing(store, planned)
        if is_new or not is_whole:
            has_pages = next(pages.rows.table.scan(limit=1), None) is not None
            shards = 1 if is_embedded else schema.CLUSTER_SHARDS
            settings.put(
                LINK_SETTINGS,
                {
                    _FORMAT: FORMAT.encode(),
                    _SHARDS: str(shards).encode(),
                    _STATE: _STALE if has_pages else _READY,
                    INCARNATION: new_incarnation(),
                },
            )
        return cls.open(pages)

    @staticmethod
    def planned_tables(*, is_embedded: bool) -> list[PlannedTable]:
        """Returns the tables of a link index."""
        index = schema.index_schema(is_embedded=is_embedded)
        splits = () if is_embedded else _SPLITS
        feed = change_index(has_buckets=not is_embedded)
        return [
            PlannedTable(index, splits),
            PlannedTable(schema.work_schema()),
            index_table(feed, "ready", is_embedded=is_embedded),
        ]

    @classmethod
    def open(cls, pages: PageTable, **options: Unpack[IndexOptions]) -> LinkIndex:
        """Opens the link index of a store; the options are those of `IndexedTable`.

        Raises:
            NotFound: the store has no link index, or some of its tables are missing.
            FormatVersionError: the index has a newer format.
        """
        found = pages.store.table(SETTINGS_TABLE).get(LINK_SETTINGS)
        needed = {schema.INDEX_TABLE, schema.WORK_TABLE, schema.CHANGES}
        if found is None or not needed <= set(pages.store.tables()):
            raise NotFound(
                "link index", pages.store.location, hint="create it with `webtable links rebuild`"
            )
        values = found.values()
        if values.get(_FORMAT) != FORMAT.encode():
            raise FormatVersionError(
                f"the link index of store '{pages.store.location}' has format "
                f"{values.get(_FORMAT, b'')!r}, this version reads {FORMAT}",
                hint="use a newer webtable",
            )
        return cls(pages, int(values[_SHARDS]), **options)

    @property
    def is_ready(self) -> bool:
        """Whether it has all pages, except writes in progress; if not, rebuild it."""
        found = self.store.table(SETTINGS_TABLE).get(LINK_SETTINGS, (_STATE,))
        return found is not None and found.value(_STATE) == _READY

    def set_ready(self, is_ready: bool) -> None:
        """Stores whether the index has all pages."""
        state = _READY if is_ready else _STALE
        self.store.table(SETTINGS_TABLE).put(LINK_SETTINGS, {_STATE: state})

    def incarnation(self) -> str | None:
        """Returns what identifies the feed of the links: a rebuilt index has another.

        None while the index does not have all pages.
        """
        found = self.store.table(SETTINGS_TABLE).get(LINK_SETTINGS, (_STATE, INCARNATION))
        values = {} if found is None else found.values()
        return values.get(INCARNATION, b"").decode() if values.get(_STATE) == _READY else None

    def begin_incarnation(self) -> None:
        """Gives the feed of the links another incarnation: its cursors are rejected from now on."""
        values = {INCARNATION: new_incarnation()}
        self.store.table(SETTINGS_TABLE).put(LINK_SETTINGS, values)

    def _ranks(self) -> list[Index]:
        # Lists, not generators: this is called four times for each count that changes.
        def top(row: bytes, facts: Facts) -> list[Entry]:
            count = facts.get(schema.INCOUNT)
            return [Entry(schema.top_rank_row(int(count), row[2:]))] if count else []

        def in_domain(row: bytes, facts: Facts) -> list[Entry]:
            count = facts.get(schema.INCOUNT)
            if not count:
                return []
            uri = row[2:]
            return [Entry(schema.domain_rank_row(self.domains.of(uri), int(count), uri))]

        return [
            Index(
                name,
                entries,
                columns=(schema.INCOUNT,),
                table=schema.INDEX_TABLE,
                prefix=prefix,
                family=schema.RANK,
            )
            for name, entries, prefix in (
                (schema.TOP_RANKS, top, b"t:"),
                (schema.DOMAIN_RANKS, in_domain, b"d:"),
            )
        ]


def change_index(*, has_buckets: bool) -> Index:
    """Returns the index of the feed of the links."""

    def entries(row: bytes, facts: Facts) -> list[Entry]:
        changed = facts.get(schema.CHANGED)
        if not changed:
            return []
        return [Entry(schema.change_row(row, changed, has_buckets=has_buckets), b"rowkey")]

    return Index(
        schema.CHANGES,
        entries,
        columns=(schema.CHANGED,),
        family="ref",
        splits=schema.CHANGE_SPLITS if has_buckets else (),
    )
