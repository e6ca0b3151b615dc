"""The upgrade step `facts`: the facts of the bodies that are stored already.

It also notes which bodies the revisits of a row wait for.

Rows are read in their order, without bodies; then the bodies whose facts are missing are read and
parsed, a few megabytes at a time. To add facts twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from webtable.index.indexed_table import Change, IndexedTable, RowState
from webtable.pages import columns, schema
from webtable.pages.checking.stored_facts import with_facts
from webtable.pages.columns import BODY, CHARSET, DIGEST, FACTS, FACTS_FAMILY, URL, WAITS
from webtable.pages.indexes import page_indexes
from webtable.pages.schema import TABLE, facts_family
from webtable.pages.settings import HIGHEST_REVISION
from webtable.pages.storing.capture_parser import stored_facts
from webtable.pages.storing.row_history import HISTORY, history_of
from webtable.pages.storing.row_write import Parse
from webtable.pages.storing.waiting_revisits import encode_waits
from webtable.pages.upgrading.step_context import StepRun
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Mutation, Put
from webtable.store.scan import ALL_VERSIONS, Scan

__all__ = ["add_facts"]

_COLUMNS = (*HISTORY, URL, DIGEST, CHARSET, FACTS_FAMILY)
_BATCH_ROWS, _BATCH_CELLS = 100, 20_000
_BATCH_BYTES = 8 * 1024 * 1024


def add_facts(run: StepRun) -> None:
    """Adds the family `facts`, and the missing facts of all stored bodies."""
    store, settings = run.store, run.settings
    described = store.describe_table(TABLE)
    if described.family(schema.FACTS) is None:
        family = facts_family(is_embedded=store.capabilities.atomic_commits)
        store.alter_table(described.with_family(family))
    rows = IndexedTable(
        store,
        TABLE,
        page_indexes(settings.keys, settings.suffixes),
        columns=(columns.METADATA_FAMILY,),
        cells=columns.METADATA,
        highest=HIGHEST_REVISION,
    )
    done = 0
    for batch in _batches(rows, run.position or b""):
        _add(rows, run.parse, batch)
        done += len(batch)
        run.save_position(batch[-1].key + b"\0", done)


def _batches(rows: IndexedTable, start: bytes) -> Iterator[list[Row]]:
    batch: list[Row] = []
    cells = 0
    scan = Scan(start=start, columns=_COLUMNS, versions=ALL_VERSIONS, batch_rows=_BATCH_ROWS)
    for row in rows.table.scan(scan):
        batch.append(row)
        cells += len(row.raw_cells)
        if len(batch) >= _BATCH_ROWS or cells >= _BATCH_CELLS:
            yield batch
            batch, cells = [], 0
    if batch:
        yield batch


def _add(rows: IndexedTable, parse: Parse, batch: list[Row]) -> None:
    """Adds the missing facts of some rows, and what they wait for."""
    size = 0
    puts: dict[bytes, list[Mutation]] = {}
    for row in batch:
        values = row.values()
        url = values.get(URL, b"").decode()
        history = history_of(row)
        if waits := encode_waits(filter(None, history.lacking)):
            rows.write(row.key, partial(_waiting, waits))
        there = {column for column, _, _, _ in row.raw_cells if column.startswith(FACTS)}
        first: dict[str, int] = {}
        for time, digest in sorted(history.bodies.by_time.items()):
            first.setdefault(digest, time)
        for digest, time in first.items():
            column, note = FACTS + digest.encode(), history.first(digest)
            if column in there or note is None or not url:
                continue
            at = time * 1000
            found = rows.table.get(row.key, (BODY,), time_range=(at, at + 1))
            body = None if found is None else found.value(BODY)
            if body is None:
                continue
            # The charset may be from a header, which is not stored; the newest body has it here.
            charset = values.get(CHARSET, b"") if values.get(DIGEST) == digest.encode() else b""
            if charset:
                facts = stored_facts(url, body, note.type, charset.decode())
            else:
                facts = parse(url, body, note.type).facts
            if facts:
                puts.setdefault(row.key, []).append(Put(row.key, {column: facts}, timestamp=at))
                size += len(facts)
            if size >= _BATCH_BYTES:
                _write(rows, puts)
                puts, size = {}, 0
    _write(rows, puts)


def _waiting(waits: bytes, state: RowState) -> Change | None:
    """Notes what a row waits for; see `webtable.index.indexed_table.Decide`."""
    if URL not in state.facts or state.facts.get(WAITS, b"") == waits:
        return None
    return Change(put={WAITS: waits})


def _write(rows: IndexedTable, puts: dict[bytes, list[Mutation]]) -> None:
    if puts:
        rows.write_many([(row, partial(with_facts, each)) for row, each in puts.items()])
