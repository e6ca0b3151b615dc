"""Repairs the link index where it differs from the pages, while loaders may run.

It writes as a loader does: the row of a source gets a new revision, the states at its targets get
that revision as their guard, and the exporter writes the counts. Numbers are counted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from webtable.errors import CheckFailed
from webtable.index.cell_encoding import Revision, decode_revision, encode_revision
from webtable.index.indexed_table import Change, RowState
from webtable.index.write_protocol import NO_REVISION, new_revision
from webtable.links import schema
from webtable.links.cell_encoding import GONE, encode_cur
from webtable.links.checking.compare_with_expected import Finding
from webtable.links.checking.expected_index import SOURCE_COLUMNS, source_of, source_states
from webtable.links.link_index import LinkIndex
from webtable.links.updating.cluster_counts import Exporter
from webtable.links.updating.embedded import forget_counts
from webtable.links.updating.link_changes import links_changed
from webtable.links.updating.shard_writer import (
    DOMAIN_CELLS,
    PAGE_CELLS,
    ShardCells,
    ShardWriter,
    State,
)
from webtable.store.filtering.filters import ColumnPaginationFilter, ColumnRangeFilter, FilterList
from webtable.store.mutation import Check, Delete, Put
from webtable.store.scan import ALL_VERSIONS

__all__ = ["Repairer", "count_live", "domain_row", "home_row"]

_PIECE = 2_000
_ATTEMPTS = 100


class Repairer:
    """Repairs what `verify` found."""

    def __init__(self, index: LinkIndex) -> None:
        self._index = index
        rows = index.rows
        self._shards = ShardWriter(index.table, PAGE_CELLS, rows.clock, rows.new_token)
        self._domains = ShardWriter(index.table, DOMAIN_CELLS, rows.clock, rows.new_token)
        self._exporter = Exporter(index)

    def repair(self, findings: Sequence[Finding]) -> None:
        """Repairs findings of any kind; what is correct already stays so."""
        links = [each for each in findings if each.kind == "link"]
        sources = {each.source for each in links}
        sources |= {each.name for each in findings if each.kind == "links"}
        refreshed = self._refresh(sorted(sources))
        states: dict[bytes, list[State]] = {}
        strays: list[Delete] = []
        recounted = {
            schema.shard_row(b"p:", each.name, each.shard)
            for each in findings
            if each.kind in ("link", "count")
        }
        for each in links:
            source = refreshed[each.source]
            row = schema.shard_row(b"p:", each.name, each.shard)
            is_home = schema.shard_of(each.source, self._index.shards) == each.shard
            state = State(each.source, source.states.get(each.name, GONE), source.guard)
            if not is_home:
                state = state._replace(value=GONE)
                strays.append(Delete(row, timestamp=state.guard).column(schema.INLINK + state.name))
            states.setdefault(row, []).append(state)
        self._shards.write(states)
        for row in sorted(recounted):
            self._recount(row, PAGE_CELLS)
        forget_counts(self._index.store)
        self._exporter.export(sorted({each.name for each in findings if each.kind != "domain"}))
        for uri in sorted({each.name for each in findings if each.kind == "rank"}):
            self._index.rows.write(schema.page_row(uri), Change(renew=True))
        homes = {home_row(self._index, each.name) for each in findings if each.kind != "domain"}
        members = self._strays(findings)
        self._domains.write(members)
        strays += [
            Delete(row, timestamp=state.guard).column(schema.MEMBER + state.name)
            for row, ended in members.items()
            for state in ended
        ]
        found = {domain_row(each) for each in findings if each.kind in ("member", "domain")}
        for row in sorted(homes | found):
            self._recount(row, DOMAIN_CELLS)
        with self._index.table.batch() as batch:
            for stray in strays:
                batch.add(stray)

    def _strays(self, findings: Sequence[Finding]) -> dict[bytes, list[State]]:
        """Returns the states that remove URIs from domains they do not belong to."""
        strays = [
            each
            for each in findings
            if each.kind == "member" and domain_row(each) != home_row(self._index, each.name)
        ]
        refreshed = self._refresh({each.name for each in strays})
        states: dict[bytes, list[State]] = {}
        for each in strays:
            state = State(each.name, GONE, refreshed[each.name].guard)
            states.setdefault(domain_row(each), []).append(state)
        return states

    # Sources

    def _refresh(self, uris: Iterable[bytes]) -> dict[bytes, _Refresh]:
        """Writes the links of pages again, each with a new revision of its row."""
        decisions = [_Refresh(self._index, uri) for uri in uris]
        written = self._index.rows.write_many(
            [(schema.page_row(each.uri), each) for each in decisions]
        )
        for each, revision in zip(decisions, written, strict=True):
            assert revision is not None
            each.guard = revision
        return {each.uri: each for each in decisions}

    # Numbers

    def _recount(self, row: bytes, cells: ShardCells) -> None:
        """Counts the live states of a shard; writes the number unless the row changed."""
        table, rows = self._index.table, self._index.rows
        for _ in range(_ATTEMPTS):
            found = table.get(row, (cells.number, cells.revision))
            values = {} if found is None else found.values()
            cell, old = values.get(cells.revision), values.get(cells.number)
            count = b"%d" % count_live(self._index, row, cells)
            if count == (old or b"0"):
                return
            was = NO_REVISION if cell is None else decode_revision(cell)
            number = new_revision(rows.clock.now_ms(), was.number)
            own = encode_revision(Revision(number, rows.new_token()))
            check = Check.absent(cells.revision, unique=True)
            if cell is not None:
                check = Check.equal(cells.revision, cell, unique=True)
            put = Put(row, {cells.number: count, cells.revision: own}, timestamp=number)
            if table.check_and_mutate(row, check, put):
                return
        raise CheckFailed(
            f"row {row!r:.80} of the link index was changed by other workers {_ATTEMPTS} times",
            hint="try again when fewer pages are being loaded",
        )


class _Refresh:
    """Decides the content of a page's row in the index; see `Decide`.

    Attributes:
        states: target → the expected state of the link there.
        guard: the revision of the row after the write.
    """

    def __init__(self, index: LinkIndex, uri: bytes) -> None:
        self._index = index
        self.uri = uri
        self.states: dict[bytes, bytes] = {}
        self.guard = 0

    def __call__(self, state: RowState) -> Change:
        """Decides what to write. The page is read after the row, so it is at least as new."""
        pages = self._index.pages
        key = pages.keys.row_key(schema.url_of(self.uri))
        found = pages.rows.table.get(key, SOURCE_COLUMNS, versions=ALL_VERSIONS)
        source = None if found is None else source_of(self._index, found)
        if source is None:
            self.states = {}
            gone = (schema.AT, schema.CUR, schema.CHANGED)
            return Change(delete=gone if schema.AT in state.facts else ())
        self.states = source_states(source)
        at = _number(state.facts.get(schema.AT))
        if at > self._index.rows.clock.now_ms():
            at = 0  # a time in the future: no page could be newer
        put = {
            schema.CUR: encode_cur(source.text.decode()),
            schema.AT: b"%d" % max(at, source.revision),
        }
        # A repair is a change: what readers of the feed have may be what was wrong.
        return Change(put=put, of_revision=links_changed(state.facts))


def domain_row(finding: Finding) -> bytes:
    """Returns the row of the domain in a finding."""
    domain = finding.name if finding.kind == "domain" else finding.domain
    return schema.shard_row(b"d:", domain, finding.shard)


def home_row(index: LinkIndex, uri: bytes) -> bytes:
    """Returns the row of the domain that a URI belongs to."""
    shard = schema.shard_of(uri, index.shards)
    return schema.shard_row(b"d:", index.domains.of(uri), shard)


def count_live(index: LinkIndex, row: bytes, cells: ShardCells) -> int:
    """Counts the live states of a shard, in bounded memory."""
    family, last, count = cells.prefix[:-1], b"", 0
    while True:
        rest = ColumnRangeFilter(last or None, False, None, True)
        piece = FilterList((rest, ColumnPaginationFilter(_PIECE, 0)))
        found = index.table.get(row, (family,), filter=piece)
        read = () if found is None else found.raw_cells
        count += sum(1 for _, _, value, _ in read if value[:1] == b"+")
        if len(read) < _PIECE:
            return count
        last = read[-1][0][len(cells.prefix) :]


def _number(value: bytes | None) -> int:
    return int(value) if value and value.isdigit() else 0
