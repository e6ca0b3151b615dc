"""The bytes of the index machinery. What is stored must be readable for ever."""

from __future__ import annotations

import pytest

from webtable.errors import CorruptData, InvalidRequest
from webtable.index.cell_encoding import (
    Claim,
    Removal,
    Revision,
    decode_claim,
    decode_pending,
    decode_revision,
    encode_claim,
    encode_free,
    encode_pending,
    encode_revision,
)

REVISION = Revision(1_794_800_574_226, b"tokenXYZ")
GONE = [
    Removal("people_by_city", b"London\x00ada", b"e:36"),
    Removal("people_by_mail", b"ada@example.org", b"e:", True),
]
GOLDEN = {
    "revision": "000001a1e2735f12746f6b656e58595a",
    "pending": "01000001a1e2735f12"
    "00000e70656f706c655f62795f63697479000a4c6f6e646f6e006164610004653a3336"
    "01000e70656f706c655f62795f6d61696c000f616461406578616d706c652e6f72670002653a",
    "claim": "01000001a1e2735f12746f6b656e58595a616461",
    "free": "00000001a1e2735f12746f6b656e58595a",
}


def test_revision_bytes() -> None:
    assert encode_revision(REVISION).hex() == GOLDEN["revision"]
    assert decode_revision(bytes.fromhex(GOLDEN["revision"])) == REVISION


def test_pending_bytes() -> None:
    assert encode_pending(REVISION.number, GONE).hex() == GOLDEN["pending"]
    assert decode_pending(bytes.fromhex(GOLDEN["pending"])) == (REVISION.number, GONE)


def test_nothing_pending_is_empty() -> None:
    assert encode_pending(REVISION.number, []) == b""
    assert decode_pending(b"") == (0, [])


def test_claim_bytes() -> None:
    assert encode_claim(REVISION, b"ada").hex() == GOLDEN["claim"]
    assert decode_claim(bytes.fromhex(GOLDEN["claim"])) == Claim(b"ada", REVISION)


def test_free_bytes() -> None:
    assert encode_free(REVISION).hex() == GOLDEN["free"]
    assert decode_claim(bytes.fromhex(GOLDEN["free"])) == Claim(None, REVISION)


@pytest.mark.parametrize("stored", [b"", b"1234567", bytes(17)])
def test_a_damaged_revision_is_named(stored: bytes) -> None:
    with pytest.raises(CorruptData, match="revision cell"):
        decode_revision(stored)


@pytest.mark.parametrize("cut", range(1, len(bytes.fromhex(GOLDEN["pending"]))))
def test_a_damaged_pending_cell_is_named(cut: int) -> None:
    whole = bytes.fromhex(GOLDEN["pending"])
    # After the first removal it is whole again: one entry less.
    if cut in (9, 44):
        return
    with pytest.raises(CorruptData, match="pending cell"):
        decode_pending(whole[:cut])


@pytest.mark.parametrize("stored", [b"", b"\x02" + bytes(16), b"\x01" + bytes(16), b"\x00" * 18])
def test_a_damaged_claim_is_named(stored: bytes) -> None:
    with pytest.raises(CorruptData, match="unique entry"):
        decode_claim(stored)


def test_an_entry_too_long_to_be_named_is_rejected() -> None:
    with pytest.raises(InvalidRequest, match="up to 65,535 bytes"):
        encode_pending(1, [Removal("t", b"k", bytes(70_000))])
