"""Verifies a store of pages: rows, bodies, facts and indexes.

Rows are compared with captures, bodies with digests, facts with bodies, and indexes with rows.
`docs/explain/consistency.md` describes exactly what is proved. Everything that was repaired is
verified again, so a report never calls something repaired that is not.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import msgspec

from webtable.errors import CorruptData, InvalidUrl
from webtable.index.build_and_verify import Report, verify
from webtable.loggers import get_logger
from webtable.pages.checking.complete_revisits import complete_waiting
from webtable.pages.checking.foreign_cells import (
    ForeignCell,
    has_markers,
    is_deleted,
    read_later_cells,
    split_cells,
)
from webtable.pages.checking.row_repair import HIDDEN, RowRepair, decided_columns
from webtable.pages.checking.stored_bodies import BodyChecker
from webtable.pages.checking.stored_facts import FactsChecker, facts_of_row
from webtable.pages.columns import (
    BODY_OF,
    CAPTURES_FAMILY,
    CHANGED,
    FACTS_FAMILY,
    HTTP_FAMILY,
    LINKS_OF,
    METADATA_COLUMNS,
    METADATA_FAMILY,
    REMOVED,
    URL,
    WAITS,
)
from webtable.pages.indexes import BUCKETS
from webtable.pages.keys import SaltedKeys
from webtable.pages.page_table import PageTable
from webtable.pages.removing.targets import row_hash
from webtable.pages.storing.content_revision import decode_changed
from webtable.pages.storing.row_history import history_of
from webtable.pages.storing.table_creation import build_index, unbuilt
from webtable.pages.storing.waiting_revisits import waits_problem
from webtable.store.cells_and_rows import Row
from webtable.store.scan import ALL_VERSIONS, Scan

__all__ = ["Difference", "PageReport", "Sample", "chosen_rows", "verify_pages"]

Sample: TypeAlias = int | Sequence[bytes]
"""Which pages are verified: so many random ones, or those with these row keys."""

_QUICK = (METADATA_FAMILY, CAPTURES_FAMILY)
_EVERYTHING = (*_QUICK, HTTP_FAMILY, BODY_OF, LINKS_OF, FACTS_FAMILY)
_MAX_EXAMPLES = 1_000
_BATCH_ROWS, _BATCH_CELLS = 200, 20_000
_URL_INDEX = "webtable_url_idx"

_log = get_logger("webtable.pages")


class Difference(NamedTuple):
    """One difference of a page or an index from its expected state."""

    row: bytes
    url: str
    what: str
    is_repaired: bool = False


class PageReport(msgspec.Struct):
    """The result of `verify_pages`.

    Attributes:
        pages: how many rows were verified.
        bodies: how many bodies were read and hashed.
        unproven: how many of them have only the digest of a compressed payload, not of the body
            itself; of those only the sizes were compared.
        differences: how many rows and indexes are wrong; `examples` has the first ones.
        repaired: how many were wrong and are right now.
        indexes: the differences of index entries.
        left: the result of a second run after a repair; None where nothing was repaired.
    """

    pages: int = 0
    bodies: int = 0
    unproven: int = 0
    differences: int = 0
    repaired: int = 0
    examples: list[Difference] = []
    indexes: Report = msgspec.field(default_factory=Report)
    left: PageReport | None = None

    @property
    def is_clean(self) -> bool:
        """Whether every query now returns right results; leftovers in indexes do no harm."""
        if self.left is not None:
            return self.left.is_clean
        return not self.differences and self.indexes.is_clean

    def add(self, found: Difference) -> None:
        """Adds a difference, repaired or not."""
        if found.is_repaired:
            self.repaired += 1
        else:
            self.differences += 1
        if len(self.examples) < _MAX_EXAMPLES:
            self.examples.append(found)


def verify_pages(
    pages: PageTable, *, repair: bool = False, sample: Sample | None = None, quick: bool = False
) -> PageReport:
    """Compares pages with their captures, bodies with their digests, indexes with pages.

    Args:
        repair: repair the differences: remove cells that no capture wrote, write the metadata from
            the captures and the facts from the bodies, build missing indexes, put missing entries,
            and remove leftovers that are older than ten minutes. Other cells that do not decode
            stay. Revisits without a body get that of another page, if one has it.
        sample: verify only this number of random pages, or these rows, and no
            indexes.
        quick: read no bodies.
    """
    store = pages.store.location
    _log.info("store '%s': %s its pages", store, "repairing" if repair else "verifying")
    report = _verify_once(pages, repair=repair, sample=sample, quick=quick)
    _log.info(
        "store '%s': pages verified: %d, differences: %d, repaired: %d",
        *(store, report.pages, report.differences, report.repaired),
    )
    if report.repaired or (repair and not report.indexes.is_clean):
        report.left = _verify_once(pages, repair=False, sample=sample, quick=quick)
    return report


def _verify_once(
    pages: PageTable, *, repair: bool, sample: Sample | None, quick: bool
) -> PageReport:
    report = PageReport()
    row_repair = RowRepair(pages) if repair else None
    bodies = None if quick else BodyChecker(pages.rows.table, FactsChecker(pages, repair=repair))
    for rows in _batches(_rows(pages, sample, _QUICK if quick else _EVERYTHING)):
        report.pages += sum(not is_deleted(row) for row in rows)
        _check_rows(pages, rows, report, row_repair, bodies)
    if bodies is not None:
        for wrong in bodies.flush():
            report.add(Difference(*wrong))
        report.bodies, report.unproven = bodies.bodies, bodies.unproven
    if repair and sample is None and not quick:
        for row_key, url, digest in complete_waiting(pages):
            what = f"a revisit had no body; another page has {digest}"
            report.add(Difference(row_key, url, what, is_repaired=True))
    if sample is None:
        _check_indexes(pages, report, repair=repair)
    return report


def _check_indexes(pages: PageTable, report: PageReport, *, repair: bool) -> None:
    for name, what in unbuilt(pages.rows).items():
        if repair:
            _log.info("store '%s': building index '%s' again: %s", pages.store.location, name, what)
            build_index(pages.rows, name)
        report.add(Difference(b"", "", f"index {name}: {what}", is_repaired=repair))
    lacking = unbuilt(pages.rows)
    names = [name for name in pages.rows.indexes if name not in lacking]
    if names:
        report.indexes = verify(pages.rows, names=names, repair=repair)


def _check_rows(
    pages: PageTable,
    rows: Sequence[Row],
    report: PageReport,
    row_repair: RowRepair | None,
    bodies: BodyChecker | None,
) -> None:
    later = _later_cells(pages, rows) if bodies is not None else {}
    for row in rows:
        mine = None if bodies is None else later.get(row.key, [])
        found = next(_differences(pages, row, mine), None)
        if found is not None:
            if row_repair is not None and not found.what.startswith("damaged"):
                left = row_repair.repair(row.key, partial(_first_difference, pages, row.key))
                found = found._replace(what=left or found.what, is_repaired=left is None)
                _log.info(
                    "page %.200s: %s: %.300s",
                    *(found.url, "repaired" if left is None else "not repaired", found.what),
                )
            report.add(found)
        elif bodies is not None:
            url = row.values().get(URL, b"").decode("utf-8", "replace")
            for wrong in bodies.add(row.key, url, history_of(row), facts_of_row(row)):
                report.add(Difference(*wrong))


def _later_cells(pages: PageTable, rows: Sequence[Row]) -> dict[bytes, list[ForeignCell]]:
    newest: dict[bytes, int] = {}
    for row in rows:
        try:
            notes, _ = split_cells(row)
        except CorruptData:
            continue
        if notes:
            newest[row.key] = max(notes)[0]
    return read_later_cells(pages.rows.table, newest) if newest else {}


def _first_difference(pages: PageTable, row_key: bytes) -> str | None:
    """Reads a row again and returns its first difference."""
    row = pages.rows.table.get(row_key, _EVERYTHING, versions=ALL_VERSIONS)
    if row is None:
        return None
    later = _later_cells(pages, [row]).get(row_key, [])
    found = next(_differences(pages, row, later), None)
    return None if found is None else found.what


def _differences(
    pages: PageTable, row: Row, later: Sequence[ForeignCell] | None
) -> Iterator[Difference]:
    """Yields the differences of a row; `later` is None where no bodies were read."""
    values = row.values()
    url = values.get(URL, b"").decode("utf-8", "replace")
    try:
        notes, foreign = split_cells(row)
    except CorruptData as error:
        yield Difference(row.key, url, f"damaged: {error.message}")
        return
    for cell in (*foreign, *(later or ())):
        yield Difference(row.key, url, str(cell))
    if not notes and REMOVED in values:
        yield from _tombstone_differences(row, values)
        return
    if not notes:
        if has_markers(pages.rows.table, row.key):
            yield Difference(row.key, url, HIDDEN)
        elif not is_deleted(row):
            yield Difference(row.key, url, "it has no captures")
        return
    for column in (*METADATA_COLUMNS, CHANGED):
        if column not in values:
            yield Difference(row.key, url, f"{column.decode()} is missing")
    # Only a read with bodies shows what a revisit waits for.
    has_revisits = WAITS in values or any(note.is_revisit for note in notes.values())
    if later is not None and has_revisits and (what := waits_problem(values, history_of(row))):
        yield Difference(row.key, url, what)
    if not _is_key_of(pages, row.key, url):
        yield Difference(row.key, url, f"damaged: its URL {url!r:.80} has another row key")
        return
    for column, expected in decided_columns(notes.values()).items():
        if values.get(column) != expected:
            name, is_now = column.decode(), values.get(column)
            yield Difference(row.key, url, f"{name} is {is_now!r:.60}, not {expected!r:.60}")


def _tombstone_differences(row: Row, values: Mapping[bytes, bytes]) -> Iterator[Difference]:
    """Yields what is wrong with the tombstone of a removed page."""
    if values[REMOVED].decode("utf-8", "replace") != row_hash(row.key):
        yield Difference(row.key, "", "damaged: its tombstone is not that of its row key")
    elif CHANGED not in values or decode_changed(values[CHANGED]).kind != "removed":
        yield Difference(row.key, "", "damaged: its tombstone is not a removal in the feed")
    elif not is_deleted(row):
        kept = sorted({column for column, _, _, _ in row.raw_cells})
        yield Difference(row.key, "", f"it is removed, but has other cells: {kept!r:.200}")


def _is_key_of(pages: PageTable, row_key: bytes, url: str) -> bool:
    try:
        return bool(url) and pages.keys.row_key(url) == row_key
    except (InvalidUrl, ValueError):
        return False


# Rows


def chosen_rows(pages: PageTable, sample: Sample) -> Iterator[bytes]:
    """Yields the row keys of random pages, each once, chosen by the hash of their URLs."""
    if not isinstance(sample, int):
        yield from sample
        return
    seen: set[bytes] = set()
    for _ in range(sample):
        start = secrets.token_hex(8).encode()
        if isinstance(pages.keys, SaltedKeys):
            start = secrets.choice(BUCKETS) + start
        row = next((row for row in _rows_around(pages, start) if row not in seen), None)
        if row is None:
            return
        seen.add(row)
        yield row


def _rows_around(pages: PageTable, start: bytes) -> Iterator[bytes]:
    """Yields all row keys in the order of the hash of their URLs, beginning at `start`."""
    for scan in (Scan(start=start, batch_rows=1), Scan(stop=start)):
        for hit in pages.rows.hits(_URL_INDEX, scan):
            yield hit.row


def _rows(pages: PageTable, sample: Sample | None, columns: tuple[bytes, ...]) -> Iterator[Row]:
    table = pages.rows.table
    if sample is None:
        yield from table.scan(columns=columns, versions=ALL_VERSIONS)
        return
    for row_key in chosen_rows(pages, sample):
        found = table.get(row_key, columns, versions=ALL_VERSIONS)
        if found is not None:
            yield found


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Yields rows in batches; rows with many captures make smaller batches."""
    batch: list[Row] = []
    cells = 0
    for row in rows:
        batch.append(row)
        cells += len(row.raw_cells)
        if len(batch) >= _BATCH_ROWS or cells >= _BATCH_CELLS:
            yield batch
            batch, cells = [], 0
    if batch:
        yield batch
