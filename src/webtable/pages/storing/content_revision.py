"""The content revision of a page: the revision of the last write that changed what the page shows.

It is a fact of the row, so that an index can have every page at its newest change; see
`webtable.pages.asking.change_feed`:

    metadata:changed = revision, 16 digits, TAB, kind of the change

The kind is `new`, `changed`, `status` (another status), `gone` (not found any more) or `removed`
(the row is the tombstone of a page that a user removed). A capture that is newer but shows the
same, and a new number of inlinks, are no changes. On-disk: changing this needs a new format
version. Frozen by tests/pages/storing/test_content_revision.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from webtable.errors import CorruptData
from webtable.pages.columns import CHANGED, FETCHED, LAST_MODIFIED, METADATA_COLUMNS, STATUS, URL

__all__ = [
    "DIGITS",
    "ChangeKind",
    "ContentRevision",
    "content_change",
    "decode_changed",
    "encode_changed",
    "is_changed",
]

ChangeKind: TypeAlias = Literal["new", "changed", "status", "gone", "removed"]
DIGITS = 16
_KINDS: dict[str, ChangeKind] = {
    "new": "new",
    "changed": "changed",
    "status": "status",
    "gone": "gone",
    "removed": "removed",
}
_GONE = (b"404", b"410")
_CONTENT = tuple(each for each in METADATA_COLUMNS if each not in (FETCHED, LAST_MODIFIED))


class ContentRevision(NamedTuple):
    """The revision of the last change of a page, and the kind of that change."""

    number: int
    kind: ChangeKind


def content_change(
    old: Mapping[bytes, bytes], new: Mapping[bytes, bytes]
) -> Callable[[int], dict[bytes, bytes]] | None:
    """Returns the function of the new revision to its cell; None where the page shows the same.

    Args:
        old: the metadata of the page before a write, and `new` after it.
    """
    if CHANGED in old and all(old.get(column) == new.get(column) for column in _CONTENT):
        return None
    kind = _kind(old, new)
    return lambda number: {CHANGED: encode_changed(ContentRevision(number, kind))}


def _kind(old: Mapping[bytes, bytes], new: Mapping[bytes, bytes]) -> ChangeKind:
    if URL not in old:
        return "new"
    status = new.get(STATUS)
    if old.get(STATUS) == status:
        return "changed"
    return "gone" if status in _GONE and old.get(STATUS) not in _GONE else "status"


def encode_changed(revision: ContentRevision) -> bytes:
    r"""Returns the value of the cell.

    >>> encode_changed(ContentRevision(1_788_264_000_000, "new"))
    b'0001788264000000\tnew'
    """
    return f"{revision.number:0{DIGITS}}\t{revision.kind}".encode()


def is_changed(value: bytes) -> bool:
    """Whether a value is the content of such a cell."""
    number, _, kind = value.decode("utf-8", "replace").partition("\t")
    is_number = len(number) == DIGITS and number.isascii() and number.isdigit()
    return is_number and kind in _KINDS


def decode_changed(value: bytes) -> ContentRevision:
    """Returns the content revision in a cell.

    Raises:
        CorruptData: the cell does not contain one.
    """
    number, _, kind = value.decode("utf-8", "replace").partition("\t")
    if not is_changed(value):
        raise CorruptData(
            f"{value!r:.80} is not the content revision of a page",
            hint="the cell is damaged; `webtable verify --repair` writes it again",
        )
    return ContentRevision(int(number), _KINDS[kind])
