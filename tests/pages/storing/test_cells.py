"""The texts in cells, frozen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.errors import CorruptData
from webtable.pages.storing.cells import (
    decode_note,
    decode_time,
    encode_note,
    encode_time,
    note_qualifier,
)
from webtable.pages.storing.history import CaptureNote

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
        (QUALIFIER, VALUE + b"\tmore"),
        (QUALIFIER, VALUE.replace(b"response", b"answer")),
        (QUALIFIER, VALUE.replace(b"301", b"x")),
        (QUALIFIER, VALUE.replace(b"2023-11-14T", b"yesterday ")),
        (QUALIFIER, b"\xff\t\t\t\t\t"),
    ],
)
def test_damage_is_told(qualifier: bytes, value: bytes) -> None:
    with pytest.raises(CorruptData):
        decode_note(qualifier, value)


@given(st.integers(0, 4_000_000_000))
def test_times_read_back_and_sort(seconds: int) -> None:
    assert decode_time(encode_time(seconds)) == seconds
    assert encode_time(seconds) < encode_time(seconds + 1)
