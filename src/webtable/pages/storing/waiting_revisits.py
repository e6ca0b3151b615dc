"""Revisits that arrived before the body that they repeat, and are completed when it arrives.

A revisit of another URL may be loaded before that URL. Then the row of its page names the digest
of the body that it waits for:

    metadata:waits = digest blank digest …

in the order of the digests, the first `MOST_WAITS`; empty or missing: it waits for none. They
are facts of the row, so the digest index has an entry of the row for each of them. A writer that
stores bodies reads these entries, and stores the revisits of the rows that it finds again, now with
the body. On-disk: changing this needs a new format version. Frozen by
tests/pages/storing/test_waiting_revisits.py.

In an embedded store both happen under the lock of commits, the revisits first, so a load that was
killed between the two completes the others when it resumes. On a cluster each of two writers first
writes its own row and then looks for that of the other one, so at least one of them finds it.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from webtable.index.indexed_table import Hit, IndexedTable
from webtable.pages.captures import MAX_BODY_BYTES
from webtable.pages.columns import CAPTURE, HEAD, URL, WAITS
from webtable.pages.indexes import DIGESTS, WAITING
from webtable.pages.page import NewCapture
from webtable.pages.storing.capture_cells import note_qualifier, origin_text
from webtable.pages.storing.row_history import HISTORY, RowHistory, history_of
from webtable.store.cells_and_rows import Row
from webtable.store.scan import ALL_VERSIONS, Get, Scan

__all__ = [
    "MOST_WAITS",
    "WaitingRevisits",
    "encode_waits",
    "waits_after",
    "waits_of",
    "waits_problem",
]

MOST_WAITS = 200
"""How many digests a row names. If the others come before these, `webtable verify --repair`
completes their revisits."""
_FEW = 64
"""As many entries are read at once; where there are more, those of each digest are read."""
_MOST_ROWS = 100
_MOST_BYTES = 16 * 1024 * 1024


def encode_waits(digests: Iterable[str]) -> bytes:
    """Returns the value of the cell.

    >>> encode_waits({"sha1:B", "sha1:A"})
    b'sha1:A sha1:B'
    """
    return " ".join(sorted(digests)[:MOST_WAITS]).encode()


def waits_of(values: Mapping[bytes, bytes]) -> set[str]:
    """Returns the digests that a row waits for; `values` are those of its metadata."""
    return set(values.get(WAITS, b"").decode("utf-8", "replace").split())


def waits_after(
    values: Mapping[bytes, bytes],
    history: RowHistory,
    captures: Iterable[NewCapture],
    brought: Collection[str],
) -> dict[bytes, bytes]:
    """Returns the cell of a row after a write; empty where it stays as it is.

    Args:
        values: the metadata before the write.
        history: of the row, with the new captures.
        captures: the new captures.
        brought: the digests of the bodies that they have.
    """
    before = waits_of(values)
    revisited = {each.note.digest for each in captures if each.note.is_revisit}
    if not before and not revisited:
        return {}
    # A row with too many of them names the next ones when the first ones have come.
    found = set(history.lacking) if len(before) >= MOST_WAITS else before | revisited
    found = {each for each in found if each and each not in brought}
    after = encode_waits(filter(history.lacks_body, found))
    return {} if after == values.get(WAITS, b"") else {WAITS: after}


def waits_problem(values: Mapping[bytes, bytes], history: RowHistory) -> str:
    """Returns how the cell of a row differs from what its captures give; empty: not."""
    named, lacking = waits_of(values), {each for each in history.lacking if each}
    if named == lacking or (named < lacking and len(named) == MOST_WAITS):
        return ""
    return f"{WAITS.decode()} names {len(named)} digests, and {len(lacking)} have no body"


class WaitingRevisits:
    """Finds the revisits of a store that wait for some bodies."""

    def __init__(self, rows: IndexedTable) -> None:
        self._rows = rows

    def of_bodies(
        self, captures: Sequence[NewCapture], row_keys: Sequence[bytes]
    ) -> Iterator[list[NewCapture]]:
        """Yields revisits that wait for the bodies of captures, as many as one write may have.

        Args:
            row_keys: the rows of the captures; a row that has a body of its own needs no other.
        """
        own = {
            (row, each.note.digest)
            for row, each in zip(row_keys, captures, strict=True)
            if each.body is not None
        }
        largest = max((len(each.body) for each in captures if each.body is not None), default=0)
        for hits in self._batches({digest for _, digest in own}, largest):
            wanted = [hit for hit in hits if (hit.row, _digest_of(hit)) not in own]
            if some := self._revisits(wanted):
                yield some

    def of_digests(self, digests: Collection[str]) -> Iterator[list[NewCapture]]:
        """Yields revisits that wait for some digests, as many as one write may have."""
        for hits in self._batches(digests, 0):
            if some := self._revisits(hits):
                yield some

    def all(self) -> Iterator[list[NewCapture]]:
        """Yields all revisits that wait for a body."""
        found = self._rows.hits(DIGESTS, Scan(prefix=WAITING, batch_rows=_FEW))
        for hits in _cut(found, max(1, _MOST_BYTES // MAX_BODY_BYTES)):
            if some := self._revisits(hits, lacking=True):
                yield some

    def digests(self, most: int) -> set[str]:
        """Returns the digests that revisits wait for, so many at most."""
        found = self._rows.hits(DIGESTS, Scan(prefix=WAITING))
        return set(itertools.islice(dict.fromkeys(map(_digest_of, found)), most))

    def _batches(self, digests: Collection[str], largest: int) -> Iterator[list[Hit]]:
        if not digests or DIGESTS not in self._rows.indexes:
            return
        # Usually no revisit waits, and this one read of an empty range is all.
        scan = Scan(prefix=WAITING, batch_rows=_FEW)
        few = list(itertools.islice(self._rows.hits_of_many(DIGESTS, [scan])[0], _FEW))
        found: Iterator[Hit] = iter(few)
        if len(few) == _FEW:
            groups = [b"%b%b_" % (WAITING, digest.encode()) for digest in sorted(digests)]
            streams = self._rows.hits_of_prefixes(DIGESTS, groups, few=_FEW)
            found = itertools.chain.from_iterable(streams)
        wanted = (hit for hit in found if _digest_of(hit) in digests)
        yield from _cut(wanted, max(1, min(_MOST_ROWS, _MOST_BYTES // max(1, largest))))

    def _revisits(self, hits: Sequence[Hit], *, lacking: bool = False) -> list[NewCapture]:
        """Returns the newest revisit of each digest in each row, as it was loaded.

        Also of rows that have the body by now, unless `lacking`: on a cluster, a writer may have
        died before it removed the entry, and to write the row again removes it.
        """
        rows = list(dict.fromkeys(hit.row for hit in hits))
        found = self._rows.table.get_many([Get(row, (*HISTORY, URL), ALL_VERSIONS) for row in rows])
        by_row = dict(zip(rows, found, strict=True))
        revisits = []
        for hit in hits:
            row = by_row[hit.row]
            revisit = None if row is None else self._revisit(row, _digest_of(hit), lacking)
            if revisit is not None:
                revisits.append(revisit)
        return revisits

    def _revisit(self, row: Row, digest: str, lacking: bool) -> NewCapture | None:
        history, url = history_of(row), (row.value(URL) or b"").decode()
        note = history.newest_revisit(digest)
        if note is None or not url or (lacking and not history.lacks_body(digest)):
            return None
        qualifier = note_qualifier(note)
        found = self._rows.table.get(row.key, (HEAD + qualifier,))
        head = None if found is None else found.value(HEAD + qualifier)
        origin = origin_text(row.value(CAPTURE + qualifier) or b"")
        return NewCapture(url, note, None, None, head=head or b"", origin=origin)


def _digest_of(hit: Hit) -> str:
    """Returns the digest in the key of an entry: between its first byte and the row key."""
    return hit.key[len(WAITING) : -len(hit.row) - 1].decode("utf-8", "replace")


def _cut(hits: Iterator[Hit], size: int) -> Iterator[list[Hit]]:
    while some := list(itertools.islice(hits, size)):
        yield some
