"""Time that grows with the input and no more: steps are counted at one size and at four times it.

A step is a line of Python that is run, or 100 bytes that go through a decompressor or come from a
file. What a line does in C, such as the search of a regular expression, is not seen.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from backports import zstd

from tests.pages.formats.crawls import http, record
from webtable.errors import InvalidUrl
from webtable.pages.captures import START, Capture, Position, Skipped
from webtable.pages.formats import content_codings, unpacked_stream, zstd_frames
from webtable.pages.formats.crawl_files import read_stream
from webtable.pages.formats.http_responses import (
    canonical_link,
    decode_body,
    http_time,
    media_type,
    parse_head,
    parse_headers,
    robots_rules,
)
from webtable.pages.formats.warc_tolerant import read_warc_carefully
from webtable.pages.html import depth_limit
from webtable.pages.html.charset import decode_page
from webtable.pages.html.link_resolver import Resolver
from webtable.pages.html.parser import parse_html
from webtable.pages.urls import resolve_url

SMALL = 300
LIMIT = 8 * 1024 * 1024
URL = "https://example.com/"


class Steps:
    """Counts lines that are run, and bytes that are read or decompressed."""

    def __init__(self) -> None:
        self.lines = 0
        self.bytes = 0

    @property
    def total(self) -> int:
        return self.lines + self.bytes // 100

    def trace(self, frame: FrameType, event: str, argument: object) -> Any:
        self.lines += event == "line"
        return self.trace


class Counted:
    """A decompressor that counts what goes into it and what it gives back."""

    def __init__(self, inner: Any, steps: Steps) -> None:
        self._inner = inner
        self._steps = steps

    def decompress(self, data: bytes, *limit: int) -> bytes:
        out: bytes = self._inner.decompress(data, *limit)
        self._steps.bytes += len(data) + len(out) + len(self._inner.unused_data)
        return out

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class CountedFile(io.BytesIO):
    """A file that counts what is read of it; it can be sought in."""

    steps: Steps

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.steps.bytes += len(data)
        return data


@contextmanager
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Steps]:
    steps = Steps()
    for module in (content_codings, unpacked_stream):
        made = zlib.decompressobj
        monkeypatch.setattr(
            module.zlib, "decompressobj", lambda *a, m=made: Counted(m(*a), steps), raising=True
        )
    frame = zstd_frames.new_frame
    for module in (content_codings, zstd_frames):
        monkeypatch.setattr(module, "new_frame", lambda *a, **k: Counted(frame(*a, **k), steps))
    before = sys.gettrace()
    sys.settrace(steps.trace)
    try:
        yield steps
    finally:
        sys.settrace(before)
        monkeypatch.undo()


def body(coding: str) -> Callable[[bytes], object]:
    return lambda payload: decode_body(payload, {"content-encoding": coding}, LIMIT)


def crawl(data: bytes) -> object:
    return list(read_stream(io.BytesIO(data), "crawl"))


def html(text: bytes) -> object:
    return parse_html(text, URL)


def links(hrefs: list[str]) -> object:
    resolve = Resolver(URL + "a/" * 1_000)
    return [resolve(href) for href in hrefs]


def refused(url: str) -> None:
    with pytest.raises(InvalidUrl, match="its host has more than 253 characters"):
        resolve_url(url, URL)


WRONG = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\nx\r\n"
DAMAGED = gzip.compress(bytes(range(256)) * 4)[:600] + b"\xff" * 20
ARC = b"http://example.com/ 127.0.0.1 20260101000000 text/html %b\n"
WAT = {
    "Envelope": {
        "WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI": URL,
                                 "WARC-Date": "2026-01-01T00:00:00Z"},
        "Payload-Metadata": {"HTTP-Response-Metadata": {
            "Response-Message": {"Status": "200"}, "HTML-Metadata": {"Links": []}}},
    }
}  # fmt: skip


def wat(size: int) -> bytes:
    there = json.loads(json.dumps(WAT))
    message = there["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]
    message["HTML-Metadata"]["Links"] = [{"path": "A@/href", "url": f"/{n}"} for n in range(size)]
    block = json.dumps(there).encode()
    return record(block, kind="metadata", Content_Type="application/json")


PARSERS: dict[str, tuple[Callable[[Any], object], Callable[[int], Any]]] = {
    "head": (parse_head, lambda n: b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * n + b"\r\n"),
    "folded header": (parse_head, lambda n: b"HTTP/1.1 200 OK\r\nA: b\r\n" + b" c\r\n" * n),
    "headers of a list": (parse_headers, lambda n: "Link: <a>\n b\n" * n),
    "robots": (robots_rules, lambda n: "bot: a, " * n + "-" * n + ":" * n),
    "link, blanks": (canonical_link, lambda n: "<a>;rel=" + " " * n + "canonica"),
    "link, parameters": (canonical_link, lambda n: "<a>" + "; rel=x" * n),
    "link, targets": (canonical_link, lambda n: "<a>; rel=x, " * n),
    "link, brackets": (canonical_link, lambda n: "<" * n + ">" * n),
    "type": (media_type, lambda n: "text/html" + ";x=y" * n),
    "date": (http_time, lambda n: "Sun, " * n),
    "chunks": (
        lambda payload: decode_body(payload, {"transfer-encoding": "chunked"}, LIMIT),
        lambda n: b"1\r\nx\r\n" * n,
    ),
    "gzip": (body("gzip"), lambda n: gzip.compress(b"") * n),
    "gzip, short members": (body("gzip"), lambda n: gzip.compress(b"some words") * n),
    "gzip, damaged": (body("gzip"), lambda n: gzip.compress(b"x") * n + b"\x1f\x8b\x08\xff" * n),
    "zstd": (body("zstd"), lambda n: zstd.compress(b"") * n),
    "deflate": (body("deflate"), lambda n: zlib.compress(b"some words " * n)),
    "br": (body("br"), lambda n: b"\x06" * n),
    "codings": (body("gzip, " * 100), lambda n: b"x" * n),
    "charset": (decode_page, lambda n: b"<meta charset=" + b" " * n),
    "links": (html, lambda n: b"".join(b"<a href=/%d>x</a>" % each for each in range(n))),
    "links in links": (
        html,
        lambda n: b"".join(b"<a href=/%d><object>" % each for each in range(n)) + b"words " * n,
    ),
    "end tags that reach nothing": (
        depth_limit.flatten,
        lambda n: b"<q><div>" + b"<span>" * 500 + b"</q>" * (40 * n),
    ),
    "tags that are never closed": (depth_limit.flatten, lambda n: b"<b><i><p>" * (10 * n)),
    "resolving, up": (links, lambda n: [f"{'../' * 300}{each}" for each in range(n // 10)]),
    "host": (
        refused,
        lambda n: "https://" + "".join(chr(0x4E00 + each) for each in range(n)),
    ),
    "warc, wrong lengths": (crawl, lambda n: b"".join(WRONG % 100_000 for _ in range(n))),
    "warc, lengths over the end": (crawl, lambda n: WRONG % 9_000_000 * n),
    "warc, no lengths": (crawl, lambda n: b"WARC/1.0\r\n\r\n" * n),
    "warc, no headers": (crawl, lambda n: b"WARC/1.0\r\n" * n),
    "warc, records in a header": (crawl, lambda n: b"WARC/1.0\r\n" * n + b"\r\n\r\n"),
    "warc, many headers without end": (crawl, lambda n: b"WARC/1.0\r\n" * (30 * n)),
    "warc, empty members": (crawl, lambda n: gzip.compress(b"") * n),
    "warc, damaged members": (crawl, lambda n: DAMAGED * n),
    "warc, empty frames": (crawl, lambda n: zstd.compress(b"") * n),
    "warc, line ends": (crawl, lambda n: record(http(b"x")) + b"\r\n" * n),
    "arc, blanks": (crawl, lambda n: ARC % b"1" + ARC % (b" " * n)),
    "arc, wrong lengths": (crawl, lambda n: b"".join(ARC % b"7" for _ in range(n))),
    "json lines": (crawl, lambda n: b'{"url": "x"}\n' * n),
    "wat": (crawl, wat),
}  # fmt: skip


@pytest.mark.parametrize("name", PARSERS)
def test_four_times_the_input_takes_about_four_times_the_steps(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse, make = PARSERS[name]
    if parse is depth_limit.flatten:
        monkeypatch.setattr(depth_limit, "_MANY_TAGS", 1_000)
    counts = []
    for size in (SMALL, 4 * SMALL):
        data = make(size)
        with counting(monkeypatch) as steps:
            parse(data)
        counts.append(steps.total)
    small, large = counts
    assert large < 5.5 * small + 500, f"{small:,} steps, then {large:,}"


def test_wrong_long_lengths_are_read_over_a_few_times_only() -> None:
    def read(size: int) -> int:
        file = CountedFile(b"".join(WRONG % 10**9 for _ in range(size)))
        file.steps = Steps()

        def reopen(position: Position) -> unpacked_stream.Stream:
            return unpacked_stream.Stream(file, position)

        items = list(read_warc_carefully(reopen(START), "crawl", reopen))
        assert {each.reason for each in items if isinstance(each, Skipped)} == {"wrong-length"}
        assert len(items) == size
        return file.steps.bytes

    assert read(4_000) < 4.5 * read(1_000)


def test_a_dictionary_is_prepared_once_for_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    new = zstd.ZstdDict

    def counted(*arguments: Any, **options: Any) -> zstd.ZstdDict:
        made.append(arguments)
        return new(*arguments, **options)

    monkeypatch.setattr(zstd, "ZstdDict", counted)
    packed = zstd.compress(bytes(range(256)) * 100)
    dictionary = b"\x5d\x2a\x4d\x18" + len(packed).to_bytes(4, "little") + packed
    for _ in range(2):
        crawl(dictionary + zstd.compress(b"") * 1_000)
    assert len(made) == 2


def test_a_record_that_begins_in_the_header_of_another_is_read() -> None:
    cut = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.com/cut\r\n"
    bad, good = crawl_items(cut + record(http(b"x"), URL))
    assert isinstance(bad, Skipped)
    assert bad.reason == "bad-record"
    assert isinstance(good, Capture)
    assert good.url == URL


def crawl_items(data: bytes) -> list[Capture | Skipped]:
    return list(read_stream(io.BytesIO(data), "crawl"))
