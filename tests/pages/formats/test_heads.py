"""What readers keep of a record besides its body: the head as received, and where it came from."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.pages.formats.crawls import http, members, only, read, record
from tests.pages.formats.test_other_files import lines, wat
from webtable.pages.captures import Capture
from webtable.pages.formats.http_responses import (
    canonical_link,
    parse_head,
    parse_headers,
    robots_rules,
)
from webtable.pages.formats.program_captures import capture_of_program
from webtable.pages.formats.response_captures import head_values
from webtable.pages.storing.capture_cells import Origin, decode_origin, encode_note
from webtable.pages.storing.capture_parser import ready

HEAD = (
    b"HTTP/1.1 200  Very OK\r\nCONTENT-type: text/html\r\nset-cookie: a=1\r\n"
    b"Set-Cookie:  b=2\r\nX-Folded: one\r\n\ttwo\r\nX-Bytes: \xe9\xff"
)
ID = "<urn:uuid:40236938-f009-5dd4-b8e9-4066d09c8348>"


def origin(capture: Capture) -> Origin:
    made = ready(capture)
    return decode_origin(encode_note(made.note, made.origin))


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_head_is_kept_byte_for_byte(is_packed: bool, tmp_path: Path) -> None:
    records = [record(HEAD + b"\r\n\r\n<p>", f"https://example.com/{n}") for n in range(4)]
    data = members(records) if is_packed else b"".join(records)
    found = read(tmp_path / "crawl", data)
    assert [each.head for each in found if isinstance(each, Capture)] == [HEAD] * 4


def test_heads_of_errors_redirects_and_revisits_are_kept(tmp_path: Path) -> None:
    for status in ("404 Not Found", "301 Moved", "503 Later"):
        block = http(b"", ("X-Some", "value"), status=status)
        found = only(read(tmp_path / "crawl", record(block)))
        assert found.head == block.removesuffix(b"\r\n\r\n")
    block = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"
    found = only(read(tmp_path / "crawl", record(block, kind="revisit")))
    assert found.head == b"HTTP/1.1 304 Not Modified\r\nETag: x"
    assert only(read(tmp_path / "crawl", record(b"", kind="revisit"))).head == b""
    plain = record(b"<p>", kind="resource", Content_Type="text/html")
    assert only(read(tmp_path / "crawl", plain)).head == b""


@pytest.mark.parametrize(
    ("block", "head"),
    [
        (b"HTTP/1.0 200 OK\nA: b\n\nbody", b"HTTP/1.0 200 OK\nA: b"),
        (b"HTTP/1.0 200 OK\r\nA: b\r\n", b"HTTP/1.0 200 OK\r\nA: b"),
        (b"HTTP/1.0 200 OK\r\n\r\n", b"HTTP/1.0 200 OK"),
        (b"HTTP/1.0 200", b"HTTP/1.0 200"),
    ],
)
def test_the_empty_line_is_no_part_of_a_head(block: bytes, head: bytes) -> None:
    parsed = parse_head(block)
    assert parsed is not None
    assert block[: parsed.end] == head


def test_where_a_record_was_and_what_it_says_of_itself(tmp_path: Path) -> None:
    fields = {
        "WARC_IP_Address": "192.0.2.7",
        "WARC_Truncated": "length",
        "WARC_Payload_Digest": "md5:0cc175b9c0f1b6a831c399e269772661",
    }
    made = record(http(b"a"), "https://example.com/a", **fields)
    made = made.replace(b"<urn:uuid:1>", ID.encode())
    made = made.replace(
        b"WARC/1.1\r\n", b"WARC/1.1\r\nWARC-Protocol: h2\r\nWARC-Protocol: tls/1.3\r\n"
    )
    packed = [gzip.compress(each, mtime=0) for each in (made, made, record(http(b"b")), made)]
    path = tmp_path / "crawl.warc.gz"
    expected = Origin(
        str(path), 0, 0, len(packed[0]), ID, "192.0.2.7", "h2 tls/1.3", "length",
        "md5:0cc175b9c0f1b6a831c399e269772661",
    )  # fmt: skip
    found = [each for each in read(path, b"".join(packed)) if isinstance(each, Capture)]
    second = expected._replace(offset=len(packed[0]))
    last = expected._replace(offset=sum(map(len, packed[:3])))
    # The fast reader reads the first records, the tolerant one the last.
    assert [origin(found[n]) for n in (0, 1, 3)] == [expected, second, last]
    plain = origin(found[2])
    assert (plain.address, plain.protocol, plain.truncated, plain.claimed_digest) == ("",) * 4


def test_several_records_in_a_member_have_no_length_of_their_own(tmp_path: Path) -> None:
    records = [record(http(b"a"), f"https://example.com/{n}") for n in range(3)]
    path = tmp_path / "crawl"
    found = [
        each for each in read(path, gzip.compress(b"".join(records))) if isinstance(each, Capture)
    ]
    places = [origin(each)[1:4] for each in found]
    assert places[0] == (0, 0, None)
    assert places[1] == (0, len(records[0]), None)


def test_a_truncation_without_a_reason_is_one(tmp_path: Path) -> None:
    found = only(read(tmp_path / "crawl", record(http(b"a"), WARC_Truncated="")))
    assert origin(found).truncated == "unspecified"
    assert "crawler-cut" in found.notes


def test_a_wrong_claim_is_kept(tmp_path: Path) -> None:
    claim = "sha1:" + "A" * 32
    found = only(read(tmp_path / "crawl", record(http(b"a"), WARC_Payload_Digest=claim)))
    assert found.digest != claim
    assert origin(found).claimed_digest == claim
    right = only(read(tmp_path / "crawl", record(http(b"a"), WARC_Payload_Digest=found.digest)))
    assert origin(right).claimed_digest == ""


def test_what_a_revisit_repeats(tmp_path: Path) -> None:
    refers = {"WARC_Refers_To_Date": "2025-12-31T00:00:00Z"}
    other = record(
        http(b""), kind="revisit", WARC_Refers_To_Target_URI="https://other.org/", **refers
    )
    found = origin(only(read(tmp_path / "crawl", other)))
    assert (found.revisited_time, found.revisited_url) == (1_767_139_200, "https://other.org/")
    own = "https://EXAMPLE.com/"
    same = record(http(b""), own, kind="revisit", WARC_Refers_To_Target_URI=own, **refers)
    assert origin(only(read(tmp_path / "crawl", same))).revisited_url == ""


def test_an_arc_has_heads_and_addresses(tmp_path: Path) -> None:
    block = http(b"<p>", ("Server", "x"))
    data = b"filedesc://a 0.0.0.0 20000101000000 text/plain 5\n1 0 a\n\n"
    data += (
        b"http://example.com/ 192.0.2.9 20000101000000 text/html %d\n" % len(block) + block + b"\n"
    )
    found = read(tmp_path / "crawl.arc", data)[1]
    assert isinstance(found, Capture)
    assert found.head == block.partition(b"\r\n\r\n")[0]
    assert origin(found).address == "192.0.2.9"


def test_json_lines_have_the_head_that_their_fields_make(tmp_path: Path) -> None:
    made = {"url": "https://example.com/", "fetched": "2026-01-01T00:00:00Z", "status": 301}
    found = only(read(tmp_path / "crawl", lines({**made, "redirect": "/b", "html": ""})))
    assert found.head.split(b"\r\n") == [
        b"HTTP/1.1 301 ",
        b"Content-Type: text/html; charset=utf-8",
        b"Location: /b",
    ]
    assert origin(found).offset == 0


def test_wat_has_the_head_of_the_response(tmp_path: Path) -> None:
    data = wat({}, [], **{"WARC-IP-Address": "192.0.2.5"})
    found = only(read(tmp_path / "crawl", data))
    assert found.head.split(b"\r\n") == [
        b"HTTP/1.1 200",
        b"Content-Type: text/html",
        b"Content-Encoding: gzip",
    ]
    assert origin(found).address == "192.0.2.5"


def test_a_program_keeps_the_headers_that_it_gives() -> None:
    headers = [("X-A", "1"), ("x-a", "2"), ("Set-Cookie", "é")]
    found = capture_of_program("https://example.com/", "<p>", 200, headers, 1_700_000_000)
    assert found.head == "HTTP/1.1 200 \r\nX-A: 1\r\nx-a: 2\r\nSet-Cookie: é".encode()
    assert found.content_type == "text/html"
    assert ready(found).origin == ""


@pytest.mark.parametrize(
    ("sent", "rules"),
    [
        (["noindex"], "noindex"),
        (["NoIndex, NoFollow", "noarchive"], "noindex, nofollow, noarchive"),
        (["googlebot: noindex"], ""),
        (["googlebot: nofollow", "noindex"], "noindex"),
        (["noindex", "otherbot: noarchive, nofollow"], "noindex"),
        (["noarchive, googlebot: noindex, nofollow"], "noarchive"),
        (["*: noindex"], "noindex"),
        (["max-snippet: 20, max-image-preview:large"], "max-snippet: 20, max-image-preview:large"),
        (["unavailable_after: 25 Jun 2026 15:00:00 PST"],
         "unavailable_after: 25 jun 2026 15:00:00 pst"),
        (["unavailable_after: Friday, 25-Jun-26 15:00:00 PST"],
         "unavailable_after: friday, 25-jun-26 15:00:00 pst"),
        (["", ","], ""),
    ],
)  # fmt: skip
def test_rules_for_all_crawlers(sent: list[str], rules: str, tmp_path: Path) -> None:
    block = http(b"<p>", *(("X-Robots-Tag", value) for value in sent))
    assert only(read(tmp_path / "crawl", record(block))).robots == rules
    assert robots_rules("\n".join(sent)) == rules
    values = head_values(block.partition(b"\r\n\r\n")[0], "https://example.com/")
    assert values.robots == rules


@pytest.mark.parametrize(
    ("sent", "target"),
    [
        (['<https://a.org/>; rel="canonical"'], "https://a.org/"),
        (["</style.css>; rel=preload; as=style", "</b>; rel=canonical"], "https://example.com/b"),
        (["</n>; rel=next", "</p>; rel=prev"], ""),
        (["</a>; rel=alternate; hreflang=de, </b>; rel=shortlink"], ""),
        (['</a>; rel="alternate canonical"', "</b>; rel=canonical"], "https://example.com/a"),
        (['</c>; title="canonical"; rel=next'], ""),
        (["</a>; rel=notcanonical"], ""),
    ],
)
def test_the_canonical_url_of_all_link_headers(
    sent: list[str], target: str, tmp_path: Path
) -> None:
    block = http(b"<p>", *(("Link", value) for value in sent))
    found = only(read(tmp_path / "crawl", record(block)))
    assert found.canonical == target
    assert bool(canonical_link("\n".join(sent))) == bool(target)


def test_headers_of_one_name_and_continued_lines() -> None:
    text = "Link: <a>;\r\n rel=x\r\nA: 1\r\nLink: <b>;\r\n\trel=y\r\nA: 2\r\nlink: <c>"
    assert parse_headers(text.replace("\r\n", "\n")) == {
        "link": "<a>; rel=x\n<b>; rel=y\n<c>",
        "a": "2",
    }
