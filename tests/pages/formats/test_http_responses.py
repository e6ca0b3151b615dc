"""HTTP heads, and bodies without their codings."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from webtable.pages.formats.http_responses import decode_body, http_time, media_type, parse_head

BODY = b"<p>some words, " * 1_000
LIMIT = 100_000


def test_a_head_is_removed() -> None:
    head = parse_head(b"HTTP/1.1 200 OK\r\nA: 1\r\nb:2\r\n  more\r\na: 3\r\n\r\nbody")
    assert head is not None
    assert (head.status, head.headers) == (200, {"a": "3", "b": "2 more"})
    assert head.length == len(b"HTTP/1.1 200 OK\r\nA: 1\r\nb:2\r\n  more\r\na: 3\r\n\r\n")


@pytest.mark.parametrize(
    ("block", "status", "length"),
    [
        (b"HTTP/1.0 404 Not Found\nA: b\n\nbody", 404, 29),
        (b"HTTP/2 204\r\n\r\n", 204, 14),
        (b"HTTP/1.1 200 OK\r\nA: b", 200, 21),
    ],
)
def test_unusual_heads_are_read(block: bytes, status: int, length: int) -> None:
    head = parse_head(block)
    assert head is not None
    assert (head.status, head.length) == (status, length)


@pytest.mark.parametrize(
    "block",
    [b"", b"<html>", b"HTTP/1.1", b"HTTP/1.1 OK\r\n\r\n", b"HTTP/1.1 2000 x\r\n\r\n",
     b"HTTP/1.1 200 " + b"x" * 70_000],
)  # fmt: skip
def test_what_is_no_head_is_none(block: bytes) -> None:
    assert parse_head(block) is None


@given(st.binary(max_size=200))
def test_any_bytes_are_a_head_or_none(block: bytes) -> None:
    head = parse_head(b"HTTP/1.1 200" + block)
    assert head is None or 0 <= head.length <= len(block) + 12


@pytest.mark.parametrize(
    ("coding", "payload"),
    [
        ("gzip", gzip.compress(BODY)),
        ("x-gzip", gzip.compress(BODY[:500]) + gzip.compress(BODY[500:])),
        ("deflate", zlib.compress(BODY)),
        ("br", brotli.compress(BODY)),
        ("zstd", zstd.compress(BODY)),
        ("gzip, br", brotli.compress(gzip.compress(BODY))),
        ("identity", BODY),
        ("unheard-of", BODY),
    ],
)
def test_codings_are_removed(coding: str, payload: bytes) -> None:
    body = decode_body(payload, {"content-encoding": coding}, LIMIT)
    assert (body.content, body.is_cut) == (BODY, False)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_coding_that_the_bytes_do_not_have_is_passed_over(coding: str) -> None:
    body = decode_body(BODY, {"content-encoding": coding}, LIMIT)
    assert (body.content, body.is_cut) == (BODY, False)


@pytest.mark.parametrize(
    ("coding", "payload"),
    [
        ("gzip", gzip.compress(BODY)[:-20]),
        ("deflate", zlib.compress(BODY)[:-20]),
        ("br", brotli.compress(BODY * 40, quality=0)[:-20]),
        ("zstd", zstd.compress(BODY * 40)[:-20]),
    ],
    ids=["gzip", "deflate", "br", "zstd"],
)
def test_a_coding_that_breaks_off_gives_what_came_before(coding: str, payload: bytes) -> None:
    body = decode_body(payload, {"content-encoding": coding}, 10_000_000)
    assert body.is_cut
    assert body.content
    assert (BODY * 40).startswith(body.content)


SKIPPABLE = b"\x50\x2a\x4d\x18\x03\0\0\0abc"


@pytest.mark.parametrize(
    ("coding", "payload", "content"),
    [
        ("gzip", [gzip.compress(each) for each in (b"one", b"", b"hello")], b"onehello"),
        ("gzip", [gzip.compress(b""), gzip.compress(b""), gzip.compress(b"x")], b"x"),
        ("gzip", [gzip.compress(b"")], b""),
        ("gzip", [gzip.compress(BODY), gzip.compress(b""), gzip.compress(BODY)], BODY + BODY),
        ("zstd", [zstd.compress(each) for each in (b"one", b"", b"hello")], b"onehello"),
        ("zstd", [SKIPPABLE, zstd.compress(b"one"), SKIPPABLE, zstd.compress(b"x")], b"onex"),
        ("zstd", [zstd.compress(b"")], b""),
        ("deflate", [zlib.compress(b"")], b""),
    ],
)
@pytest.mark.parametrize("behind", [b"", b"\0" * 512, b"\r\n"], ids=["", "padding", "line-end"])
def test_empty_members_and_what_lies_behind_the_last_one_cut_nothing(
    coding: str, payload: list[bytes], content: bytes, behind: bytes
) -> None:
    body = decode_body(b"".join(payload) + behind, {"content-encoding": coding}, LIMIT)
    assert (body.content, body.is_cut) == (content, False)


@pytest.mark.parametrize("behind", [b"\0" * 20, b"\r\n", b"garbage"])
@pytest.mark.parametrize(
    ("coding", "payload"),
    [
        ("br", brotli.compress(BODY, quality=1)),
        ("deflate", zlib.compress(BODY)),
        ("deflate", zlib.compress(BODY)[2:-4]),
    ],
    ids=["br", "zlib", "raw"],
)
def test_what_lies_behind_a_body_is_passed_over(coding: str, payload: bytes, behind: bytes) -> None:
    body = decode_body(payload + behind, {"content-encoding": coding}, LIMIT)
    assert (body.content, body.is_cut) == (BODY, False)


@pytest.mark.parametrize(
    ("coding", "payload", "at"),
    [
        ("gzip", gzip.compress(BODY), -5),
        ("zstd", zstd.compress(BODY, options={zstd.CompressionParameter.checksum_flag: 1}), -1),
    ],
    ids=["gzip", "zstd"],
)
def test_a_wrong_checksum_keeps_the_body_and_marks_it(coding: str, payload: bytes, at: int) -> None:
    damaged = bytearray(payload)
    damaged[at] ^= 1
    body = decode_body(bytes(damaged), {"content-encoding": coding}, LIMIT)
    assert (body.content, body.is_cut) == (BODY, True)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_stopped_at_the_limit(coding: str) -> None:
    compress: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": lambda content: bytes(brotli.compress(content, quality=1)),
        "zstd": zstd.compress,
    }
    bomb = compress[coding](bytes(20_000_000))
    assert decode_body(bomb, {"content-encoding": coding}, 8_000_000).content is None


@pytest.mark.parametrize(
    ("payload", "content", "is_cut"),
    [
        (b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: x\r\n\r\n", b"hello world", False),
        (b"5\nhello\n0\n\n", b"hello", False),
        (b"5\r\nhello\r\n", b"hello", True),
        (b"9\r\nhello", b"hello", True),
        (b"5\r\nhello\r\nnonsense\r\n", b"hello", True),
        (b"hello world", b"hello world", False),
        (b"-5\r\nhello\r\n", b"-5\r\nhello\r\n", False),
        (b"", b"", False),
        (b"0\r\n\r\n", b"", False),
    ],
)
def test_chunking_is_removed(payload: bytes, content: bytes, is_cut: bool) -> None:
    body = decode_body(payload, {"transfer-encoding": "Chunked"}, LIMIT)
    assert (body.content, body.is_cut) == (content, is_cut)


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br", "zstd"]))
def test_any_bytes_under_any_coding_give_a_body(payload: bytes, coding: str) -> None:
    headers = {"content-encoding": coding, "transfer-encoding": "chunked"}
    assert decode_body(payload, headers, 1_000_000).content is not None


def test_types_and_charsets_are_read() -> None:
    assert media_type(" Text/HTML ;x=1; Charset='UTF-8'") == ("text/html", "UTF-8")
    assert media_type("html") == ("", "")
    assert media_type("text/\x00html") == ("", "")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Sun, 06 Nov 1994 09:49:37 +0100", 784_111_777),
        ("Sun, 31 Feb 1994 08:49:37 GMT", None),
        ("Sun, 06 Foo 1994 08:49:37 GMT", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", None),
        ("now", None),
        ("", None),
    ],
)
def test_http_times(text: str, seconds: int | None) -> None:
    assert http_time(text) == seconds


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_none(text: str) -> None:
    assert http_time(text) is None or http_time(text) > 0  # type: ignore[operator]
