"""`LinkIndex`: creates and opens the link index of a store of pages."""

from __future__ import annotations

from typing import Unpack

from webtable.errors import FormatVersionError, NotFound
from webtable.index.indexed_table import Entry, Facts, Index, IndexedTable
from webtable.links import schema
from webtable.links.schema import Domains
from webtable.pages.page_table import IndexOptions, PageTable
from webtable.pages.schema import SETTINGS_TABLE
from webtable.pages.storing.table_creation import PlannedTable, check_foreign, create_missing

__all__ = ["LinkIndex"]

FORMAT = "1"
_SETTINGS_ROW = b"links"
_FORMAT, _SHARDS, _STATE = b"a:format", b"a:shards", b"a:state"
_READY, _STALE = b"ready", b"stale"
_SPLITS = tuple(b"p:" + each for each in (b"com.", b"com.h", b"com.s", b"net.", b"org.", b"org.m"))


class LinkIndex:
    """The link index of a store of pages. Obtain it from `create` or `open`; threads may share it.

    Attributes:
        pages: the pages that it indexes.
        rows: the rows `p:<uri>`, with the ranks as their indexes.
        table, work: the two tables.
        shards: over how many rows the links to a page are spread.
        domains: finds the registered domain of a URI.
    """

    def __init__(self, pages: PageTable, shards: int, **options: Unpack[IndexOptions]) -> None:
        self.pages = pages
        self.store = pages.store
        self.shards = shards
        self.domains = Domains(pages.suffixes)
        self.rows = IndexedTable(
            self.store,
            schema.INDEX_TABLE,
            self._ranks(),
            columns=(schema.INCOUNT, schema.AT),
            cells=b"page:",
            prefix=b"p:",
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
        is_new = settings.get(_SETTINGS_ROW) is None
        if is_new:
            check_foreign(store, planned)
        is_whole = {each.schema.name for each in planned} <= set(store.tables())
        create_missing(store, planned)
        if is_new or not is_whole:
            has_pages = next(pages.rows.table.scan(limit=1), None) is not None
            shards = 1 if is_embedded else schema.CLUSTER_SHARDS
            settings.put(
                _SETTINGS_ROW,
                {
                    _FORMAT: FORMAT.encode(),
                    _SHARDS: str(shards).encode(),
                    _STATE: _STALE if has_pages else _READY,
                },
            )
        return cls.open(pages)

    @staticmethod
    def planned_tables(*, is_embedded: bool) -> list[PlannedTable]:
        """Returns the tables of a link index."""
        index = schema.index_schema(is_embedded=is_embedded)
        splits = () if is_embedded else _SPLITS
        return [PlannedTable(index, splits), PlannedTable(schema.work_schema())]

    @classmethod
    def open(cls, pages: PageTable, **options: Unpack[IndexOptions]) -> LinkIndex:
        """Opens the link index of a store; the options are those of `IndexedTable`.

        Raises:
            NotFound: the store has no link index, or some of its tables are missing.
            FormatVersionError: the index has a newer format.
        """
        found = pages.store.table(SETTINGS_TABLE).get(_SETTINGS_ROW)
        if found is None or not {schema.INDEX_TABLE, schema.WORK_TABLE} <= set(
            pages.store.tables()
        ):
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
        found = self.store.table(SETTINGS_TABLE).get(_SETTINGS_ROW, (_STATE,))
        return found is not None and found.value(_STATE) == _READY

    def set_ready(self, is_ready: bool) -> None:
        """Stores whether the index has all pages."""
        state = _READY if is_ready else _STALE
        self.store.table(SETTINGS_TABLE).put(_SETTINGS_ROW, {_STATE: state})

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
