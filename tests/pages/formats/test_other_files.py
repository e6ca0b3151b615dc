"""ARC and WAT files and JSON lines, whole and damaged."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.pages.formats.crawls import FETCHED, http, only, read, record, urls
from tests.pages.formats.test_second_reader import arc
from webtable.pages.captures import Capture, Link, Skipped, payload_digest
from webtable.pages.html.parser import parse_capture, parse_html

LINES: list[dict[str, Any]] = [
    {"url": "https://example.com/a", "fetched": "2026-01-01T00:00:00Z", "html": "<title>É</title>"},
    {"url": "https://example.com/b", "fetched": FETCHED, "status": 404, "other": [1, 2]},
    {
        "url": "https://example.com/c",
        "fetched": FETCHED + 0.5,
        "status": 301,
        "redirect": "/a",
        "last_modified": "2025-12-31T00:00:00Z",
        "body_base64": base64.b64encode(b"\xe9t\xe9").decode(),
        "type": "text/plain",
        "charset": "latin1",
    },
]


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in values)


@pytest.mark.parametrize("is_packed", [False, True])
def test_json_lines_are_read(is_packed: bool, tmp_path: Path) -> None:
    data = lines(*LINES)
    items = read(tmp_path / "pages", gzip.compress(data) if is_packed else data)
    assert urls(items) == ["a", "b", "c"]
    a, b, c = items
    assert isinstance(a, Capture)
    assert (a.status, a.fetched, a.content_type) == (200, FETCHED, "text/html")
    assert a.body == "<title>É</title>".encode()
    assert a.digest == payload_digest(a.body)
    parsed = parse_capture(a)
    assert parsed is not None
    assert parsed.title == "É"
    assert isinstance(b, Capture)
    assert (b.status, b.body, b.digest, b.notes) == (404, None, "", ("body-absent",))
    assert isinstance(c, Capture)
    assert (c.status, c.location) == (301, "https://example.com/a")
    assert (c.body, c.charset, c.fetched) == (b"\xe9t\xe9", "latin1", FETCHED)
    assert c.last_modified == FETCHED - 86_400


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "garbage"),
        (b"not JSON", "garbage"),
        (b'{"url": "https://e.com/", "html": "\0\0"}', "garbage"),
        (b'{"url": 7, \0\0', "garbage"),
        (b"[1, 2]", "bad-line"),
        (b'{"html": "x"}', "no-url"),
        (b'{"url": 7, "fetched": 1}', "bad-line"),
        (b'{"url": "https://example.com/"}', "bad-date"),
        (b'{"url": "https://example.com/", "fetched": 1e300}', "bad-date"),
        (b'{"url": "https://example.com/", "fetched": 1767225600, "status": 7}', "bad-line"),
        (b'{"url": "mailto:x", "fetched": 1767225600}', "bad-url"),
        (b'{"url": "https://e.com/", "fetched": 1767225600, "body_base64": "?"}', "bad-line"),
        (b"\xff\xfe\x00", "garbage"),
        (b'{"url": "https://e.com/\xff"}', "garbage"),
        (b"[" * 100_000, "bad-line"),
    ],
)
def test_a_bad_line_costs_itself_only(line: bytes, reason: str, tmp_path: Path) -> None:
    data = lines(LINES[0]) + line + b"\n\n" + lines(LINES[1])
    items = read(tmp_path / "pages", data)
    assert urls(items) == ["a", reason, "b"]


def test_packed_lines_that_break_off_give_those_before(tmp_path: Path) -> None:
    path = tmp_path / "pages"
    many = [dict(LINES[0], url=f"https://example.com/{number}") for number in range(100)]
    items = read(path, gzip.compress(lines(*many), mtime=0)[:-100])
    assert urls(items)[-1] == "truncated"
    assert urls(items)[:-1] == [str(number) for number in range(len(items) - 1)]
    assert len(items) > 50


def test_arc_says_what_it_does(tmp_path: Path) -> None:
    data = b"".join(arc([("https://example.com/x", http(b"hello"))]))
    description, capture = read(tmp_path / "crawl", data)
    assert isinstance(description, Skipped)
    assert description.reason == "other-type"
    assert isinstance(capture, Capture)
    assert (capture.fetched, capture.body) == (FETCHED, b"hello")
    assert capture.digest == payload_digest(b"hello")


@pytest.mark.parametrize("wrong", [-20, 20])
def test_a_wrong_length_in_an_arc_costs_little(wrong: int, tmp_path: Path) -> None:
    parts = arc([(f"https://example.com/{number}", http(b"x" * 100)) for number in range(4)])
    line, _, rest = parts[2].partition(b"\n")
    words = line.split(b" ")
    words[-1] = b"%d" % (int(words[-1]) + wrong)
    parts[2] = b" ".join(words) + b"\n" + rest
    found = urls(read(tmp_path / "crawl", b"".join(parts)))
    assert found[:2] == ["other-type", "0"]
    assert "wrong-length" in found
    assert found[-1] == "3"


def wat(head: dict[str, Any], links: list[dict[str, str]], **warc: str) -> bytes:
    header = {
        "WARC-Type": "response",
        "WARC-Target-URI": "https://example.com/a/",
        "WARC-Date": "2026-01-01T00:00:00Z",
        "WARC-Record-ID": "<urn:uuid:9>",
        **warc,
    }
    message = {
        "Response-Message": {"Status": "200", "Version": "HTTP/1.1"},
        "Headers": {"Content-Type": "text/html", "Content-Encoding": "gzip"},
        "HTML-Metadata": {"Head": head, "Links": links},
        "Entity-Digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
        "Entity-Length": "1234",
    }
    envelope = {
        "WARC-Header-Metadata": header,
        "Payload-Metadata": {"HTTP-Response-Metadata": message},
    }
    block = json.dumps({"Envelope": envelope}).encode()
    return record(block, kind="metadata", Content_Type="application/json")


def test_wat_describes_captures_without_bodies(tmp_path: Path) -> None:
    data = wat(
        {
            "Title": " A  page ",
            "Base": "/b/",
            "Metas": [{"name": "Robots", "content": "NOINDEX"}],
            "Link": [{"rel": "canonical", "url": "c", "path": "LINK@/href"}],
        },
        [
            {"path": "A@/href", "url": "x", "text": "X", "rel": "NoFollow"},
            {"path": "IMG@/src", "url": "picture"},
            {"path": "A@/href", "url": "mailto:somebody"},
            {"path": "A@/href", "url": "/a/", "text": "itself"},
        ],
    )
    capture = only(read(tmp_path / "crawl", data))
    assert (capture.url, capture.fetched, capture.status) == (
        "https://example.com/a/",
        FETCHED,
        200,
    )
    assert (capture.body, capture.size, capture.notes) == (None, 1_234, ("body-absent",))
    assert capture.digest == "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
    assert capture.record_id == "<urn:uuid:9>"
    parsed = parse_capture(capture)
    assert parsed is not None
    assert (parsed.title, parsed.robots) == ("A page", "noindex")
    assert parsed.canonical == "https://example.com/b/c"
    assert parsed.link_list == [Link("https://example.com/b/x", "nofollow", "X")]
    assert (parsed.hrefs, parsed.rejected, parsed.to_itself) == (3, 1, 1)


def test_links_of_too_many_bytes_in_wat_are_cut_as_those_of_html_are(tmp_path: Path) -> None:
    base = "https://example.com/" + "d/" * 4_000
    links = [{"path": "A@/href", "url": str(n), "text": "x"} for n in range(1_000)]
    parsed = parse_capture(only(read(tmp_path / "crawl", wat({"Base": base}, links))))
    html = f"<base href={base}>" + "".join(f"<a href={n}>x</a>" for n in range(1_000))
    same = parse_html(html.encode(), "https://example.com/a/")
    assert parsed is not None
    assert (parsed.links, parsed.targets, parsed.hrefs) == (same.links, same.targets, same.hrefs)
    assert parsed.notes == same.notes == ("links-cut",)


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (b"{}", "other-type"),
        (b"[]", "bad-record"),
        (b"nope", "bad-record"),
        (b'{"Envelope": 7}', "other-type"),
        (b'{"Envelope": {"WARC-Header-Metadata": {"WARC-Type": "request"}}}', "other-type"),
    ],
)
def test_wat_without_a_capture_is_named(block: bytes, reason: str, tmp_path: Path) -> None:
    data = record(block, kind="metadata", Content_Type="application/json")
    assert urls(read(tmp_path / "crawl", data)) == [reason]
