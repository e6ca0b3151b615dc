"""`SchemaUpdate`: the statements that bring a store to the declared tables, and running them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase

from webtable.config import Config, SchemaUpdateOptions
from webtable.errors import InvalidRequest, TableNotFound
from webtable.loggers import get_logger
from webtable.operations.schema_update.declared_tables import (
    Declared,
    configured_tables,
    merged,
    page_tables,
    record_class,
    record_tables,
)
from webtable.operations.schema_update.differences import (
    KINDS,
    Difference,
    Kind,
    alteration,
    differences,
    missing_splits,
)
from webtable.operations.schema_update.lost_cells import count_lost_cells
from webtable.operations.schema_update.statements import (
    CreateTable,
    PutCell,
    SplitTable,
)
from webtable.operations.schema_update.update_plan import DiffDraft, SchemaDiff
from webtable.pages.schema import PROFILES, SETTINGS_TABLE, TABLE, Profile
from webtable.pages.settings import SETTINGS_ROW, check_current, read_settings
from webtable.records import Record
from webtable.records.declaration_catalog import agree, declared_table
from webtable.records.record import declaration_of
from webtable.store.schema import TableSchema
from webtable.store.store import Store

__all__ = ["SchemaUpdate"]

_log = get_logger("webtable.operations")
_THREADS = 8


class SchemaUpdate:
    """Compares the declared tables with those of a store, and alters the store.

    Declared are the tables of pages and links of a store that has pages, the record classes of its
    catalog, `record_classes`, and what `config` names.

    Args:
        config: the switches, what to ignore, tables and record classes.
        record_classes: more record classes.
        on_progress: is called with a table and the number of its rows read while cells are counted.
    """

    def __init__(
        self,
        store: Store,
        config: Config | None = None,
        *,
        record_classes: Sequence[type[Record]] = (),
        on_progress: Callable[[str, int], None] | None = None,
    ) -> None:
        self._store = store
        self._config = config or Config()
        named = [record_class(text) for text in self.options.records]
        self._classes = [*named, *record_classes]
        self._on_progress = on_progress or (lambda *_: None)

    @property
    def options(self) -> SchemaUpdateOptions:
        """The switches."""
        return self._config.schema_update

    def diff(self, *, with_counts: bool = True) -> SchemaDiff:
        """Compares; changes nothing.

        Args:
            with_counts: count the cells that a statement would drop. It reads the keys of the
                families that change.

        Raises:
            SchemaMismatch: a record class disagrees with the store about what cannot be altered.
            FormatVersionError: the pages of the store must be upgraded first.
        """
        return self._diff_of(self._declared(), with_counts=with_counts)

    def apply(self) -> SchemaDiff:
        """Runs the statements of `diff`, and returns it. After an error, apply again.

        Each statement is complete or not made; a store that was altered in part is altered further
        by the next `apply`.
        """
        found = self.diff()
        self.run(found)
        return found

    def run(self, found: SchemaDiff) -> None:
        """Runs the statements of a diff that was just computed."""
        for statement in found.statements:
            statement.run(self._store)
            _log.info("store '%s': schema statement run: %s", self._store.location, statement.text)
        tables = set(self._store.tables())
        for record in self._classes:
            declared = declared_table(declaration_of(record))
            if declared.schema.name in tables and not self._is_ignored(declared.schema.name):
                agree(self._store, declared)

    def change_profile(self, profile: Profile, *, dry_run: bool = False) -> SchemaDiff:
        """Changes how long a store of pages keeps versions, to that of another profile.

        The profile is stored before tables are altered. So if this is interrupted, the next `apply`
        continues it, and drops data only if its own switch allows that.

        Raises:
            NotFound: the store has no pages.
            FormatVersionError: the pages must be upgraded first.
            InvalidRequest: versions would be dropped, and the switch `drop_data` is off.
        """
        if profile not in PROFILES:
            raise InvalidRequest(f"unknown profile '{profile}'", hint="use live or archive")
        found, drops_data = self._profile_diff(profile)
        if not drops_data or self.options.drop_data:
            if not dry_run:
                self.run(found)
            return found
        if dry_run:
            return found.withheld_by("drop_data")
        raise InvalidRequest(
            f"the profile '{profile}' drops data: {found.lost_cells:,} cells",
            hint="nothing was changed; allow it with --drop-data, in Python `drop_data`",
        )

    def _profile_diff(self, profile: Profile) -> tuple[SchemaDiff, bool]:
        """Returns what another profile changes, and whether that drops data."""
        before = read_settings(self._store)
        check_current(self._store, before)
        main = [each for each in self._declared(profile) if each.schema.name == TABLE]
        # All of it is one change: counted, run or withheld together.
        found = self._of_profile(drop_data=True)._diff_of(main, with_counts=True)
        careful = self._of_profile(drop_data=False)._diff_of(main, with_counts=False)
        drops_data = any(each.switch == "drop_data" for each in careful.withheld)
        column, value = b"a:profile", profile.encode()
        statements = found.statements
        if before.get(column) != value:
            statements = (PutCell(SETTINGS_TABLE, SETTINGS_ROW, column, value), *statements)
        return SchemaDiff(statements, lost_cells=found.lost_cells), drops_data

    def _of_profile(self, *, drop_data: bool) -> SchemaUpdate:
        """Returns an update with the switches of what a profile consists of."""
        allowed = SchemaUpdateOptions(create=False, options=False, drop_data=drop_data)
        config = Config(schema_update=allowed)
        return SchemaUpdate(self._store, config, on_progress=self._on_progress)

    # Comparing

    def _declared(self, profile: Profile | None = None) -> list[Declared]:
        return merged(
            [
                *page_tables(self._store, profile),
                *record_tables(self._store, self._classes),
                *configured_tables(self._config),
            ]
        )

    def _is_ignored(self, table: str) -> bool:
        return any(fnmatchcase(table, pattern) for pattern in self.options.ignore)

    def _diff_of(self, declared: Iterable[Declared], *, with_counts: bool) -> SchemaDiff:
        chosen = [each for each in declared if not self._is_ignored(each.schema.name)]
        described = self._described([each.schema.name for each in chosen])
        draft = DiffDraft()
        for each in chosen:
            stored = described[each.schema.name]
            if stored is not None:
                self._alter(draft, each, stored, with_counts=with_counts)
            elif each.may_create:
                self._create(draft, each)
        return draft.finished()

    def _create(self, draft: DiffDraft, declared: Declared) -> None:
        for statement in (*declared.before, CreateTable(declared.schema, declared.splits)):
            if self.options.create:
                draft.add(statement)
            else:
                draft.withhold(statement, "create")
        if declared.advice and self.options.create:
            draft.advise(f"table '{declared.schema.name}': {declared.advice}")

    def _described(self, names: Sequence[str]) -> dict[str, TableSchema | None]:
        def describe(name: str) -> TableSchema | None:
            try:
                return self._store.describe_table(name)
            except TableNotFound:
                return None

        existing = set(self._store.tables())
        found: dict[str, TableSchema | None] = dict.fromkeys(names)
        wanted = [name for name in found if name in existing]
        if not self._store.capabilities.cluster:
            found.update((name, describe(name)) for name in wanted)
            return found
        # Several at a time: a program waits for this at its start.
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="webtable-schema") as pool:
            found.update(zip(wanted, pool.map(describe, wanted), strict=True))
        return found

    def _alter(
        self, draft: DiffDraft, declared: Declared, stored: TableSchema, *, with_counts: bool
    ) -> None:
        """Adds the statements for a table that exists: one for everything that is allowed."""
        by_switch: dict[str, list[Difference]] = {}
        for each in differences(declared, stored, self._allowed()):
            by_switch.setdefault(self._switch_of(each), []).append(each)
        schema = stored
        for switch, found in sorted(by_switch.items()):  # "" comes first: what is allowed
            statement = alteration(stored.name, found)
            after = statement.changed(schema)
            lost: int | None = 0
            if any(each.drops_data for each in found):
                lost = self._count(schema, after) if with_counts else None
            if switch:
                draft.withhold(statement, switch, lost)
            else:
                draft.add(statement, lost)
                schema = after
        self._split(draft, declared)

    def _allowed(self) -> list[Kind]:
        return [kind for kind in KINDS if getattr(self.options, kind)]

    def _switch_of(self, each: Difference) -> str:
        """Returns the switch that withholds a change; empty where it is allowed."""
        if each.kind not in self._allowed():
            return each.kind
        return "drop_data" if each.drops_data and not self.options.drop_data else ""

    def _count(self, before: TableSchema, after: TableSchema) -> int:
        name = before.name
        return count_lost_cells(
            self._store, before, after, lambda rows: self._on_progress(name, rows)
        )

    def _split(self, draft: DiffDraft, declared: Declared) -> None:
        # The regions of an embedded store share their files: there is nothing to split.
        if not (self.options.splits and declared.splits and self._store.capabilities.cluster):
            return
        name = declared.schema.name
        starts = [region.start for region in self._store.admin.regions(name)]
        later = 0
        for keys in missing_splits(declared.splits, starts):
            # A region fresh from a split cannot be split again before it was compacted.
            draft.add(SplitTable(name, keys[len(keys) // 2]))
            later += len(keys) - 1
        if later:
            draft.advise(
                f"table '{name}': split keys that need another apply, once its new regions were"
                f" compacted: {later:,}"
            )
