"""Payload digests are claims: right ones name a body, wrong ones never do."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import webtable
from tests.pages.formats.crawls import http, members, read, record
from webtable.cli.main import cli
from webtable.pages.captures import Capture, payload_digest
from webtable.pages.formats.payload_digests import checked
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

ONE, TWO = b"<title>One</title>one", b"<title>Two</title>two and more"
PACKED = gzip.compress(ONE)
CHUNKED = b"%x\r\n%b\r\n0\r\n\r\n" % (len(PACKED), PACKED)
CODED = http(CHUNKED, ("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"))
URL = "https://example.com/"
FALSE = payload_digest(b"something else")


def spellings(payload: bytes) -> list[str]:
    sha256 = hashlib.sha256(payload)
    base32 = base64.b32encode(sha256.digest()).decode()
    return [
        payload_digest(payload),
        "sha1:" + hashlib.sha1(payload).hexdigest(),
        "SHA1:" + payload_digest(payload)[5:].lower(),
        "sha256:" + sha256.hexdigest(),
        "sha256:" + sha256.hexdigest().upper(),
        "sha-256:" + base32,
        "sha256:" + base32.rstrip("=").lower(),
        "sha256:" + base64.b64encode(sha256.digest()).decode(),
        "sha512:" + hashlib.sha512(payload).hexdigest(),
    ]


@pytest.mark.parametrize("form", [CHUNKED, PACKED, ONE], ids=["recorded", "dechunked", "decoded"])
def test_a_claim_is_right_in_every_form_and_spelling(form: bytes, tmp_path: Path) -> None:
    records = [record(CODED, WARC_Payload_Digest=each) for each in spellings(form)]
    captures = read(tmp_path / "crawl", members(records))
    assert all(isinstance(each, Capture) and each.notes == () for each in captures)
    named = {each.digest.partition(":")[0] for each in captures if isinstance(each, Capture)}
    assert named == {"sha1", "sha256", "sha-256", "sha512"}
    assert {each.digest for each in captures if isinstance(each, Capture)} >= {payload_digest(form)}


@pytest.mark.parametrize("claim", [FALSE, *spellings(TWO)])
def test_a_wrong_digest_does_not_identify_a_capture(claim: str, tmp_path: Path) -> None:
    for block, payload in ((http(ONE), ONE), (CODED, CHUNKED)):
        (capture,) = read(tmp_path / "crawl", record(block, WARC_Payload_Digest=claim))
        assert isinstance(capture, Capture)
        assert (capture.digest, capture.notes) == (payload_digest(payload), ("wrong-digest",))


@pytest.mark.parametrize("claim", ["md5:" + hashlib.md5(ONE).hexdigest(), "blake9:" + "ab" * 16])
def test_a_claim_that_proves_nothing_is_neither_right_nor_wrong(claim: str) -> None:
    assert checked(claim, ONE) == (payload_digest(ONE), False)


def test_a_claim_about_more_than_there_is_is_not_called_wrong(tmp_path: Path) -> None:
    data = record(http(ONE), WARC_Payload_Digest=FALSE, WARC_Truncated="length")
    (capture,) = read(tmp_path / "crawl", data)
    assert isinstance(capture, Capture)
    assert (capture.digest, capture.notes) == (payload_digest(ONE), ("crawler-cut",))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def loaded(folder: Path, *files: bytes) -> tuple[str, list[dict[str, object]]]:
    location = str(folder / "store")
    assert run("init", "--store", location, "--profile", "archive").exit_code == 0
    reports = []
    for number, data in enumerate(files):
        crawl = folder / f"{number}.warc.gz"
        crawl.write_bytes(data)
        done = run("load", "--store", location, "--workers", "0", "--format", "json", str(crawl))
        assert done.exit_code == 0
        reports.append(json.loads(done.stdout))
    return location, reports


def bodies(location: str) -> list[bytes | None]:
    with webtable.open(location, read_only=True) as store:
        pages = PageTable.open(store, parse_stored)
        return [each.body for each in pages.contents(URL)]


def day(number: int) -> str:
    return f"2026-01-{number:02}T00:00:00Z"


FIRST = record(http(ONE), WARC_Payload_Digest=FALSE, date=day(1))
SECOND = record(http(TWO), WARC_Payload_Digest=FALSE, date=day(2))
THIRD = record(b"", kind="revisit", WARC_Payload_Digest=FALSE, date=day(3))


@pytest.mark.parametrize("order", ["together", "forward", "backward"])
def test_two_bodies_that_claim_one_digest_are_both_kept(order: str, tmp_path: Path) -> None:
    records = [FIRST, SECOND, THIRD]
    each = list(map(gzip.compress, records))
    files = {"together": [b"".join(each)], "forward": each, "backward": each[::-1]}
    location, reports = loaded(tmp_path, *files[order])
    # The revisit names what neither of them is.
    assert bodies(location) == [ONE, TWO, None]
    assert sum(int(str(each["wrong_digests"])) for each in reports) == 2


def test_wrong_digests_are_reported(tmp_path: Path) -> None:
    (tmp_path / "crawl.warc").write_bytes(FIRST + SECOND)
    location = str(tmp_path / "store")
    run("init", "--store", location)
    done = run("load", "--store", location, "--workers", "0", str(tmp_path / "crawl.warc"))
    assert "2 captures have a wrong payload digest" in done.stderr


@pytest.mark.parametrize("form", [CHUNKED, PACKED, ONE], ids=["recorded", "dechunked", "decoded"])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_revisit_finds_the_body_of_a_right_claim(
    form: bytes, is_first: bool, tmp_path: Path
) -> None:
    claim = payload_digest(form)
    response = record(CODED, WARC_Payload_Digest=claim, date=day(1))
    revisit = record(b"", kind="revisit", WARC_Payload_Digest=claim, date=day(2))
    order = [revisit, response] if is_first else [response, revisit]
    location, _ = loaded(tmp_path, *map(gzip.compress, order))
    assert bodies(location) == [ONE, ONE]


def same_size() -> bytes:
    """Returns a body that is as long as it is compressed."""
    noise = random.Random(3).randbytes(300)
    bodies = (ONE + noise + b"a" * count for count in range(100))
    return next(each for each in bodies if len(gzip.compress(each, mtime=0)) == len(each))


EVEN = same_size()


@pytest.mark.parametrize("body", [ONE, EVEN], ids=["other size", "same size"])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("is_together", [False, True])
def test_one_payload_read_with_and_without_its_coding_is_two_bodies(
    order: int, is_together: bool, body: bytes, tmp_path: Path
) -> None:
    packed = gzip.compress(body, mtime=0)
    claim = payload_digest(packed)
    coded = http(packed, ("Content-Encoding", "gzip"))
    records = [
        record(coded, WARC_Payload_Digest=claim, date=day(1)),
        record(http(packed), WARC_Payload_Digest=claim, date=day(2)),
        record(coded, WARC_Payload_Digest=claim, date=day(3)),
    ][::order]
    files = [members(records)] if is_together else list(map(gzip.compress, records))
    location, _ = loaded(tmp_path, *files, *files)
    assert bodies(location) == [body, packed, body]


@pytest.mark.parametrize("is_same_second", [False, True])
def test_a_digest_that_is_of_two_bodies_in_different_forms(
    is_same_second: bool, tmp_path: Path
) -> None:
    packed = gzip.compress(EVEN, mtime=0)
    claim, zipped = payload_digest(packed), ("Content-Encoding", "gzip")
    later = day(1 if is_same_second else 2)
    records = [
        record(http(gzip.compress(packed), zipped), WARC_Payload_Digest=claim, date=day(1)),
        record(http(packed, zipped), WARC_Payload_Digest=claim, date=later),
    ]
    location, reports = loaded(tmp_path, *map(gzip.compress, records), members(records))
    # Of the captures of one second the one with the greater digest counts: that of the SHA-256.
    assert bodies(location) == [None if is_same_second else packed, EVEN]
    with webtable.open(location, read_only=True) as store:
        assert len(PageTable.open(store, parse_stored).captures(URL)) == 2
    assert reports[-1]["unchanged"] == 2


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_one_body_in_several_forms_is_one(algorithm: str, tmp_path: Path) -> None:
    claim = f"{algorithm}:{hashlib.new(algorithm, ONE).hexdigest()}"
    blocks = [http(ONE), CODED, http(PACKED, ("Content-Encoding", "gzip"))]
    records = [
        record(block, WARC_Payload_Digest=claim, date=day(number))
        for number, block in enumerate(blocks, start=1)
    ]
    _, (report,) = loaded(tmp_path, members(records))
    assert (report["new"], report["changed"], report["unchanged"]) == (1, 0, 2)
