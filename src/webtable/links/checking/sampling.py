"""Looking at some pages of a large store, chosen by chance, and at everything around them.

Of each page: its own links; every link from it at its target; every link to it, as its source has
it; and numbers, ranks and domains of all of these. Reads what that takes and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from webtable.errors import CorruptData
from webtable.index.maintenance import explain_row
from webtable.index.rules import SKEW_MS
from webtable.links import schema
from webtable.links.asking.wide_rows import batches
from webtable.links.cells import GONE, decode_cur
from webtable.links.checking.compare import Finding, Tell
from webtable.links.checking.expected import SOURCE_COLUMNS, Source, source_of, source_states
from webtable.links.index import LinkIndex
from webtable.pages.checking.verify import chosen_rows
from webtable.store.filtering.filters import ColumnPaginationFilter, ColumnRangeFilter, FilterList
from webtable.store.scan import ALL_VERSIONS, Get

__all__ = ["check_numbers", "check_pages", "check_sample"]

_PAGES = 20
_PIECE = 500
_MOST_SOURCES = 5_000  # of one page that are looked at


def check_pages(index: LinkIndex, some: Sequence[Source]) -> Iterator[Finding]:
    """Yields which pages have other links than their rows in the index say."""
    now = index.rows.clock.now_ms()
    rows = [schema.page_row(source.uri) for source in some]
    found = index.table.get_many(rows, (schema.CUR, schema.AT))
    for source, row in zip(some, found, strict=True):
        values = {} if row is None else row.values()
        at = values.get(schema.AT, b"")
        try:
            is_same = decode_cur(values.get(schema.CUR)).encode() == source.text
        except (CorruptData, UnicodeDecodeError):
            is_same = False
        if not at:
            yield Finding("links", source.uri, "it is stored, and the index does not know it")
        elif not at.isdigit() or int(at) > max(now + SKEW_MS, source.revision):
            yield Finding("links", source.uri, f"its links are from a time to come: {at!r:.40}")
        elif not is_same:
            yield Finding("links", source.uri, "the index has other links of it")


def check_sample(index: LinkIndex, count: int, tell: Tell) -> int:
    """Looks at some pages and what is around them; returns how many there were."""
    pages = 0
    for rows in batches(chosen_rows(index.pages, count), _PAGES):
        found = index.pages.rows.table.get_many(rows, SOURCE_COLUMNS, versions=ALL_VERSIONS)
        some = [each for row in found if row is not None and (each := source_of(row)) is not None]
        pages += len(some)
        for finding in check_pages(index, some):
            tell(finding)
        uris = dict.fromkeys(source.uri for source in some)
        for source in some:
            states = source_states(source)
            _check_targets(index, source, states, tell)
            _check_sources(index, source.uri, tell)
            uris.update(dict.fromkeys(states))
        stored = {source.uri: source for source in some}
        for piece in batches(uris, _PIECE):
            check_numbers(index, piece, stored, tell)
    return pages


def _check_targets(
    index: LinkIndex, source: Source, states: dict[bytes, bytes], tell: Tell
) -> None:
    """Looks at the targets of a page: each has the state of the link to it."""
    shard = schema.shard_of(source.uri, index.shards)
    column = schema.INLINK + source.uri
    for targets in batches(states, _PIECE):
        rows = [schema.shard_row(b"p:", target, shard) for target in targets]
        for target, row in zip(targets, index.table.get_many(rows, (column,)), strict=True):
            if states[target] != (None if row is None else row.value(column)):
                shown = source.uri.decode("utf-8", "replace")
                what = f"the link from {shown} is not as the page has it"
                tell(Finding("link", target, what, source.uri, shard))


def _check_sources(index: LinkIndex, uri: bytes, tell: Tell) -> None:
    """Looks at the links to a page: each is one that its source has."""
    for shard in range(index.shards):
        live = seen = 0
        for some in batches(_links_to(index, uri, shard), _PIECE):
            seen += len(some)
            live += sum(1 for _, state in some if state != GONE)
            for source, state in some:
                if seen > _MOST_SOURCES:
                    return  # the rest is for a look at everything
                if state != GONE and _state_in_page(index, source, uri) != state:
                    shown = source.decode("utf-8", "replace")
                    what = f"the link from {shown} is not as the page has it"
                    tell(Finding("link", uri, what, source, shard))
        row = index.table.get(schema.shard_row(b"p:", uri, shard), (schema.COUNT,))
        count = b"" if row is None else row.value(schema.COUNT) or b""
        if (count or b"0") != b"%d" % live:
            what = f"{count.decode() or 'no number'} of links, not {live}"
            tell(Finding("count", uri, what, shard=shard))


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
    stored = None if found is None else source_of(found)
    return None if stored is None else source_states(stored).get(target)


def check_numbers(
    index: LinkIndex, uris: Sequence[bytes], stored: dict[bytes, Source], tell: Tell
) -> None:
    """Looks at numbers, ranks and domains of pages, by what their shards say."""
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
            is_now = state.facts.get(schema.INCOUNT, b"").decode() or "no number"
            what = f"{is_now} of links to it, not {number.decode() or 'none'}"
            tell(Finding("incount", uri, what))
        for each in entries:
            if not each.is_there:
                tell(Finding("rank", uri, f"{each.name} lacks it"))
        if is_here != (member is not None and member.value(schema.MEMBER + uri) == b"+"):
            what = "its domain lacks it" if is_here else "its domain should not have it"
            domain = index.domains.of(uri)
            tell(Finding("member", uri, what, shard=schema.shard_of(uri, shards), domain=domain))
        page = stored.get(uri)
        if page is not None and (page.inlinks != number or page.counted != number):
            told = page.inlinks if page.inlinks != number else page.counted
            what = f"its own row has {told.decode() or 'no number'} of links to it, not {total}"
            tell(Finding("inlinks", uri, what))
