"""The job `verify`: verifies some pages in each run, and so the whole store round after round.

Pages are verified as `webtable verify --sample` does it, in the order of their row keys: captures,
bodies, facts, links in both directions, and here also their entries in the indexes of pages. The
position is the last row and what the present round has found. What differs is verified again before
it counts: a load may have been between two writes. Entries that belong to no page are found only by
`webtable verify`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from webtable.index.build_and_verify import explain_row
from webtable.links.whole_store_verification import verify_store
from webtable.operations.jobs.job import JobResult, JobRun
from webtable.pages.columns import URL
from webtable.pages.page_table import PageTable
from webtable.store.scan import Scan

__all__ = ["verify_next_pages"]

PAGES_IN_A_RUN = 2_000
_STEP_PAGES = 100
_HINT = "run `webtable verify --repair`"


class _Position(msgspec.Struct, frozen=True):
    """Where the next run continues: behind this row, in this round; and what the round found."""

    row: str = ""
    round: int = 1
    pages: int = 0
    differences: int = 0


def verify_next_pages(run: JobRun) -> JobResult:
    """Verifies the next pages; at the end of the store the next run begins another round."""
    pages = run.pages()
    if pages is None:
        return JobResult("the store has no pages")
    at = _Position()
    if run.position is not None:
        at = msgspec.convert(run.position, _Position)
    verified, problems = 0, list[str]()
    is_end = False
    while verified < PAGES_IN_A_RUN and not is_end:
        run.step()
        run.store.refresh()
        rows = _rows_after(pages, bytes.fromhex(at.row))
        is_end = len(rows) < _STEP_PAGES
        count, found = _verified(pages, rows)
        verified += count
        problems += found
        at = _Position(
            rows[-1].hex() if rows else at.row,
            at.round,
            at.pages + count,
            at.differences + len(found),
        )
        run.save(msgspec.to_builtins(at))
    summary = f"{verified:,} pages verified, {len(problems):,} differences"
    if is_end:
        summary += (
            f"; round {at.round:,} is complete: {at.pages:,} pages, {at.differences:,} differences"
        )
        run.save(msgspec.to_builtins(_Position(round=at.round + 1)))
    return JobResult(summary, problems, hint=_HINT if problems else "")


def _rows_after(pages: PageTable, row: bytes) -> list[bytes]:
    scan = Scan(
        start=row + b"\0" if row else b"",
        columns=(URL,),
        limit=_STEP_PAGES,
        filter="KeyOnlyFilter()",
    )
    return [found.key for found in pages.rows.table.scan(scan)]


def _verified(pages: PageTable, rows: Sequence[bytes]) -> tuple[int, list[str]]:
    """Verifies pages; returns how many there are, and their differences."""
    if not rows:
        return 0, []
    count, found = _differences(pages, rows)
    if found:
        count, found = _differences(pages, rows)
    return count, found


def _differences(pages: PageTable, rows: Sequence[bytes]) -> tuple[int, list[str]]:
    report = verify_store(pages, sample=rows)
    found = [f"{each.url or _text(each.row)}: {each.what}" for each in report.pages.examples]
    found += [f"links of {each.name}: {each.what}" for each in report.links.examples]
    for row in rows:
        _, entries = explain_row(pages.rows, row)
        found += [
            f"{_text(row)}: index {entry.name} does not have it"
            for entry in entries
            if not entry.is_there and pages.rows.state(entry.name) == "ready"
        ]
    return report.pages.pages, found


def _text(row_key: bytes) -> str:
    return row_key.decode("utf-8", "backslashreplace")
