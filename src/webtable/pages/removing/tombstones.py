"""The removed pages whose tombstones are not purged yet, with the pages that they linked to.

The row of a removed page has neither its URL nor its links. Both are needed until the tombstone is
purged: to finish the link index after a crash, and to purge what it remembers of the page. They lie
in the table `webtable_settings`:

    tombstone:ROW KEY    a:url = the URL
                         a:links0000, a:links0001, … = zlib of URLs, one in each line

The timestamp of these cells is when the removal began. They are written before the row of the page
is changed (in an embedded store with it), and deleted after the tombstone was purged.
On-disk: changing this needs a new format version. Frozen by
tests/pages/removing/test_tombstones.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from webtable.pages.schema import SETTINGS_TABLE
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Delete, Put
from webtable.store.scan import Scan
from webtable.store.store import Store

__all__ = ["Tombstone", "Tombstones", "link_targets"]

_PREFIX = b"tombstone:"
_URL, _LINKS = b"a:url", b"a:links"
_PART_BYTES = 1024 * 1024


class Tombstone(NamedTuple):
    """A removed page, or one that is about to be removed.

    Attributes:
        row: the row key of the page.
        began_ms: when its removal began.
        links: the URLs of every page that it ever linked to, as far as they were stored.
    """

    row: bytes
    url: str
    began_ms: int
    links: frozenset[str]


def link_targets(texts: Iterable[bytes]) -> set[str]:
    """Returns the URLs in stored lists of links, which have a line for each link."""
    return {
        line.partition(b"\t")[0].decode() for text in texts if text for line in text.split(b"\n")
    }


class Tombstones:
    """The removed pages of a store that are not purged."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def puts(self, tombstone: Tombstone) -> list[tuple[str, Put]]:
        """Returns the puts that record a tombstone."""
        values = {_URL: tombstone.url.encode()}
        for number, part in enumerate(_parts(sorted(tombstone.links))):
            values[b"%b%04d" % (_LINKS, number)] = zlib.compress(part)
        put = Put(_PREFIX + tombstone.row, values, timestamp=tombstone.began_ms)
        return [(SETTINGS_TABLE, put)]

    def get_many(self, rows: Sequence[bytes]) -> list[Tombstone | None]:
        """Reads the tombstones of rows; None where a row has none."""
        if not rows:
            return []
        found = self._store.table(SETTINGS_TABLE).get_many([_PREFIX + row for row in rows])
        return [None if each is None else _decoded(each) for each in found]

    def scan(self, start: bytes = b"", limit: int | None = None) -> Iterator[Tombstone]:
        """Yields the tombstones from a row key on, in the order of row keys."""
        stop = _PREFIX[:-1] + bytes((_PREFIX[-1] + 1,))
        scan = Scan(start=_PREFIX + start, stop=stop, limit=limit)
        for row in self._store.table(SETTINGS_TABLE).scan(scan):
            yield _decoded(row)

    def forget(self, tombstone: Tombstone) -> None:
        """Deletes the record of a tombstone; a later one of the same page stays."""
        row = _PREFIX + tombstone.row
        table = self._store.table(SETTINGS_TABLE)
        found = table.get(row)
        delete = Delete(row)
        for column, timestamp, _, _ in () if found is None else found.raw_cells:
            if timestamp <= tombstone.began_ms:
                delete.column(column, timestamp)
        if delete.markers:
            table.mutate(row, [delete])


def _parts(urls: Sequence[str]) -> Iterator[bytes]:
    part: list[bytes] = []
    size = 0
    for url in map(str.encode, urls):
        if size + len(url) > _PART_BYTES and part:
            yield b"\n".join(part)
            part, size = [], 0
        part.append(url)
        size += len(url) + 1
    if part:
        yield b"\n".join(part)


def _decoded(row: Row) -> Tombstone:
    values = row.values()
    links = [
        url
        for column, value in values.items()
        if column.startswith(_LINKS)
        for url in zlib.decompress(value).decode().split("\n")
    ]
    began = max(timestamp for _, timestamp, _, _ in row.raw_cells)
    url = values.get(_URL, b"").decode()
    return Tombstone(row.key[len(_PREFIX) :], url, began, frozenset(links))
