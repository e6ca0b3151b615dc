"""The texts in cells, frozen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.errors import CorruptData
from webtable.pages.storing.capture_cells import (
    Origin,
    capture_cells,
    decode_note,
    decode_origin,
    decode_time,
    encode_note,
    encode_origin,
    encode_time,
    note_qualifier,
)
from webtable.pages.storing.page_versions import CaptureNote

NOTE = CaptureNote(
    1_788_264_000, "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", 301, 1234, "text/html", "https://b.example/",
    1_700_000_000, False,
)  # fmt: skip
QUALIFIER = b"20260901120000_3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
VALUE = b"response\t301\t1234\ttext/html\thttps://b.example/\t2023-11-14T22:13:20Z"


def test_a_capture_is_one_cell() -> None:
    assert note_qualifier(NOTE) == QUALIFIER
    assert encode_note(NOTE) == VALUE
    assert decode_note(QUALIFIER, VALUE) == NOTE


def test_a_revisit_says_so() -> None:
    revisit = NOTE._replace(is_revisit=True, redirect="", last_modified=None, status=0)
    assert encode_note(revisit) == b"revisit\t0\t1234\ttext/html\t\t"
    assert decode_note(QUALIFIER, encode_note(revisit)) == revisit
    only_told = NOTE._replace(is_described=True)
    assert encode_note(only_told) == VALUE.replace(b"response", b"told")
    assert decode_note(QUALIFIER, encode_note(only_told)) == only_told


def test_a_hostile_type_stays_in_its_field() -> None:
    hostile = NOTE._replace(type="a\tb\nc")
    assert decode_note(QUALIFIER, encode_note(hostile)) == NOTE._replace(type="a b c")


@pytest.mark.parametrize(
    ("qualifier", "value"),
    [
        (b"2026", VALUE),
        (b"\xff", VALUE),
        (QUALIFIER, b""),
        (QUALIFIER, VALUE.replace(b"response", b"answer")),
        (QUALIFIER, VALUE.replace(b"301", b"x")),
        (QUALIFIER, VALUE.replace(b"2023-11-14T", b"yesterday ")),
        (QUALIFIER, b"\xff\t\t\t\t\t"),
    ],
)
def test_damage_is_reported(qualifier: bytes, value: bytes) -> None:
    with pytest.raises(CorruptData):
        decode_note(qualifier, value)


ORIGIN = Origin(
    "crawl-1.warc.gz", 1_234, 0, 567, "<urn:uuid:40236938-f009-5dd4-b8e9-4066d09c8348>",
    "192.0.2.1", "h2 tls/1.3", "length", "md5:0cc175b9c0f1b6a831c399e269772661", 1_700_000_000,
    "https://other.example/",
)  # fmt: skip
ORIGIN_TEXT = (
    "crawl-1.warc.gz\t1234\t567\tQCNpOPAJXdS46UBm0JyDSA\t192.0.2.1\th2 tls/1.3"
    "\tlength\tmd5:0cc175b9c0f1b6a831c399e269772661\t2023-11-14T22:13:20Z"
    "\thttps://other.example/"
)


def test_the_origin_follows_the_capture() -> None:
    assert encode_origin(ORIGIN) == ORIGIN_TEXT
    cell = encode_note(NOTE, ORIGIN_TEXT)
    assert cell == VALUE + b"\t" + ORIGIN_TEXT.encode()
    assert decode_origin(cell) == ORIGIN
    # It is no part of what a capture is.
    assert decode_note(QUALIFIER, cell) == NOTE


def test_a_capture_without_an_origin_has_a_cell_as_before() -> None:
    assert encode_origin(Origin()) == ""
    assert encode_note(NOTE, "") == VALUE
    assert decode_origin(VALUE) == Origin()


@pytest.mark.parametrize(
    ("origin", "text"),
    [
        (Origin("a.warc.gz", 0), "a.warc.gz\t0"),
        (Origin("a.warc.gz", 10, 20), "a.warc.gz\t10+20"),
        (Origin("a", 0, record_id="urn:x:1"), "a\t0\t\turn:x:1"),
        (Origin("a", 0, record_id="x" * 22), f"a\t0\t\t {'x' * 22}"),
        (Origin("a", 0, record_id=f"<urn:uuid:{'x' * 36}>"), f"a\t0\t\t<urn:uuid:{'x' * 36}>"),
        (
            Origin("a", 0, record_id=f"<urn:uuid:{'A' * 8}-1-1-1-1>"),
            f"a\t0\t\t<urn:uuid:{'A' * 8}-1-1-1-1>",
        ),
        (Origin(claimed_digest="sha1:A"), "\t\t\t\t\t\t\tsha1:A"),
    ],
)
def test_empty_fields_at_the_end_are_left_out(origin: Origin, text: str) -> None:
    assert encode_origin(origin) == text
    assert decode_origin(encode_note(NOTE, text)) == origin


def test_hostile_fields_of_an_origin_stay_in_their_fields() -> None:
    hostile = Origin("a\tb\n", 1, address="x" * 9_999, record_id="\x00\t")
    cell = encode_note(NOTE, encode_origin(hostile))
    assert decode_note(QUALIFIER, cell) == NOTE
    assert decode_origin(cell) == Origin("a b ", 1, address="x" * 200, record_id=" ")


@pytest.mark.parametrize(
    "damage", [b"a\tx", b"a\t1\tx", b"a\t\t\t\t\t\t\t\tnow", b"\t" * 10, b"a\t1\t\t" + b"?" * 22]
)
def test_a_damaged_origin_is_reported(damage: bytes) -> None:
    with pytest.raises(CorruptData):
        decode_origin(VALUE + b"\t" + damage)


def test_the_head_of_a_response_has_the_qualifier_of_its_capture() -> None:
    head = b"HTTP/1.1 301 Moved\r\nLocation: https://b.example/"
    cells = capture_cells(NOTE, head, ORIGIN_TEXT)
    assert cells == {
        b"captures:" + QUALIFIER: encode_note(NOTE, ORIGIN_TEXT),
        b"http:" + QUALIFIER: head,
    }
    assert list(capture_cells(NOTE, b"", "")) == [b"captures:" + QUALIFIER]


@given(st.integers(0, 4_000_000_000))
def test_times_read_back_and_sort(seconds: int) -> None:
    assert decode_time(encode_time(seconds)) == seconds
    assert encode_time(seconds) < encode_time(seconds + 1)
