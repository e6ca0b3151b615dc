"""Whether the link index is what a rebuild from the stored pages would give, and mending it.

Both sides are streams in the order of the keys, so that any number of pages takes the same memory.
What is under way is not a difference: work that is left (intents, journals, marks), and whatever
was changed while this went on.
"""

from __future__ import annotations

from functools import partial

import msgspec

from webtable.errors import CorruptData, InvalidUrl, WebTableError
from webtable.index.maintenance import Missing, Report, verify
from webtable.links import schema
from webtable.links.asking.wide_rows import batches
from webtable.links.cells import decode_uris
from webtable.links.checking.compare import Finding, compare_domains, compare_links
from webtable.links.checking.expected import page_line, sized_batches, source_lines, sources
from webtable.links.checking.external_sort import RUN_BYTES, Sorter, scratch
from webtable.links.checking.rebuild import rebuild
from webtable.links.checking.recheck import still_so
from webtable.links.checking.repair import Mender
from webtable.links.checking.sampling import check_pages, check_sample
from webtable.links.index import LinkIndex
from webtable.logs import get_logger
from webtable.store.table import Table

__all__ = ["LinkDifference", "LinkReport", "missing_index", "verify_links"]

_MOST_KEPT = 1_000
_CHUNK = 500
_FINDINGS = 50  # looked at together: of each, the links of a page or two are in memory

_log = get_logger("webtable.links")


class LinkDifference(msgspec.Struct, frozen=True):
    """Something in the link index that is not as the pages have it."""

    kind: str
    name: str
    what: str
    is_repaired: bool = False


class LinkReport(msgspec.Struct):
    """What `verify_links` found.

    Attributes:
        pages: stored pages that were looked at.
        links: links that there should be, `uris` the pages that are stored or linked to.
        differences: what is not right, and was not repaired; `examples` has the first ones.
        repaired: what was not right, and is now.
        work: rows of work that is left; `webtable links drain` does it.
        under_way: what may differ only because of that, or changed meanwhile.
        ranks: what is wrong with the ranks; None where only a sample was looked at.
        left: what a second look found after something was repaired; None where nothing was.
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
        """Whether every answer is right now, once the work that is left is done."""
        if self.left is not None:
            return self.left.is_clean
        return not self.differences and (self.ranks is None or self.ranks.is_clean)

    @property
    def ranks_missing(self) -> list[Missing]:
        """Ranks that should be there, the first of them."""
        return [] if self.ranks is None else self.ranks.missing

    @property
    def ranks_lacking(self) -> int:
        """How many ranks should be there and are not."""
        return 0 if self.ranks is None else self.ranks.lacking


def missing_index() -> LinkReport:
    """Returns what there is to say of a store without a link index."""
    what = "there is none: run `webtable links rebuild`, or verify with --repair"
    return LinkReport(differences=1, examples=[LinkDifference("index", schema.INDEX_TABLE, what)])


def verify_links(
    index: LinkIndex,
    *,
    sample: int | None = None,
    repair: bool = False,
    directory: str | None = None,
    run_bytes: int = RUN_BYTES,
) -> LinkReport:
    """Compares the link index with the stored pages.

    Args:
        sample: look only at so many pages, chosen by chance, and at everything around them.
        repair: mend what differs.
        directory: where sorted runs are kept meanwhile.
        run_bytes: memory for sorting.
    """
    store = index.store.location
    _log.info("store '%s': %s the link index", store, "repairing" if repair else "verifying")
    look = partial(_look, index, sample, directory, run_bytes)
    try:
        report = look(repair)
    except (CorruptData, InvalidUrl, ValueError) as error:
        if isinstance(error, CorruptData) and error.__cause__ is not None:
            raise  # not a cell that was put by hand: the files are damaged
        report = _undecodable(error, repair=repair)
        if repair:
            rebuild(index, directory=directory, run_bytes=run_bytes)
    _log.info(
        "store '%s': link index verified over %d pages; differences: %d, repaired: %d, under way:"
        " %d",
        *(store, report.pages, report.differences, report.repaired, report.under_way),
    )
    if repair and (report.repaired or (report.ranks is not None and not report.ranks.is_clean)):
        # What is called repaired was looked at afterwards, all of it.
        report.left = look(False)
    return report


def _undecodable(error: Exception, *, repair: bool) -> LinkReport:
    """Returns what there is to say of an index with keys or cells that nothing of ours wrote."""
    why = error.message if isinstance(error, WebTableError) else str(error)
    what = f"it has something that does not decode, and must be rebuilt: {why}"
    example = LinkDifference("index", schema.INDEX_TABLE, what, repair)
    return LinkReport(differences=int(not repair), repaired=int(repair), examples=[example])


def _look(
    index: LinkIndex, sample: int | None, directory: str | None, run_bytes: int, repair: bool
) -> LinkReport:
    report = LinkReport(is_sample=sample is not None)
    if not index.is_ready:
        what = "it is not whole: a rebuild was interrupted, or never made"
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
        report.pages = check_sample(index, sample, findings.tell)
        findings.flush()
        return report
    with scratch(directory) as folder:
        links = Sorter(folder, "links", run_bytes=run_bytes)
        members = Sorter(folder, "members", run_bytes=run_bytes // 2)
        for some in sized_batches(sources(index)):
            report.pages += len(some)
            for finding in check_pages(index, some):
                findings.tell(finding)
            for source in some:
                lines = [*source_lines(source, index.shards), page_line(source)]
                links.add(lines, len(source.text) + len(source.uri) * len(lines))
        report.links = compare_links(index, links.lines(), members, findings.tell)
        findings.flush()
        report.uris = compare_domains(index, members, findings.tell)
        findings.flush()
    report.ranks = verify(index.rows, repair=repair)
    return report


class _Findings:
    """Collects what differs, leaves out what is under way, and has the rest repaired."""

    def __init__(self, index: LinkIndex, report: LinkReport, *, repair: bool) -> None:
        self._index = index
        self._report = report
        self._mender = Mender(index) if repair else None
        report.work = sum(1 for _ in index.work.scan())
        self._waiting: list[Finding] = []

    def tell(self, finding: Finding) -> None:
        """Takes a finding."""
        self._waiting.append(finding)
        if len(self._waiting) >= _FINDINGS:
            self.flush()

    def flush(self) -> None:
        """Looks at what was found so far once more."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        report = self._report
        # Findings that are gone were being changed. Others are, if somebody is at it, or what they
        # are about is not the same before and after this look.
        places = {place for each in waiting for place in _places(each)}
        before = self._revisions(places)
        seen = still_so(self._index, waiting)
        moving = self._read_work()
        after = self._revisions(places)
        moving |= {place for place in places if before[place] != after[place]}
        settled = [each for each in seen if moving.isdisjoint(_places(each))]
        report.under_way += len(waiting) - len(settled)
        if self._mender is None:
            report.differences += len(settled)
        elif settled:
            self._mender.mend(settled)
            _log.info(
                "store '%s': repaired %d differences of the link index, first: %s of %.200r",
                *(self._index.store.location, len(settled), settled[0].kind, settled[0].name),
            )
            report.repaired += len(settled)
        for each in settled[: max(0, _MOST_KEPT - len(report.examples))]:
            name = each.name.decode("utf-8", "replace")
            is_repaired = self._mender is not None
            report.examples.append(LinkDifference(each.kind, name, each.what, is_repaired))

    def _revisions(self, places: set[bytes]) -> dict[bytes, list[int]]:
        """Reads when URIs were changed, in the index and among the pages, and numbers of shards."""
        index, pages = self._index, self._index.pages
        uris = [place for place in places if b"\0" not in place]
        shards = [place for place in places if b"\0" in place]
        keys = [pages.keys.row_key(schema.url_of(uri)) for uri in uris]
        numbers = (schema.COUNT, schema.PAGE_COUNT)
        asked: list[tuple[Table, list[bytes], list[bytes], tuple[bytes, ...]]] = [
            (index.table, uris, [b"p:" + uri for uri in uris], (index.rows.revision_column,)),
            (pages.rows.table, uris, keys, (pages.rows.revision_column,)),
            (index.table, shards, shards, numbers),
        ]
        found: dict[bytes, list[int]] = {place: [] for place in places}
        for table, names, rows, columns in asked:
            for name, row in zip(names, table.get_many(rows, columns), strict=True):
                # What is read here is stamped with its revision.
                found[name].append(0 if row is None else row.raw_cells[0][1])
        return found

    def _read_work(self) -> set[bytes]:
        """Returns the URIs that somebody is at, and the shards of their domains."""
        index, sources, uris = self._index, list[bytes](), set[bytes]()
        for row in index.work.scan(prefix=b"i:"):
            sources.append(row.key.split(b":", 2)[2])
        # Journals first: one that is cleared by now has left its marks.
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
    """Returns where a finding may come from: URIs, and rows of shards."""
    if finding.kind == "domain":
        return (schema.shard_row(b"d:", finding.name, finding.shard),)
    if finding.kind == "count":
        return (finding.name, schema.shard_row(b"p:", finding.name, finding.shard))
    if finding.kind in ("incount", "inlinks", "member"):
        # In an embedded store a number that is again what it was moves no revision.
        return (finding.name, schema.shard_row(b"p:", finding.name, 0))
    return (finding.name, finding.source) if finding.source else (finding.name,)
