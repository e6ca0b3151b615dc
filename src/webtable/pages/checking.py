"""Looking after a store of pages: whether rows agree with their captures, and indexes with rows."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from webtable.errors import CorruptData
from webtable.pages.cells import encode_time
from webtable.pages.held import HELD
from webtable.pages.history import CaptureNote, counting, last_modified
from webtable.pages.keys import SaltedKeys
from webtable.pages.table import PageTable
from webtable.pages.writing import described, history_of, read_history
from webtable.records.index import Change, RowState
from webtable.records.upkeep import Report, verify
from webtable.store.model import Row
from webtable.store.mutation import Put
from webtable.store.scan import Scan

__all__ = ["Difference", "PageReport", "chosen_rows", "verify_pages"]

_FAMILIES = (b"metadata", b"captures")
_MOST_KEPT = 1_000
_URL_INDEX = "webtable_url_idx"


class Difference(NamedTuple):
    """Something about a page that is not as it should be."""

    row: bytes
    url: str
    what: str
    is_mended: bool = False


class PageReport(msgspec.Struct):
    """What `verify_pages` found.

    Attributes:
        pages: rows looked at.
        differences: how many rows do not agree with their captures; `examples` has the first ones.
        indexes: what is wrong with the indexes.
    """

    pages: int = 0
    differences: int = 0
    examples: list[Difference] = []
    indexes: Report = msgspec.field(default_factory=Report)

    @property
    def is_clean(self) -> bool:
        """Whether every answer is right; leftovers in indexes are garbage, not errors."""
        return not self.differences and self.indexes.is_clean


def verify_pages(
    pages: PageTable, *, repair: bool = False, sample: int | None = None
) -> PageReport:
    """Compares every page with its captures, and the indexes with the pages.

    Args:
        repair: mend what can be: what the captures say goes into the metadata again, entries are
            put and leftovers of ten minutes and more removed. What does not decode stays.
        sample: look only at so many pages, chosen by chance, and not at the indexes.
    """
    report = PageReport()
    for row in _rows(pages, sample):
        report.pages += 1
        found = next(_differences(pages, row), None)
        if found is None:
            continue
        report.differences += 1
        if repair and not found.what.startswith("damaged"):
            pages.rows.write(row.key, lambda state: _mended(pages, state))
            found = found._replace(is_mended=True)
            report.differences -= 1
        if len(report.examples) < _MOST_KEPT:
            report.examples.append(found)
    if sample is None:
        report.indexes = verify(pages.rows, repair=repair)
    return report


def chosen_rows(pages: PageTable, count: int) -> Iterator[bytes]:
    """Yields the rows of pages chosen by chance, each once: by a hash of their URLs."""
    seen: set[bytes] = set()
    for _ in range(count):
        start = secrets.token_hex(8).encode()
        if isinstance(pages.keys, SaltedKeys):
            start = b"%02x:%b" % (secrets.randbelow(256), start)
        row = next((row for row in _rows_around(pages, start) if row not in seen), None)
        if row is None:
            return
        seen.add(row)
        yield row


def _rows_around(pages: PageTable, start: bytes) -> Iterator[bytes]:
    """Yields the rows of all pages by the hash of their URLs, from one on and round again."""
    for scan in (Scan(start=start, batch_rows=1), Scan(stop=start)):
        for hit in pages.rows.hits(_URL_INDEX, scan):
            yield hit.row


def _rows(pages: PageTable, sample: int | None) -> Iterator[Row]:
    table = pages.rows.table
    if sample is None:
        yield from table.scan(columns=_FAMILIES)
        return
    for row_key in chosen_rows(pages, sample):
        found = table.get(row_key, _FAMILIES)
        if found is not None:
            yield found


def _differences(pages: PageTable, row: Row) -> Iterator[Difference]:
    values = row.values()
    url = values.get(b"metadata:url", b"").decode("utf-8", "replace")
    try:
        notes = history_of(row).notes
    except CorruptData as error:
        yield Difference(row.key, url, f"damaged: {error.message}")
        return
    if not notes:
        yield Difference(row.key, url, "damaged: it has no captures")
        return
    if not url or pages.keys.row_key(url) != row.key:
        yield Difference(row.key, url, f"damaged: its URL {url!r:.80} has another key")
        return
    for column, expected in _told(notes.values()).items():
        if values.get(column) != expected:
            name, is_now = column.decode(), values.get(column)
            yield Difference(row.key, url, f"{name} is {is_now!r:.60}, not {expected!r:.60}")


def _told(notes: Iterable[CaptureNote]) -> dict[bytes, bytes]:
    """Returns the columns of metadata that the captures alone decide."""
    found = list(notes)
    counted = counting(found)
    newest = described(counted[-1], [n for n in found if n.digest == counted[-1].digest])
    texts = {
        "status_code": str(newest.status),
        "last_modified": encode_time(last_modified(counted)),
        "fetched": encode_time(newest.time),
        "size": str(newest.size),
        "type": newest.type,
        "digest": newest.digest,
        "redirect": newest.redirect,
    }
    return {f"metadata:{name}".encode(): text.encode() for name, text in texts.items()}


def _mended(pages: PageTable, state: RowState) -> Change | None:
    notes = read_history(pages.rows.table, state.row).notes
    if not notes:
        return None
    # What it holds is not known to be right either: the next capture decides without it.
    told = {**_told(notes.values()), HELD: b""}
    newest = counting(notes.values())[-1]
    put = Put(state.row, told, timestamp=newest.time * 1000)
    return Change(more=[put], facts={**state.facts, **told}, renew=True)
