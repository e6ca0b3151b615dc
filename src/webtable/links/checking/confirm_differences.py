"""Checks findings a second time, one by one; drops those that changed meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from webtable.links import schema
from webtable.links.cell_encoding import GONE
from webtable.links.checking.compare_with_expected import Finding
from webtable.links.checking.expected_index import SOURCE_COLUMNS, Source, source_of, source_states
from webtable.links.checking.repair import count_live, domain_row, home_row
from webtable.links.checking.verify_sample import check_numbers, check_pages
from webtable.links.link_index import LinkIndex
from webtable.links.updating.shard_writer import DOMAIN_CELLS, PAGE_CELLS, ShardCells
from webtable.store.scan import ALL_VERSIONS

__all__ = ["confirmed"]


def confirmed(index: LinkIndex, findings: Sequence[Finding]) -> list[Finding]:
    """Reads the index and the pages again; returns the findings that are still true."""
    recheck = _Recheck(index, findings)
    return [each for each in findings if recheck.confirms(each)]


class _Recheck:
    def __init__(self, index: LinkIndex, findings: Sequence[Finding]) -> None:
        self._index = index
        uris = {each.name for each in findings if each.kind != "domain"}
        uris |= {each.source for each in findings if each.source}
        self._pages = self._read(sorted(uris))
        numbers: list[Finding] = []
        check_numbers(index, sorted(uris), self._pages, numbers.append)
        numbers += check_pages(index, list(self._pages.values()))
        self._found = {(each.kind, each.name) for each in numbers}

    def _read(self, uris: Sequence[bytes]) -> dict[bytes, Source]:
        pages = self._index.pages
        keys = [pages.keys.row_key(schema.url_of(uri)) for uri in uris]
        rows = pages.rows.table.get_many(keys, SOURCE_COLUMNS, versions=ALL_VERSIONS)
        found = [source_of(self._index, row) for row in rows if row is not None]
        return {source.uri: source for source in found if source is not None}

    def confirms(self, finding: Finding) -> bool:
        """Whether a finding is still true."""
        kind, name = finding.kind, finding.name
        if kind == "link":
            return self._confirms_link(finding)
        if kind == "count":
            row = schema.shard_row(b"p:", name, finding.shard)
            return self._counts_wrong(row, PAGE_CELLS)
        if kind == "domain":
            return self._counts_wrong(domain_row(finding), DOMAIN_CELLS)
        if kind == "member" and domain_row(finding) != home_row(self._index, name):
            column = schema.MEMBER + name
            found = self._index.table.get(domain_row(finding), (column,))
            return found is not None and found.value(column) != GONE
        if kind == "links" and name not in self._pages:
            found = self._index.table.get(schema.page_row(name), (schema.AT,))
            return found is not None
        return (kind, name) in self._found

    def _confirms_link(self, finding: Finding) -> bool:
        index, source = self._index, self._pages.get(finding.source)
        expected = None if source is None else source_states(source).get(finding.name)
        if schema.shard_of(finding.source, index.shards) != finding.shard:
            expected = None
        column = schema.INLINK + finding.source
        row = index.table.get(schema.shard_row(b"p:", finding.name, finding.shard), (column,))
        found = None if row is None else row.value(column)
        return expected != found and not (expected is None and found == GONE)

    def _counts_wrong(self, row: bytes, cells: ShardCells) -> bool:
        found = self._index.table.get(row, (cells.number,))
        number = None if found is None else found.value(cells.number)
        return (number or b"0") != b"%d" % count_live(self._index, row, cells)
