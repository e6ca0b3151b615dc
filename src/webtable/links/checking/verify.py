"""Verifies that the link index equals a rebuild from the stored pages, and repairs it.

Both sides are streams in the order of the keys, so that any number of pages needs the same memory.
Work in progress is not a difference: unfinished work (intents, journals, marks), and pages that
change during the verification.
"""

from __future__ import annotations

from functools import partial

import msgspec

from webtable.errors import CorruptData, InvalidUrl, WebTableError
from webtable.index.build_and_verify import Missing, Report, verify
from webtable.links import schema
from webtable.links.batching import batches
from webtable.links.cell_encoding import decode_uris
from webtable.links.checking.compare_with_expected import Finding, compare_domains, compare_links
from webtable.links.checking.confirm_differences import confirmed
from webtable.links.checking.expected_index import page_line, sized_batches, source_lines, sources
from webtable.links.checking.external_sort import RUN_BYTES, Sorter, scratch
from webtable.links.checking.rebuild import rebuild
from webtable.links.checking.repair import Repairer
from webtable.links.checking.verify_sample import check_pages, check_sample
from webtable.links.link_index import LinkIndex
from webtable.loggers import get_logger
from webtable.pages.checking.verify import Sample
from webtable.store.table import Table

__all__ = ["LinkDifference", "LinkReport", "missing_index", "verify_links"]

_MOST_KEPT = 1_000
_CHUNK = 500
_FINDINGS = 50  # rechecked together: each needs the links of one or two pages in memory

_log = get_logger("webtable.links")


class LinkDifference(msgspec.Struct, frozen=True):
    """A difference between the link index and the stored pages."""

    kind: str
    name: str
    what: str
    is_repaired: bool = False


class LinkReport(msgspec.Struct):
    """What `verify_links` found.

    Attributes:
        pages: how many stored pages were verified.
        links: how many links these pages have; `uris` counts the pages that are stored or linked
            to.
        differences: how many differences were not repaired; `examples` has the first ones.
        repaired: how many differences were repaired.
        work: rows of unfinished work; `webtable links drain` finishes it.
        under_way: differences of pages with unfinished work, or that changed during the check.
        ranks: the differences of the ranks; None where only a sample was verified.
        left: the result of a second run after a repair; None where nothing was repaired.
    """

    pages: int = 0
    links: int = 0
    uris: int = 0
    differences: int = 0
    repaired: int = 0
    examples: list[LinkDifference] = []
    work: int = 0
    under_way: int = 0
    ranks: Report | None = None
    is_sample: bool = False
    left: LinkReport | None = None

    @property
    def is_clean(self) -> bool:
        """Whether every query returns correct results, after the unfinished work is done."""
        if self.left is not None:
            return self.left.is_clean
        return not self.differences and (self.ranks is None or self.ranks.is_clean)

    @property
    def ranks_missing(self) -> list[Missing]:
        """The first of the missing ranks."""
        return [] if self.ranks is None else self.ranks.missing

    @property
    def ranks_lacking(self) -> int:
        """How many ranks are missing."""
        return 0 if self.ranks is None else self.ranks.lacking


def missing_index() -> LinkReport:
    """Returns the report about a store without a link index."""
    what = "the store has no link index: run `webtable links rebuild`, or verify with --repair"
    return LinkReport(differences=1, examples=[LinkDifference("index", schema.INDEX_TABLE, what)])


def verify_links(
    index: LinkIndex,
    *,
    sample: Sample | None = None,
    repair: bool = False,
    directory: str | None = None,
    run_bytes: int = RUN_BYTES,
) -> LinkReport:
    """Compares the link index with the stored pages.

    Args:
        sample: verify only this number of pages, chosen at random, or these rows, and the cells
            that depend on them.
        repair: repair the differences.
        directory: the folder for sorted runs.
        run_bytes: memory for sorting.
    """
    store = index.store.location
    _log.info("store '%s': %s the link index", store, "repairing" if repair else "verifying")
    verify_once = partial(_verify_once, index, sample, directory, run_bytes)
    try:
        report = verify_once(repair)
    except (CorruptData, InvalidUrl, ValueError) as error:
        if isinstance(error, CorruptData) and error.__cause__ is not None:
            raise  # not a cell that another program wrote: the files are damaged
        report = _undecodable(error, repair=repair)
        if repair:
            rebuild(index, directory=directory, run_bytes=run_bytes)
    _log.info(
        "store '%s': link index verified over %d pages; differences: %d, repaired: %d, under way:"
        " %d",
        *(store, report.pages, report.differences, report.repaired, report.under_way),
    )
    if repair and (report.repaired or (report.ranks is not None and not report.ranks.is_clean)):
        # A second run proves that what is called repaired is right now.
        report.left = verify_once(False)
    return report


def _undecodable(error: Exception, *, repair: bool) -> LinkReport:
    """Returns the report about an index with keys or cells that this library did not write."""
    why = error.message if isinstance(error, WebTableError) else str(error)
    what = f"a key or cell of the index does not decode, so the index must be rebuilt: {why}"
    example = LinkDifference("index", schema.INDEX_TABLE, what, repair)
    return LinkReport(differences=int(not repair), repaired=int(repair), examples=[example])


def _verify_once(
    index: LinkIndex, sample: Sample | None, directory: str | None, run_bytes: int, repair: bool
) -> LinkReport:
    report = LinkReport(is_sample=sample is not None)
    if not index.is_ready:
        what = "the index does not have all pages: a rebuild was interrupted, or never run"
        report.examples.append(LinkDifference("index", schema.INDEX_TABLE, what, repair))
        if not repair:
            report.differences = 1
            return report
        made = rebuild(index, directory=directory, run_bytes=run_bytes)
        report.pages, report.links, report.uris = made.pages, made.links, made.uris
        report.repaired = 1
        return report
    findings = _Findings(index, report, repair=repair)
    if sample is not None:
        report.pages = check_sample(index, sample, findings.add)
        findings.flush()
        return report
    with scratch(directory) as folder:
        links = Sorter(folder, "links", run_bytes=run_bytes)
        members = Sorter(folder, "members", run_bytes=run_bytes // 2)
        for some in sized_batches(sources(index)):
            report.pages += len(some)
            for finding in check_pages(index, some):
                findings.add(finding)
            for source in some:
                lines = [*source_lines(source, index.shards), page_line(source)]
                links.add(lines, len(source.text) + len(source.uri) * len(lines))
        report.links = compare_links(index, links.lines(), members, findings.add)
        findings.flush()
        report.uris = compare_domains(index, members, findings.add)
        findings.flush()
    report.ranks = verify(index.rows, repair=repair)
    return report


class _Findings:
    """Collects what differs, leaves out what is under way, and has the rest repaired."""

    def __init__(self, index: LinkIndex, report: LinkReport, *, repair: bool) -> None:
        self._index = index
        self._report = report
        self._repairer = Repairer(index) if repair else None
        report.work = sum(1 for _ in index.work.scan())
        self._waiting: list[Finding] = []

    def add(self, finding: Finding) -> None:
        """Adds a finding."""
        self._waiting.append(finding)
        if len(self._waiting) >= _FINDINGS:
            self.flush()

    def flush(self) -> None:
        """Checks the collected findings a second time."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        report = self._report
        # A finding that is gone now came from a change in progress. So does a finding whose pages
        # have unfinished work, or whose rows change during this check.
        places = {place for each in waiting for place in _places(each)}
        before = self._revisions(places)
        seen = confirmed(self._index, waiting)
        moving = self._read_work()
        after = self._revisions(places)
        moving |= {place for place in places if before[place] != after[place]}
        settled = [each for each in seen if moving.isdisjoint(_places(each))]
        report.under_way += len(waiting) - len(settled)
        if self._repairer is None:
            report.differences += len(settled)
        elif settled:
            self._repairer.repair(settled)
            _log.info(
                "store '%s': repaired %d differences of the link index, first: %s of %.200r",
                *(self._index.store.location, len(settled), settled[0].kind, settled[0].name),
            )
            report.repaired += len(settled)
        for each in settled[: max(0, _MOST_KEPT - len(report.examples))]:
            name = each.name.decode("utf-8", "replace")
            is_repaired = self._repairer is not None
            report.examples.append(LinkDifference(each.kind, name, each.what, is_repaired))

    def _revisions(self, places: set[bytes]) -> dict[bytes, list[int]]:
        """Reads the revisions of URIs in the index and the pages, and of shards."""
        index, pages = self._index, self._index.pages
        uris = [place for place in places if b"\0" not in place]
        shards = [place for place in places if b"\0" in place]
        keys = [pages.keys.row_key(schema.url_of(uri)) for uri in uris]
        numbers = (schema.COUNT, schema.PAGE_COUNT)
        reads: list[tuple[Table, list[bytes], list[bytes], tuple[bytes, ...]]] = [
            (index.table, uris, [b"p:" + uri for uri in uris], (index.rows.revision_column,)),
            (pages.rows.table, uris, keys, (pages.rows.revision_column,)),
            (index.table, shards, shards, numbers),
        ]
        found: dict[bytes, list[int]] = {place: [] for place in places}
        for table, names, rows, columns in reads:
            for name, row in zip(names, table.get_many(rows, columns), strict=True):
                # The timestamp of these cells is the revision.
                found[name].append(0 if row is None else row.raw_cells[0][1])
        return found

    def _read_work(self) -> set[bytes]:
        """Returns the URIs with unfinished work, and the shards of their domains."""
        index, sources, uris = self._index, list[bytes](), set[bytes]()
        for row in index.work.scan(prefix=b"i:"):
            sources.append(row.key.split(b":", 2)[2])
        # Journals before marks: a journal is cleared only after its marks are written.
        for some in batches(sources, _CHUNK):
            rows = [schema.page_row(uri) for uri in some]
            for found in index.table.get_many(rows, (schema.JOURNAL,)):
                uris.update(decode_uris(None if found is None else found.value(schema.JOURNAL)))
        for row in index.work.scan(prefix=b"m:"):
            uris.update(decode_uris(row.value(schema.TARGETS)))
        return self._with_domains(uris.union(sources))

    def _with_domains(self, uris: set[bytes]) -> set[bytes]:
        domains, shards = self._index.domains, self._index.shards
        for uri in list(uris):
            uris.add(schema.shard_row(b"d:", domains.of(uri), schema.shard_of(uri, shards)))
        return uris


def _places(finding: Finding) -> tuple[bytes, ...]:
    """Returns the URIs and rows of shards that a finding depends on."""
    if finding.kind == "domain":
        return (schema.shard_row(b"d:", finding.name, finding.shard),)
    if finding.kind == "count":
        return (finding.name, schema.shard_row(b"p:", finding.name, finding.shard))
    if finding.kind in ("incount", "inlinks", "member"):
        # In an embedded store a number that returns to its old value gets no new revision.
        return (finding.name, schema.shard_row(b"p:", finding.name, 0))
    return (finding.name, finding.source) if finding.source else (finding.name,)
