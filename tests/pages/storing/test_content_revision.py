"""The content revision of a page: what counts as a change, and the bytes of the cell."""

from __future__ import annotations

import pytest

from webtable.errors import CorruptData
from webtable.pages.columns import CHANGED, FETCHED, INLINKS, METADATA_COLUMNS, STATUS, TITLE, URL
from webtable.pages.storing.content_revision import (
    ContentRevision,
    content_change,
    decode_changed,
    encode_changed,
)

FACTS = {**dict.fromkeys(METADATA_COLUMNS, b"x"), URL: b"https://a.example/", STATUS: b"200"}
STORED = {**FACTS, CHANGED: b"0000000000000007\tnew"}


def test_these_bytes() -> None:
    value = encode_changed(ContentRevision(1_788_264_000_000, "status"))
    assert value == b"0001788264000000\tstatus"
    assert decode_changed(value) == (1_788_264_000_000, "status")


@pytest.mark.parametrize(
    "value", [b"", b"x", b"7\tnew", b"0001788264000000", b"0001788264000000\tx", b"\xff" * 20]
)
def test_other_bytes_are_damage(value: bytes) -> None:
    with pytest.raises(CorruptData, match="not the content revision"):
        decode_changed(value)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ({}, FACTS, b"new"),
        (FACTS, FACTS, b"changed"),  # of an earlier format: the row gets its first one
        (STORED, {**STORED, TITLE: b"y"}, b"changed"),
        (STORED, {**STORED, STATUS: b"500"}, b"status"),
        (STORED, {**STORED, STATUS: b"404"}, b"gone"),
        ({**STORED, STATUS: b"404"}, {**STORED, STATUS: b"410"}, b"status"),
    ],
)
def test_changes(old: dict[bytes, bytes], new: dict[bytes, bytes], kind: bytes) -> None:
    change = content_change(old, new)
    assert change is not None
    assert change(9) == {CHANGED: b"0000000000000009\t" + kind}


@pytest.mark.parametrize("column", [FETCHED, INLINKS])
def test_what_the_page_does_not_show_is_no_change(column: bytes) -> None:
    assert content_change(STORED, {**STORED, column: b"other"}) is None
    assert content_change(STORED, STORED) is None
