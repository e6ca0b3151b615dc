r"""The expected content of the index, read from the stored pages, as lines in the index's order.

A rebuild writes these lines, and `verify` compares the index with them. A page and a link:

    <uri> 00 ! 00 <metadata:inlinks> 00 <inlinks:count> 00 <row of the page> LF
    <target uri> 00 <shard> <source uri> 00 <state> LF

So all lines of a URI are side by side: first the page's own line, then the links to it in the order
of the rows and columns of the index. In a state, 00 is written as `00 z` and a line feed as `00 n`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from webtable.errors import CorruptData
from webtable.index.cell_encoding import decode_revision
from webtable.links.cell_encoding import GONE
from webtable.links.link_index import LinkIndex
from webtable.links.schema import shard_of, uri_of
from webtable.links.updating.left_out import left_out_of
from webtable.pages.columns import (
    DIGEST,
    INLINK_COUNT,
    INLINKS,
    INLINKS_AT,
    LINKS,
    LINKS_OF,
    REVISION,
    STATUS,
    URL,
)
from webtable.pages.schema import TABLE
from webtable.store.cells_and_rows import Row
from webtable.store.scan import ALL_VERSIONS

__all__ = [
    "PAGE_MARK",
    "SOURCE_COLUMNS",
    "PageLine",
    "Source",
    "page_line",
    "parse_page_line",
    "sized_batches",
    "source_lines",
    "source_of",
    "source_states",
    "sources",
    "state_of_line",
]

PAGE_MARK = b"!"
"""Stands in a page's line where a link's line has the shard; sorts before all shards."""

SOURCE_COLUMNS = (
    URL,
    STATUS,
    DIGEST,
    REVISION,
    INLINKS,
    INLINKS_AT,
    INLINK_COUNT,
    LINKS,
    LINKS_OF,
)
_NO_LINKS = b"-"
_LINE_FEED, _NUL = b"\0n", b"\0z"
_ORIGINS: dict[bytes, bytes] = {}
_MOST_ORIGINS = 65_536
_BATCH_SOURCES = 500
_BATCH_BYTES = 4 * 1024 * 1024


class Source(NamedTuple):
    """A stored page, as a source of links.

    Attributes:
        row: the row of the page in `webtable`; `revision` is the revision of this row.
        text: the links of its newest capture, if that was a success; a line for each link.
        older: the other stored versions of its links.
        inlinks, inlinks_at, counted: the cells of the row about links to it; empty if missing.
        left_out: whether a target has no state, since its URL is blocked; None: none is.
    """

    uri: bytes
    row: bytes
    revision: int
    text: bytes
    older: tuple[bytes, ...]
    inlinks: bytes
    inlinks_at: bytes
    counted: bytes
    left_out: Callable[[bytes], bool] | None = None


def sources(index: LinkIndex) -> Iterator[Source]:
    """Yields all stored pages, in the order of their rows."""
    index.pages.blocked.refresh()
    rows = index.pages.rows.table.scan(columns=SOURCE_COLUMNS, versions=ALL_VERSIONS)
    for row in rows:
        source = source_of(index, row)
        if source is not None:
            yield source


def sized_batches(found: Iterable[Source]) -> Iterator[list[Source]]:
    """Yields sources in batches with a few megabytes of links each."""
    batch: list[Source] = []
    size = 0
    for source in found:
        batch.append(source)
        size += len(source.text) + sum(map(len, source.older))
        if len(batch) >= _BATCH_SOURCES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def source_of(index: LinkIndex, row: Row) -> Source | None:
    """Decodes a row that was read with `SOURCE_COLUMNS`; None if its URL is not valid."""
    texts: list[bytes] = []
    values: dict[bytes, bytes] = {}
    for column, _, value, _ in row.raw_cells:
        if column == LINKS:
            texts.append(value)
        elif column not in values:  # the newest version comes first
            values[column] = value
    try:
        uri = uri_of(values[URL].decode())
    except (KeyError, ValueError):
        return None  # not written by this library; a check of the pages reports it
    is_success = values.get(STATUS, b"")[:1] == b"2"
    identity = values.get(DIGEST, b"") if is_success else _NO_LINKS
    # If the links of the newest capture are not stored, the newest stored links are of another one.
    text = b""
    if texts and values.get(LINKS_OF) == identity:
        text = texts[0]
    older = tuple([each for each in texts if each and each != text])
    cell = values.get(REVISION)
    return Source(
        uri,
        row.key,
        decode_revision(cell).number if cell else 0,
        text,
        older,
        values.get(INLINKS, b""),
        values.get(INLINKS_AT, b""),
        values.get(INLINK_COUNT, b""),
        left_out_of(index.pages.blocked),
    )


def source_states(source: Source) -> dict[bytes, bytes]:
    """Returns target URI → the expected state of the link there, live or removed.

    Raises:
        CorruptData: the stored links do not decode.
    """
    try:
        states = _states(source.text, source.older, b"\n")
        return _without(states, source.left_out)
    except ValueError as exc:
        raise _undecodable(source) from exc


def _states(text: bytes, older: Iterable[bytes], line_feed: bytes) -> dict[bytes, bytes]:
    # The same as `cells.live_values`, but on bytes: this is the inner loop of a rebuild.
    states: dict[bytes, bytes] = {}
    origins = _ORIGINS
    last = uri = b""
    if text:
        for line in text.split(b"\n"):
            url, _, link_text = line.partition(b"\t")
            if url != last:
                last = url
                slash = url.index(b"/", 8)
                start = origins.get(url[:slash])
                uri = (_origin(url[:slash]) if start is None else start) + url[slash:]
                if uri not in states:
                    states[uri] = b"+" + link_text
                    continue
            states[uri] += line_feed + link_text
    for each in older:
        for uri in _states(each, (), b""):
            states.setdefault(uri, GONE)
    return states


def _without(
    states: dict[bytes, bytes], left_out: Callable[[bytes], bool] | None
) -> dict[bytes, bytes]:
    """Returns the states without those of blocked targets."""
    if left_out is None:
        return states
    return {target: state for target, state in states.items() if not left_out(target)}


def _origin(origin: bytes) -> bytes:
    if len(_ORIGINS) >= _MOST_ORIGINS:
        _ORIGINS.clear()
    start = uri_of(origin.decode() + "/")[:-1]
    _ORIGINS[origin] = start
    return start


def _undecodable(source: Source) -> CorruptData:
    return CorruptData(
        f"the links stored in row {source.row!r:.200} of table '{TABLE}' do not decode",
        hint="outlinks:urls is damaged, or was not written by webtable; delete the row, compact,"
        " and load the page again",
    )


# Lines


class PageLine(NamedTuple):
    """The fields of a page's line."""

    row: bytes
    inlinks: bytes
    counted: bytes


def page_line(source: Source) -> bytes:
    """Returns the line of a page."""
    return b"%b\0!\0%b\0%b\0%b\n" % (source.uri, source.inlinks, source.counted, source.row)


def parse_page_line(rest: bytes) -> PageLine:
    """Decodes the part of a page's line after its mark."""
    inlinks, counted, row = rest[:-1].split(b"\0", 2)
    return PageLine(row, inlinks, counted)


def source_lines(source: Source, shards: int) -> list[bytes]:
    """Returns the lines of the links of a page, live and removed.

    Raises:
        CorruptData: the stored links do not decode.
    """
    text, older = source.text, source.older
    if b"\0" in text:
        text = text.replace(b"\0", _NUL)
    try:
        states = _without(_states(text, older, _LINE_FEED), source.left_out)
    except ValueError as exc:
        raise _undecodable(source) from exc
    middle = b"\0%x%b\0" % (shard_of(source.uri, shards), source.uri)
    return [b"%b%b%b\n" % (target, middle, state) for target, state in states.items()]


def state_of_line(rest: bytes) -> bytes:
    """Decodes the state at the end of a link's line."""
    state = rest[:-1]
    if b"\0" in state:
        state = state.replace(_LINE_FEED, b"\n").replace(_NUL, b"\0")
    return state
