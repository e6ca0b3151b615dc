"""Verifies a random sample of the pages of a large store, and the cells that depend on them.

For each page it compares its own links, every link from it at the target, every link to it at the
source, and the numbers, ranks and domains of all these pages. It reads nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from webtable.errors import CorruptData
from webtable.index.build_and_verify import explain_row
from webtable.index.write_protocol import SKEW_MS
from webtable.links import schema
from webtable.links.batching import batches
from webtable.links.cell_encoding import GONE, decode_cur
from webtable.links.checking.compare_with_expected import Finding, OnFinding
from webtable.links.checking.expected_index import SOURCE_COLUMNS, Source, source_of, source_states
from webtable.links.link_index import LinkIndex
from webtable.pages.checking.verify import Sample, chosen_rows
from webtable.pages.storing.content_revision import is_changed
from webtable.store.filtering.filters import ColumnPaginationFilter, ColumnRangeFilter, FilterList
from webtable.store.scan import ALL_VERSIONS, Get

__all__ = ["check_numbers", "check_pages", "check_sample"]

_PAGES = 20
_PIECE = 500
_MOST_SOURCES = 5_000  # of one page that are verified


def check_pages(index: LinkIndex, some: Sequence[Source]) -> Iterator[Finding]:
    """Yields the pages whose links differ from their rows in the index."""
    now = index.rows.clock.now_ms()
    rows = [schema.page_row(source.uri) for source in some]
    found = index.table.get_many(rows, (schema.CUR, schema.AT, schema.CHANGED))
    for source, row in zip(some, found, strict=True):
        values = {} if row is None else row.values()
        at = values.get(schema.AT, b"")
        try:
            is_same = decode_cur(values.get(schema.CUR)).encode() == source.text
        except (CorruptData, UnicodeDecodeError):
            is_same = False
        if not at:
            yield Finding("links", source.uri, "the page is stored, but the index does not have it")
        elif not at.isdigit() or int(at) > max(now + SKEW_MS, source.revision):
            yield Finding(
                "links", source.uri, f"the time of its links is in the future: {at!r:.40}"
            )
        elif not is_same:
            yield Finding("links", source.uri, "its links in the index differ")
        elif not is_changed(values.get(schema.CHANGED, b"")):
            yield Finding("links", source.uri, "the revision of its links is missing or damaged")


def check_sample(index: LinkIndex, sample: Sample, on_finding: OnFinding) -> int:
    """Verifies a sample of pages; returns how many pages it has."""
    pages = 0
    for rows in batches(chosen_rows(index.pages, sample), _PAGES):
        found = index.pages.rows.table.get_many(rows, SOURCE_COLUMNS, versions=ALL_VERSIONS)
        some = [
            each for row in found if row is not None and (each := source_of(index, row)) is not None
        ]
        pages += len(some)
        for finding in check_pages(index, some):
            on_finding(finding)
        uris = dict.fromkeys(source.uri for source in some)
        for source in some:
            states = source_states(source)
            _check_targets(index, source, states, on_finding)
            _check_sources(index, source.uri, on_finding)
            uris.update(dict.fromkeys(states))
        stored = {source.uri: source for source in some}
        for piece in batches(uris, _PIECE):
            check_numbers(index, piece, stored, on_finding)
    return pages


def _check_targets(
    index: LinkIndex, source: Source, states: dict[bytes, bytes], on_finding: OnFinding
) -> None:
    """Verifies that each target of a page has the state of the link."""
    shard = schema.shard_of(source.uri, index.shards)
    column = schema.INLINK + source.uri
    for targets in batches(states, _PIECE):
        rows = [schema.shard_row(b"p:", target, shard) for target in targets]
        for target, row in zip(targets, index.table.get_many(rows, (column,)), strict=True):
            if states[target] != (None if row is None else row.value(column)):
                shown = source.uri.decode("utf-8", "replace")
                what = f"the link from {shown} differs from the page"
                on_finding(Finding("link", target, what, source.uri, shard))


def _check_sources(index: LinkIndex, uri: bytes, on_finding: OnFinding) -> None:
    """Verifies that the source of each link to a page has this link."""
    for shard in range(index.shards):
        live = seen = 0
        for some in batches(_links_to(index, uri, shard), _PIECE):
            seen += len(some)
            live += sum(1 for _, state in some if state != GONE)
            for source, state in some:
                if seen > _MOST_SOURCES:
                    return  # only a verification of all pages reads the rest
                if state != GONE and _state_in_page(index, source, uri) != state:
                    shown = source.decode("utf-8", "replace")
                    what = f"the link from {shown} differs from the page"
                    on_finding(Finding("link", uri, what, source, shard))
        row = index.table.get(schema.shard_row(b"p:", uri, shard), (schema.COUNT,))
        count = b"" if row is None else row.value(schema.COUNT) or b""
        if (count or b"0") != b"%d" % live:
            what = f"the number of links is {count.decode() or 'missing'}, not {live}"
            on_finding(Finding("count", uri, what, shard=shard))


def _links_to(index: LinkIndex, uri: bytes, shard: int) -> Iterator[tuple[bytes, bytes]]:
    row, last = schema.shard_row(b"p:", uri, shard), b""
    while True:
        piece = FilterList(
            (ColumnRangeFilter(last or None, False, None, True), ColumnPaginationFilter(_PIECE, 0))
        )
        found = index.table.get(row, (schema.INLINKS.encode(),), filter=piece)
        cells = () if found is None else found.raw_cells
        for column, _, value, _ in cells:
            yield column[len(schema.INLINK) :], value
        if len(cells) < _PIECE:
            return
        last = cells[-1][0][len(schema.INLINK) :]


def _state_in_page(index: LinkIndex, source: bytes, target: bytes) -> bytes | None:
    pages = index.pages
    key = pages.keys.row_key(schema.url_of(source))
    found = pages.rows.table.get(key, SOURCE_COLUMNS, versions=ALL_VERSIONS)
    stored = None if found is None else source_of(index, found)
    return None if stored is None else source_states(stored).get(target)


def check_numbers(
    index: LinkIndex, uris: Sequence[bytes], stored: dict[bytes, Source], on_finding: OnFinding
) -> None:
    """Verifies numbers, ranks and domains of pages against the counts of their shards."""
    shards = index.shards
    gets = [
        Get(schema.shard_row(b"p:", uri, shard), (schema.COUNT,))
        for uri in uris
        for shard in range(shards)
    ]
    counts = iter(index.table.get_many(gets))
    homes = [
        schema.shard_row(b"d:", index.domains.of(uri), schema.shard_of(uri, shards)) for uri in uris
    ]
    members = index.table.get_many(
        [Get(row, (schema.MEMBER + uri,)) for row, uri in zip(homes, uris, strict=True)]
    )
    for uri, member in zip(uris, members, strict=True):
        own = [row.value(schema.COUNT) for row in islice(counts, shards) if row is not None]
        total = sum(int(value) for value in own if value)
        state, entries = explain_row(index.rows, schema.page_row(uri))
        is_here = schema.AT in state.facts or total > 0
        number = b"%d" % total if is_here else b""
        if state.facts.get(schema.INCOUNT, b"") != number:
            is_now = state.facts.get(schema.INCOUNT, b"").decode() or "missing"
            what = f"the number of links to it is {is_now}, not {number.decode() or 'none'}"
            on_finding(Finding("incount", uri, what))
        for each in entries:
            if not each.is_there:
                on_finding(Finding("rank", uri, f"{each.name} does not have it"))
        if is_here != (member is not None and member.value(schema.MEMBER + uri) == b"+"):
            what = "its domain does not have it" if is_here else "its domain should not have it"
            domain = index.domains.of(uri)
            on_finding(
                Finding("member", uri, what, shard=schema.shard_of(uri, shards), domain=domain)
            )
        page = stored.get(uri)
        if page is not None and (page.inlinks != number or page.counted != number):
            wrong = page.inlinks if page.inlinks != number else page.counted
            is_now = wrong.decode() or "missing"
            what = f"the number of links in its own row is {is_now}, not {total}"
            on_finding(Finding("inlinks", uri, what))
