"""Whether the link index is what a rebuild from the stored pages would give, and mending it.

Both sides are streams in the order of the keys, so that any number of pages takes the same memory.
What is under way is not a difference: work that is left (intents, journals, marks), and whatever
was changed while this went on.
"""

from __future__ import annotations

import msgspec

from webtable.links import schema
from webtable.links.cells import decode_uris
from webtable.links.compare import Finding, compare_domains, compare_links
from webtable.links.gather import page_line, source_lines, sources
from webtable.links.graph import LinkIndex
from webtable.links.mend import Mender
from webtable.links.reading import batches
from webtable.links.rebuild import rebuild
from webtable.links.runs import RUN_BYTES, Sorter, scratch
from webtable.links.sampling import check_pages, check_sample
from webtable.records.index_cells import decode_revision
from webtable.records.upkeep import Report, verify
from webtable.store.table import Table

__all__ = ["LinkDifference", "LinkReport", "verify_links"]

_MOST_KEPT = 1_000
_CHUNK = 500
_MOST_OWN = 200_000


class LinkDifference(msgspec.Struct, frozen=True):
    """Something in the link index that is not as the pages have it."""

    kind: str
    name: str
    what: str
    is_mended: bool = False


class LinkReport(msgspec.Struct):
    """What `verify_links` found.

    Attributes:
        pages: stored pages that were looked at.
        links: links that there should be, `uris` the pages that are stored or linked to.
        differences: what is not right, and was not mended; `examples` has the first ones.
        mended: what was not right, and is now.
        work: rows of work that is left; `webtable links drain` does it.
        under_way: what may differ only because of that, or changed meanwhile.
        ranks: what is wrong with the ranks; None where only a sample was looked at.
    """

    pages: int = 0
    links: int = 0
    uris: int = 0
    differences: int = 0
    mended: int = 0
    examples: list[LinkDifference] = []
    work: int = 0
    under_way: int = 0
    ranks: Report | None = None
    is_sample: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether every answer is right, once the work that is left is done."""
        has_ranks = self.ranks is None or self.ranks.is_clean or self.ranks.repaired
        return not self.differences and has_ranks


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
    report = LinkReport(is_sample=sample is not None)
    if not index.is_ready:
        what = "it is not whole: a rebuild was cut off, or never made"
        report.examples.append(LinkDifference("index", schema.INDEX_TABLE, what, repair))
        if not repair:
            report.differences = 1
            return report
        made = rebuild(index, directory=directory, run_bytes=run_bytes)
        report.pages, report.links, report.uris = made.pages, made.links, made.uris
        report.mended = 1
        return report
    findings = _Findings(index, report, repair=repair)
    if sample is not None:
        report.pages = check_sample(index, sample, findings.tell)
        findings.flush()
        return report
    with scratch(directory) as folder:
        links = Sorter(folder, "links", run_bytes=run_bytes)
        members = Sorter(folder, "members", run_bytes=run_bytes // 2)
        for some in batches(sources(index), _CHUNK):
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
    """Collects what differs, leaves out what is under way, and has the rest mended."""

    def __init__(self, index: LinkIndex, report: LinkReport, *, repair: bool) -> None:
        self._index = index
        self._report = report
        self._mender = Mender(index) if repair else None
        self._began_ms = index.rows.clock.now_ms()
        self._work = self._read_work()
        self._waiting: list[Finding] = []
        self._own: dict[bytes, list[bytes | None]] = {}

    def tell(self, finding: Finding) -> None:
        """Takes a finding."""
        self._waiting.append(finding)
        if len(self._waiting) >= _CHUNK:
            self.flush()

    def flush(self) -> None:
        """Looks at what was found so far once more."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        report = self._report
        places = {place for each in waiting for place in _places(each)}
        moving = self._work | self._moved(places)
        settled = [each for each in waiting if moving.isdisjoint(_places(each))]
        report.under_way += len(waiting) - len(settled)
        if self._mender is None:
            report.differences += len(settled)
        elif settled:
            self._mender.mend(settled)
            self._remember({place for each in settled for place in _places(each)})
            report.mended += len(settled)
        for each in settled[: max(0, _MOST_KEPT - len(report.examples))]:
            name = each.name.decode("utf-8", "replace")
            is_mended = self._mender is not None
            report.examples.append(LinkDifference(each.kind, name, each.what, is_mended))

    def _moved(self, places: set[bytes]) -> set[bytes]:
        """Returns which of these were changed since this began, by others."""
        found = self._revisions(places)
        return {
            place
            for place, cells in found.items()
            if self._own.get(place) != cells
            and any(cell and decode_revision(cell).number >= self._began_ms for cell in cells)
        }

    def _remember(self, places: set[bytes]) -> None:
        """Notes the revisions that mending has left."""
        if len(self._own) > _MOST_OWN:
            self._own.clear()
        self._own.update(self._revisions(places))

    def _revisions(self, places: set[bytes]) -> dict[bytes, list[bytes | None]]:
        """Reads the revisions of URIs, in the index and of the pages, and of shards of domains."""
        index, pages = self._index, self._index.pages
        uris = [place for place in places if not place.startswith(b"d:")]
        shards = [place for place in places if place.startswith(b"d:")]
        keys = [pages.keys.row_key(schema.url_of(uri)) for uri in uris]
        asked: list[tuple[Table, list[bytes], list[bytes], bytes]] = [
            (index.table, uris, [b"p:" + uri for uri in uris], index.rows.revision_column),
            (pages.rows.table, uris, keys, pages.rows.revision_column),
            (index.table, shards, shards, schema.DOMAIN_REVISION),
        ]
        found: dict[bytes, list[bytes | None]] = {place: [] for place in places}
        for table, names, rows, column in asked:
            for name, row in zip(names, table.get_many(rows, (column,)), strict=True):
                found[name].append(None if row is None else row.value(column))
        return found

    def _read_work(self) -> set[bytes]:
        """Returns the URIs about which something is still to be done, and their domains."""
        index, uris = self._index, set[bytes]()
        for row in index.work.scan():
            self._report.work += 1
            if row.key.startswith(b"i:"):
                uris.add(row.key.split(b":", 2)[2])
            else:
                for _, _, value, _ in row.raw_cells:
                    uris.update(decode_uris(value))
        if not index.store.capabilities.atomic_commits:
            for row in index.table.scan(prefix=b"p:", columns=(schema.JOURNAL,)):
                targets = decode_uris(row.value(schema.JOURNAL))
                if targets:
                    self._report.work += 1
                    uris.update((row.key[2:], *targets))
        for uri in list(uris):
            shard = schema.shard_of(uri, index.shards)
            uris.add(schema.shard_row(b"d:", index.domains.of(uri), shard))
        return uris


def _places(finding: Finding) -> tuple[bytes, ...]:
    """Returns where a finding may come from: URIs, and the row of a domain's number."""
    if finding.kind == "domain":
        return (schema.shard_row(b"d:", finding.name, finding.shard),)
    return (finding.name, finding.source) if finding.source else (finding.name,)
