"""WARC files that are exported have the heads that were received, and other tools can read them."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.pages.formats.crawls import http, members, record
from webtable import WebTable
from webtable.pages.asking.export_heads import adjusted_head
from webtable.pages.captures import payload_digest

BODY = b"<title>One</title>" + b"<p>words" * 50
REFERS = {
    "WARC_Refers_To_Target_URI": "https://a.com/packed",
    "WARC_Refers_To_Date": "2026-01-01T00:00:00Z",
}


def chunked(body: bytes) -> bytes:
    return b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"


def crawl(path: Path) -> Path:
    packed = gzip.compress(BODY, mtime=0)
    coded = ("Content-Encoding", "gzip"), ("Content-Length", str(len(packed)))
    records = [
        record(http(packed, *coded, ("X-Own", "a")), "https://a.com/packed", WARC_IP_Address="::1"),
        record(
            http(chunked(BODY), ("Transfer-Encoding", "chunked"), ("Link", "</l>; rel=canonical")),
            "https://a.com/chunked",
        ),
        record(http(b"plain", ("Set-Cookie", "a=1"), ("set-cookie", "b=2")), "https://a.com/plain"),
        record(http(b"", ("Location", "/plain"), status="301 Moved on"), "https://a.com/moved"),
        record(http(b"gone", status="410 Gone"), "https://a.com/gone"),
    ]
    digest = payload_digest(packed)
    for url, date in (("https://a.com/packed", "2026-01-02"), ("https://b.org/", "2026-01-03")):
        for status in ("200 OK", "304 Not Modified"):
            second = "01" if status.startswith("304") else "00"
            records.append(
                record(
                    http(b"", *coded, status=status),
                    url,
                    "revisit",
                    date=f"{date}T00:00:{second}Z",
                    WARC_Payload_Digest=digest,
                    **REFERS,
                )
            )
    path.write_bytes(members(records))
    return path


@pytest.fixture
def web(tmp_path: Path) -> WebTable:
    with WebTable.open(tmp_path / "store") as made:
        made.load(crawl(tmp_path / "crawl.warc.gz"), workers=0)
    return WebTable.open(tmp_path / "store", read_only=True)


def told(web: WebTable) -> dict[str, object]:
    """All pages at all times, but for digests, which are those of coded payloads before."""
    days = [f"2026-01-0{day}T00:00:0{second}Z" for day in (1, 2, 3) for second in (0, 1)]
    found: dict[str, object] = {}
    for page in web.pages():
        for day in days:
            shown = web.page(page.url, as_of=day)
            if shown is not None:
                fields = {**shown.to_dict(), "digest": ""}
                found[f"{page.url} {day}"] = fields, web.body(page.url, as_of=day)
    return found


def test_a_load_of_an_export_gives_the_same_pages(web: WebTable, tmp_path: Path) -> None:
    out = tmp_path / "out.warc.gz"
    with web:
        expected = told(web)
        web.export(out)
    assert len(expected) > 20
    with WebTable.open(tmp_path / "again") as again:
        report = again.load(out, workers=0)
        assert report.wrong_digests == 0
        assert told(again) == expected
        # Also without the page that it was a revisit of.
        again.export(tmp_path / "b.warc.gz", domain="b.org")
    with WebTable.open(tmp_path / "third") as third:
        third.load(tmp_path / "b.warc.gz", workers=0)
        assert third.body("https://b.org/") == BODY


def test_other_tools_read_what_is_exported(web: WebTable, tmp_path: Path) -> None:
    out = io.BytesIO()
    with web:
        web.export(out)
    out.seek(0)
    found = {}
    for each in ArchiveIterator(out):
        url, date = (each.rec_headers.get_header(name) for name in ("WARC-Target-URI", "WARC-Date"))
        found[url, date] = each.rec_type, each.http_headers, each.content_stream().read()
        if each.rec_headers.get_header("WARC-IP-Address"):
            assert (url, each.rec_headers.get_header("WARC-IP-Address")) == (
                "https://a.com/packed",
                "::1",
            )
    first = "2026-01-01T00:00:00Z"
    for name, coding in (("packed", "Content-Encoding"), ("chunked", "Transfer-Encoding")):
        _, headers, body = found[f"https://a.com/{name}", first]
        assert body == BODY
        assert headers.get_header(coding) is None
        assert headers.get_header(f"X-Crawler-{coding}") in ("gzip", "chunked")
        assert headers.get_header("Content-Length") == str(len(BODY))
    assert found["https://a.com/packed", first][1].get_header("X-Own") == "a"
    _, plain, _ = found["https://a.com/plain", first]
    assert plain.headers == [
        ("Content-Type", "text/html"),
        ("Set-Cookie", "a=1"),
        ("set-cookie", "b=2"),
    ]
    assert found["https://a.com/moved", first][1].statusline == "301 Moved on"
    assert found["https://a.com/packed", "2026-01-02T00:00:01Z"][0] == "revisit"
    kind, headers, body = found["https://b.org/", "2026-01-03T00:00:00Z"]
    assert (kind, headers.statusline, body) == ("response", "200 OK", BODY)


def test_what_a_revisit_repeats_is_shown(web: WebTable) -> None:
    with web:
        newest = web.history("https://b.org/")[0]
        assert (newest.revisit, newest.size, newest.status) == (True, len(BODY), 200)
        assert newest.revisited_time == "2026-01-01T00:00:00Z"
        assert newest.revisited_url == "https://a.com/packed"
        own = web.history("https://a.com/packed")[0]
        assert (own.revisit, own.size, own.revisited_url) == (True, len(BODY), "")
        assert own.file.endswith("crawl.warc.gz")
        assert own.offset is not None
        assert own.length is not None


@pytest.mark.parametrize(
    ("head", "size", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\nA: 1", 5, b"HTTP/1.1 200 OK\r\nA: 1"),
        (b"HTTP/1.1 200 OK\nA: 1", 5, b"HTTP/1.1 200 OK\r\nA: 1"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5", 5, b"HTTP/1.1 200 OK\r\nContent-Length: 5"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 4",
            5,
            b"HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 4\r\nContent-Length: 5",
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-encoding: br,\r\n gzip\r\nB: 2",
            5,
            b"HTTP/1.1 200 OK\r\nX-Crawler-content-encoding: br,\r\n gzip\r\nB: 2"
            b"\r\nContent-Length: 5",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: aws-chunked, gzip",
            5,
            b"HTTP/1.1 200 OK\r\nX-Crawler-Content-Encoding: aws-chunked, gzip"
            b"\r\nContent-Encoding: aws-chunked\r\nContent-Length: 5",
        ),
        (
            b"HTTP/1.1 304 X\r\nContent-Length: 5\r\nContent-Encoding: gzip",
            None,
            b"HTTP/1.1 304 X\r\nX-Crawler-Content-Length: 5\r\nX-Crawler-Content-Encoding: gzip",
        ),
    ],
)
def test_heads_are_adjusted_to_bodies_without_codings(
    head: bytes, size: int | None, expected: bytes
) -> None:
    assert adjusted_head(head, size) == expected + b"\r\n\r\n"
