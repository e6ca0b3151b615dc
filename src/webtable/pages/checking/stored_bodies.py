"""Checks that the stored bodies of pages exist and match their captures.

Bodies are read one by one, a few megabytes at a time, however many versions a row has. A body must
have the size in its captures, and the digest in the cell next to it. Stores up to format 2 have no
digest of the body itself, only the digest of the recorded payload, which differs for a compressed
response. Then only the size and the checksums of the files can be compared, and the body counts as
unproven. The facts of each body are computed again and compared with the stored ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from webtable.pages.checking.stored_facts import CheckedBody, FactsChecker, StoredFacts
from webtable.pages.columns import BODY, BODY_OF
from webtable.pages.formats.payload_digests import is_digest_of
from webtable.pages.storing.capture_cells import decode_body_of, encode_time
from webtable.pages.storing.row_history import RowHistory
from webtable.store.scan import Get
from webtable.store.table import Table

__all__ = ["BodyChecker", "BodyFinding"]

_MOST_BYTES = 8 * 1024 * 1024
_MOST_BODIES = 64
_UNKNOWN_BYTES = 64 * 1024


class BodyFinding(NamedTuple):
    """A body that is missing, or does not match its captures."""

    row: bytes
    url: str
    what: str
    is_repaired: bool = False


class _Body(NamedTuple):
    row: bytes
    url: str
    time: int
    digest: str
    sizes: frozenset[int]
    """The sizes in the captures with this digest; empty: none of them has a body."""
    media_type: str | None
    """Its media type, if its facts are to be checked: at one of several versions of a body."""
    facts: StoredFacts | None


class BodyChecker:
    """Reads bodies and compares each with its captures.

    Attributes:
        bodies: how many bodies were read.
        unproven: how many of them have no digest of the body itself.
    """

    def __init__(self, table: Table, facts: FactsChecker | None = None) -> None:
        self._facts = facts
        self._table = table
        self._waiting: list[_Body] = []
        self._size = 0
        self.bodies = self.unproven = 0

    def add(
        self,
        row: bytes,
        url: str,
        history: RowHistory,
        facts: Mapping[str, StoredFacts] = MappingProxyType({}),
    ) -> Iterator[BodyFinding]:
        """Adds the bodies of a row; yields differences of these or of earlier ones."""
        checked: set[str] = set()
        sizes: dict[str, set[int]] = {}
        for note in history.notes.values():
            if not note.waits_for_body:
                sizes.setdefault(note.digest, set()).add(note.size)
        for time, digest in history.bodies.by_time.items():
            named = frozenset(sizes.get(digest, ()))
            first = history.first(digest)
            media_type = None if digest in checked or first is None else first.type
            checked.add(digest)
            found = facts.get(digest)
            self._waiting.append(_Body(row, url, time, digest, named, media_type, found))
            self._size += max(named, default=_UNKNOWN_BYTES)
            if self._size >= _MOST_BYTES or len(self._waiting) >= _MOST_BODIES:
                yield from self.flush()

    def flush(self) -> Iterator[BodyFinding]:
        """Reads the bodies that were added; yields their differences."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        gets = [_get(each, BODY, BODY_OF) for each in waiting]
        for each, row in zip(waiting, self._table.get_many(gets), strict=True):
            values = {} if row is None else row.values()
            what = self._compare(each, values.get(BODY), values.get(BODY_OF))
            if what:
                at = encode_time(each.time)
                yield BodyFinding(each.row, each.url, f"damaged: its body of {at} {what}")
            elif (found := self._compare_facts(each, values.get(BODY))) is not None:
                yield BodyFinding(each.row, each.url, *found)

    def _compare_facts(self, each: _Body, body: bytes | None) -> tuple[str, bool] | None:
        if self._facts is None or each.media_type is None or body is None:
            return None
        checked = CheckedBody(each.row, each.url, each.time, each.digest, each.media_type, body)
        return self._facts.check(checked, each.facts)

    def _compare(self, each: _Body, body: bytes | None, body_of: bytes | None) -> str:
        if body is None:
            # The body may have expired after its digest was read.
            return "" if body_of is None else "is missing: it was deleted by hand, or lost"
        self.bodies += 1
        own = decode_body_of(body_of or b"").own
        if is_digest_of(own or each.digest, body):
            return ""
        if own is not None:
            return f"does not have its digest {own}"
        self.unproven += 1
        if each.sizes and len(body) not in each.sizes:
            return f"has {len(body):,} bytes, not {max(each.sizes):,}"
        return ""


def _get(body: _Body, *columns: bytes) -> Get:
    at = body.time * 1000
    return Get(body.row, columns, 1, (at, at + 1))
