"""Rebuilds the whole link index from the stored pages, in bounded memory.

The links of all pages are sorted by target in runs on disk and then written row by row, in the
order of the keys, without reads, checks or journals. So the index is emptied first and is not ready
until the end: a rebuild that was killed must start again. All cells have one revision as their
timestamp. It is later than every guard in the rows of pages, so that pages loaded afterwards are
newer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import msgspec

from webtable.errors import ConflictError
from webtable.index.cell_encoding import Revision, encode_revision
from webtable.index.indexed_table import Change, Decide, RowState
from webtable.links import schema
from webtable.links.cell_encoding import GONE, encode_cur
from webtable.links.checking.expected_index import (
    PAGE_MARK,
    PageLine,
    page_line,
    parse_page_line,
    source_lines,
    sources,
    state_of_line,
)
from webtable.links.checking.external_sort import RUN_BYTES, Sorter, scratch
from webtable.links.link_index import LinkIndex
from webtable.links.updating.count_rules import HERE
from webtable.links.updating.embedded import forget_counts
from webtable.links.updating.link_changes import links_changed
from webtable.links.write_protocol_rules import is_abandoned
from webtable.loggers import get_logger
from webtable.pages.columns import INLINK_COUNT, INLINKS, INLINKS_AT, URL
from webtable.result_base import Value
from webtable.store.mutation import Durability, Put

__all__ = ["RebuildReport", "rebuild"]

_BATCH_ROWS = 500
_MOST_COLUMNS = 2_000  # in one put: a page may have more links to it than fit into memory
_PROGRESS_EVERY = 1_000
_BEFORE = {schema.CHANGED: b""}  # the links of these pages are not new
_GONE_LINE = GONE + b"\n"

_log = get_logger("webtable.links")


class RebuildReport(Value, msgspec.Struct):
    """What a rebuild wrote.

    Attributes:
        pages: stored pages.
        links: pairs of a page and a page that it links to now.
        removed: pairs that only stored earlier versions have.
        uris: pages that are stored or linked to.
        domains: of these URIs.
        seconds: how long it took.
    """

    pages: int = 0
    links: int = 0
    removed: int = 0
    uris: int = 0
    domains: int = 0
    seconds: float = 0.0


def rebuild(
    index: LinkIndex,
    *,
    directory: str | None = None,
    on_progress: Callable[[str, int], None] | None = None,
    run_bytes: int = RUN_BYTES,
) -> RebuildReport:
    """Empties the link index and writes it again from the stored pages.

    No pages may be loaded meanwhile. The index is not ready until the rebuild ends; an interrupted
    rebuild must start again.

    Args:
        directory: the folder for sorted runs, about 150 bytes for each link; by default the
            system's directory for temporary files.
        on_progress: called with the name of a step and a number of pages.
        run_bytes: memory for sorting.

    Raises:
        ConflictError: another process seems to be loading pages.
    """
    began = time.monotonic()
    _begin(index)
    with scratch(directory) as folder:
        report = _Rebuild(index, folder, on_progress or (lambda _, __: None), run_bytes).run()
    report.seconds = time.monotonic() - began
    return report


def _begin(index: LinkIndex) -> None:
    """Marks the index as not ready, then makes sure that no process is storing pages.

    In this order: a removal puts its intents first, and then stops if the index is not ready.
    """
    was_ready = index.is_ready
    index.set_ready(False)
    try:
        _check_still(index)
    except ConflictError:
        index.set_ready(was_ready)
        raise


def _check_still(index: LinkIndex) -> None:
    """Raises if another process has recent intents, so that it may be loading pages."""
    if index.store.capabilities.atomic_commits:
        return  # this process is the only one that writes
    now = index.rows.clock.now_ms()
    for row in index.work.scan(prefix=b"i:"):
        if any(not is_abandoned(timestamp, now) for _, timestamp, _, _ in row.raw_cells):
            raise ConflictError(
                f"pages of '{index.store.location}' are being loaded, or were a moment ago",
                hint="wait until the loads end, or run `webtable links drain` 16 minutes later",
            )


class _Rebuild:
    def __init__(
        self,
        index: LinkIndex,
        folder: Path,
        on_progress: Callable[[str, int], None],
        run_bytes: int,
    ) -> None:
        self._index = index
        self._on_progress = on_progress
        self._report = RebuildReport()
        # Durability is needed only at the end, when all tables are flushed.
        is_embedded = index.store.capabilities.atomic_commits
        self._durability: Durability = "none" if is_embedded else "wal"
        self._batch = index.table.batch(size=_BATCH_ROWS, durability=self._durability)
        self._feed = index.store.table(schema.CHANGES).batch(
            size=_BATCH_ROWS, durability=self._durability
        )
        self._links = Sorter(folder, "links", run_bytes=run_bytes)
        self._rows = Sorter(folder, "rows", run_bytes=run_bytes // 2)
        self._now = index.rows.clock.now_ms()
        self._cell = b""

    def run(self) -> RebuildReport:
        """Runs all steps."""
        index, store = self._index, self._index.store
        place, report = store.location, self._report
        _log.info("store '%s': the link index is rebuilt: it is emptied", place)
        # The feed of the links begins from the beginning: its entries come in the order of the
        # pages, while readers of the old ones rely on that of the revisions.
        index.begin_incarnation()
        for name in (schema.INDEX_TABLE, schema.WORK_TABLE, schema.CHANGES):
            store.truncate_table(name)
        self._read_pages()
        _log.info("store '%s': the link index is rebuilt: pages read: %d", place, report.pages)
        self._cell = encode_revision(Revision(self._now, index.rows.new_token()))
        self._write_links()
        _log.info("store '%s': the link index is rebuilt: links written: %d", place, report.links)
        self._write_rows()
        self._batch.send()
        self._feed.send()
        if index.rows.highest is not None:
            with index.rows.lock:
                highest = max(self._now, index.rows.highest.number)
                store.commit([index.rows.highest.move(highest)])
        for name in (schema.INDEX_TABLE, schema.CHANGES, index.pages.rows.name):
            store.table(name).flush()
        forget_counts(store)
        index.set_ready(True)
        _log.info("store '%s': the link index is rebuilt, URIs in it: %d", place, report.uris)
        return report

    # From the pages

    def _read_pages(self) -> None:
        """Writes the links of each page into its row, and sorts all links by target."""
        index, report, batch = self._index, self._report, self._batch
        for source in sources(index):
            row, changed = schema.page_row(source.uri), links_changed(_BEFORE)(self._now)
            values = {
                schema.CUR: encode_cur(source.text.decode()),
                schema.AT: b"%d" % source.revision,
                **changed,
            }
            batch.add(Put(row, values, timestamp=self._now))
            for entry in index.rows.index(schema.CHANGES).entries(row, changed):
                column = b"ref:" + entry.cover
                self._feed.add(Put(entry.key, {column: row}, timestamp=self._now))
            # Later than every guard that was written from this index.
            if source.inlinks_at and int(source.inlinks_at) >= self._now:
                self._now = int(source.inlinks_at) + 1
            lines = source_lines(source, index.shards)
            size = len(source.text) + len(source.uri) * len(lines)
            lines.append(page_line(source))
            self._links.add(lines, size)
            report.pages += 1
            if not report.pages % _PROGRESS_EVERY:
                self._on_progress("pages read", report.pages)

    # By target

    def _write_links(self) -> None:
        """Writes the links to each page, and sorts the rows that depend on their number."""
        batch, now, report = self._batch, self._now, self._report
        target, shard_row, shard = b"", b"", -1
        page: PageLine | None = None
        columns: dict[bytes, bytes] = {}
        live = total = 0
        for line in self._links.lines():
            uri, source, rest = line.split(b"\0", 2)
            if uri != target or source[0] != shard:
                if shard_row:
                    self._end_shard(shard_row, columns, live)
                    total += live
                    shard_row, columns, live = b"", {}, 0
                if uri != target:
                    self._end_uri(target, page, total)
                    target, page, total = uri, None, 0
                shard = source[0]
                if source == PAGE_MARK:
                    page = parse_page_line(rest)
                    continue
                shard_row = b"p:%b\0%b" % (uri, source[:1])
            if rest == _GONE_LINE:
                columns[schema.INLINK + source[1:]] = GONE
                report.removed += 1
            else:
                state = state_of_line(rest) if b"\0" in rest else rest[:-1]
                columns[schema.INLINK + source[1:]] = state
                live += 1
            if len(columns) >= _MOST_COLUMNS:
                batch.add(Put(shard_row, columns, timestamp=now))
                columns = {}
        if shard_row:
            self._end_shard(shard_row, columns, live)
            total += live
        self._end_uri(target, page, total)

    def _end_shard(self, row: bytes, columns: dict[bytes, bytes], live: int) -> None:
        columns[schema.COUNT] = b"%d" % live
        columns[schema.SHARD_REVISION] = self._cell
        self._batch.add(Put(row, columns, timestamp=self._now))
        self._report.links += live

    def _end_uri(self, uri: bytes, page: PageLine | None, count: int) -> None:
        if page is None and not count:
            return  # it was linked to once, and is not now
        index, number = self._index, b"%d" % count
        values = {schema.INCOUNT: number, index.rows.revision_column: self._cell}
        self._batch.add(Put(schema.page_row(uri), values, timestamp=self._now))
        domain = index.domains.of(uri)
        member_row = schema.shard_row(b"d:", domain, schema.shard_of(uri, index.shards))
        lines = [
            b"%b\t%b\n" % (member_row, uri),
            b"%b\t%b\n" % (schema.domain_rank_row(domain, count, uri), uri),
            b"%b\t%b\n" % (schema.top_rank_row(count, uri), uri),
        ]
        if page is not None and (page.inlinks != number or page.counted != number):
            lines.append(b"w:%b\t%b\n" % (page.row, number))
        self._rows.add(lines, 6 * len(uri))
        self._report.uris += 1
        if not self._report.uris % _PROGRESS_EVERY:
            self._on_progress("pages linked to", self._report.uris)

    # Ranks, domains and the pages' own rows

    def _write_rows(self) -> None:
        batch, now = self._batch, self._now
        member_row, domain = b"", b""
        members: dict[bytes, bytes] = {}
        count = 0
        pages: list[tuple[bytes, Decide]] = []
        for line in self._rows.lines():
            row, _, what = line[:-1].partition(b"\t")
            if row != member_row and member_row:
                self._end_members(member_row, members, count)
                member_row, members, count = b"", {}, 0
            if row[:2] == b"w:":
                self._add_page(pages, row[2:], what)
            elif row[-2:-1] != b"\0":
                batch.add(Put(row, {b"rank:": b"p:" + what}, timestamp=now))
            else:
                if row[:-2] != domain:
                    domain = row[:-2]
                    self._report.domains += 1
                member_row = row
                members[schema.MEMBER + what] = HERE
                count += 1
                if len(members) >= _MOST_COLUMNS:
                    batch.add(Put(row, members, timestamp=now))
                    members = {}
        if member_row:
            self._end_members(member_row, members, count)
        self._write_pages(pages)

    def _end_members(self, row: bytes, members: dict[bytes, bytes], count: int) -> None:
        members[schema.PAGE_COUNT] = b"%d" % count
        members[schema.DOMAIN_REVISION] = self._cell
        self._batch.add(Put(row, members, timestamp=self._now))

    def _add_page(self, pages: list[tuple[bytes, Decide]], row: bytes, number: bytes) -> None:
        values = {INLINKS: number, INLINKS_AT: b"%d" % self._now, INLINK_COUNT: number}
        pages.append((row, partial(_counted, values)))
        if len(pages) >= _BATCH_ROWS:
            self._write_pages(pages)
            pages.clear()

    def _write_pages(self, pages: list[tuple[bytes, Decide]]) -> None:
        if pages:
            self._index.pages.rows.write_many(pages, durability=self._durability)


def _counted(values: Mapping[bytes, bytes], state: RowState) -> Change | None:
    """Puts the number of links to a page into its row, unless the page was removed meanwhile."""
    return Change(put=values) if URL in state.facts else None
