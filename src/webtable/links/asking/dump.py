"""The link index as one logical table of rows, families, qualifiers and values.

The stored cells are spread over shards and index entries. A dump joins them, row by row, to this
table:

    d:<domain>           domain   pagecount        how many of its URIs are crawled or linked to
                         rank     <count>:<uri>    its URIs, the most linked first
    p:<uri>              inlinks  <source uri>     the anchors of the links
                         page     cur              the links on the page, as JSON
                                  incount          how many pages link here
    t:<count>:<uri>                                all URIs, the most linked first

A URI without a path is the home page of its host. A URL without a scheme has the scheme https.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from webtable.index.indexed_table import Hit
from webtable.links import schema
from webtable.links.asking.cursors import cursor_of, parts_of
from webtable.links.asking.link_reader import LinkReader
from webtable.links.cell_encoding import decode_cur
from webtable.links.link_index import LinkIndex
from webtable.pages.asking.paged_results import QueryCost
from webtable.result_base import Value
from webtable.store.scan import Scan

__all__ = ["DumpCell", "dump", "layout"]

_SOURCE = b"i:"
_LAID_OUT = 1_000
_GAP = 3
_HEAD = ("row", "cf", "cq", "value")


class _Place(NamedTuple):
    """The last cell that was returned: its row, and its position in the row."""

    row: bytes
    cell: bytes


class DumpCell(Value, msgspec.Struct, frozen=True):
    """One cell of the link index, as one table.

    Attributes:
        row: `d:DOMAIN`, `p:PAGE`, or `t:COUNT:PAGE` for the ranks.
        family, qualifier: its column; empty in rows of `t:`.
        value: as text.
    """

    row: str
    family: str
    qualifier: str
    value: str


def dump(index: LinkIndex, after: str | None = None) -> Iterator[tuple[str, DumpCell]]:
    """Yields the cells of the table in order, each with the cursor that continues after it.

    Rows `p:` are the pages that are crawled or linked to, with the links that exist now.

    Raises:
        InvalidRequest: the cursor is not from a dump.
    """
    behind = _Place(b"", b"") if after is None else _Place(*parts_of(after, 2))
    sections = ((b"d:", _domains), (b"p:", _pages), (b"t:", _ranks))
    return itertools.chain.from_iterable(
        section(index, behind) for kind, section in sections if kind >= behind.row[:2]
    )


def _domains(index: LinkIndex, behind: _Place) -> Iterator[tuple[str, DumpCell]]:
    start = behind.row if behind.row[:2] == b"d:" else b"d:"
    rows = index.table.scan(start=start, stop=b"d;", columns=(schema.PAGE_COUNT,))
    for row, shards in itertools.groupby(rows, lambda row: row.key.partition(b"\0")[0]):
        count = sum(int(shard.value(schema.PAGE_COUNT) or 0) for shard in shards)
        if not count:
            continue
        name = row.decode()
        if row != behind.row:
            yield cursor_of(row, b""), DumpCell(name, "domain", "pagecount", str(count))
        prefix = row + b":"
        begin = prefix + behind.cell + b"\0" if row == behind.row and behind.cell else b""
        for hit in index.rows.find(schema.DOMAIN_RANKS, Scan(prefix=prefix, start=begin)):
            place, number, uri = hit.key[len(prefix) :], _count(hit), _shown(hit.row[2:])
            yield cursor_of(row, place), DumpCell(name, "rank", f"{number}:{uri}", number)


def _pages(index: LinkIndex, behind: _Place) -> Iterator[tuple[str, DumpCell]]:
    start = behind.row if behind.row[:2] == b"p:" else b"p:"
    reader = LinkReader(index, QueryCost())
    columns = (schema.CUR, schema.INCOUNT)
    for row in index.table.scan(start=start, stop=b"p;", columns=columns):
        values = row.values()
        if schema.INCOUNT not in values:
            continue
        seen = behind.cell if row.key == behind.row else b""
        name = f"p:{_shown(row.key[2:])}"
        if not seen or seen.startswith(_SOURCE):
            first = seen[len(_SOURCE) :] + b"\0" if seen else b""
            for source in reader.sources(row.key[2:], start=first):
                anchors = " | ".join(link.anchor for link in source.links)
                line = DumpCell(name, "inlinks", _shown(source.uri), anchors)
                yield cursor_of(row.key, _SOURCE + source.uri), line
        if schema.CUR in values and seen != b"cur" and seen != b"incount":
            yield (
                cursor_of(row.key, b"cur"),
                DumpCell(name, "page", "cur", _json(values[schema.CUR])),
            )
        if seen != b"incount":
            count = values[schema.INCOUNT].decode()
            yield cursor_of(row.key, b"incount"), DumpCell(name, "page", "incount", count)


def _ranks(index: LinkIndex, behind: _Place) -> Iterator[tuple[str, DumpCell]]:
    start = behind.row + b"\0" if behind.row[:2] == b"t:" else b"t:"
    for hit in index.rows.find(schema.TOP_RANKS, Scan(start=start)):
        number = _count(hit)
        yield cursor_of(hit.key, b""), DumpCell(f"t:{number}:{_shown(hit.row[2:])}", "", "", number)


def _count(hit: Hit) -> str:
    assert hit.found is not None
    return (hit.found.value(schema.INCOUNT) or b"0").decode()


def _json(cur: bytes) -> str:
    """Returns the targets of a page's links, each once."""
    targets = dict.fromkeys(line.partition("\t")[0] for line in decode_cur(cur).splitlines())
    urls = [url.removeprefix("https://") for url in targets]
    links = [_bare(url) if "://" not in url else url for url in urls]
    return json.dumps({"outlinkcount": len(links), "outlinks": links}, ensure_ascii=False)


def _shown(uri: bytes) -> str:
    return _bare(uri.decode())


def _bare(name: str) -> str:
    """Removes the slash if it is the whole path of a page."""
    return name[:-1] if name.find("/") == len(name) - 1 else name


def layout(lines: Iterable[DumpCell]) -> Iterator[str]:
    """Yields the lines of a text table; the first thousand cells determine the widths."""
    rest = iter(lines)
    first = list(itertools.islice(rest, _LAID_OUT))
    cells = [_HEAD, *((line.row, line.family, line.qualifier, "") for line in first)]
    widths = [max(map(len, column)) + _GAP for column in zip(*cells, strict=True)][:3]

    def padded(*texts: str) -> str:
        return "".join(text.ljust(width) for text, width in zip(texts, widths, strict=True))

    yield padded(*_HEAD[:3]) + _HEAD[3]
    yield "-" * (sum(widths) + len(_HEAD[3]) + 1)
    row = family = None
    for line in itertools.chain(first, rest):
        is_same = line.row == row
        shown_family = "" if is_same and line.family == family else line.family
        shown_row = "" if is_same else line.row
        yield (padded(shown_row, shown_family, line.qualifier) + line.value).rstrip()
        row, family = line.row, line.family
