"""warcio reads the same files: what both say of a record must agree."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.pages.formats.crawls import http, members, record
from webtable.pages.captures import Capture, payload_digest
from webtable.pages.formats.crawl_files import read_captures
from webtable.pages.sample.generate_crawl import write_sample

BODY = b"<title>Hello</title>" + b"<p>words and more words" * 200


def chunked(body: bytes) -> bytes:
    pieces = [body[at : at + 700] for at in range(0, len(body), 700)]
    return b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in pieces) + b"0\r\n\r\n"


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


CODED = {
    "plain": http(BODY),
    "chunked": http(chunked(BODY), ("Transfer-Encoding", "chunked")),
    "gzip": http(gzip.compress(BODY), ("Content-Encoding", "gzip")),
    "gzip, chunked": http(
        chunked(gzip.compress(BODY)),
        ("Content-Encoding", "gzip"),
        ("Transfer-Encoding", "chunked"),
    ),
    "deflate": http(zlib.compress(BODY), ("Content-Encoding", "deflate")),
    "bare deflate": http(raw_deflate(BODY), ("Content-Encoding", "deflate")),
    "gzip by name only": http(BODY, ("Content-Encoding", "gzip")),
    "chunked by name only": http(BODY, ("Transfer-Encoding", "chunked")),
    "no reason": http(BODY, status="200"),
    "empty": http(b""),
}


def second(path: Path) -> list[tuple[str, str, str, bytes]]:
    found = []
    with path.open("rb") as file:
        for each in ArchiveIterator(file, arc2warc=True):
            if each.rec_type in ("response", "revisit", "resource"):
                headers = each.rec_headers
                status = each.http_headers.get_statuscode() if each.http_headers else "200"
                found.append(
                    (
                        headers.get_header("WARC-Target-URI"),
                        headers.get_header("WARC-Payload-Digest") or "",
                        status,
                        each.content_stream().read(),
                    )
                )
    return found


def first(path: Path) -> list[tuple[str, str, str, bytes]]:
    return [
        (each.given_url or each.url, each.digest, str(each.status), each.body or b"")
        for each in read_captures(path)
        if isinstance(each, Capture)
    ]


@pytest.mark.parametrize("packing", ["plain", "gzip"])
def test_both_readers_agree_on_every_coding(packing: str, tmp_path: Path) -> None:
    records = [
        record(
            block,
            f"https://example.com/{number}",
            WARC_Payload_Digest=payload_digest(block.partition(b"\r\n\r\n")[2]),
        )
        for number, block in enumerate(CODED.values())
    ]
    path = tmp_path / "crawl.warc"
    path.write_bytes(members(records) if packing == "gzip" else b"".join(records))
    ours = first(path)
    assert ours == second(path)
    bodies = dict(zip(CODED, (each[3] for each in ours), strict=True))
    assert bodies.pop("empty") == b""
    assert {name for name, body in bodies.items() if body != BODY} == set()


def test_both_readers_agree_on_the_sample(tmp_path: Path) -> None:
    path = tmp_path / "sample.warc.gz"
    with path.open("wb") as file:
        count = write_sample(file, 120, seed=7)
    ours = first(path)
    assert len(ours) == count
    assert ours == second(path)


def arc(records: list[tuple[str, bytes]]) -> list[bytes]:
    about = b"1 0 Somebody\nURL IP-address Archive-date Content-type Archive-length\n\n"
    start = b"filedesc://x.arc 0.0.0.0 20260101000000 text/plain %d\n%b\n" % (len(about), about)
    return [start] + [
        b"%b 127.0.0.1 20260101000000 text/html %d\n%b\n" % (url.encode(), len(block), block)
        for url, block in records
    ]


@pytest.mark.parametrize("packing", ["plain", "gzip"])
def test_both_readers_agree_on_arc(packing: str, tmp_path: Path) -> None:
    records = arc(
        [(f"https://example.com/{number}", block) for number, block in enumerate(CODED.values())]
    )
    path = tmp_path / "crawl.arc"
    path.write_bytes(members(records) if packing == "gzip" else b"".join(records))
    ours = first(path)
    assert len(ours) == len(CODED)
    assert [(url, status, body) for url, _, status, body in ours] == [
        (url, status, body) for url, _, status, body in second(path)
    ]


def test_what_is_written_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    def written(seed: int) -> bytes:
        file = io.BytesIO()
        write_sample(file, 30, seed)
        return file.getvalue()

    assert written(1) == written(1)
    assert written(1) != written(2)
