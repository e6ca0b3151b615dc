"""Reading crawls of every kind and packing, whole and damaged."""

from __future__ import annotations

import gzip
import io
import itertools
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from backports import zstd

from tests.pages.formats.crawls import (
    DATE,
    FETCHED,
    http,
    members,
    only,
    page,
    piped,
    read,
    record,
    urls,
)
from webtable.errors import InvalidRequest, NotFound
from webtable.pages.captures import (
    MAX_BODY_BYTES,
    REASONS,
    Capture,
    Position,
    Skipped,
    payload_digest,
)
from webtable.pages.formats.crawl_files import read_captures

PAGES = [page(number, 100 * number) for number in range(6)]


def blocks(records: Sequence[bytes]) -> bytes:
    whole = b"".join(records)
    return b"".join(gzip.compress(whole[at : at + 300]) for at in range(0, len(whole), 300))


def with_dictionary(records: Sequence[bytes], *, is_packed: bool) -> bytes:
    dictionary = zstd.train_dict([*records] * 20, 4096)
    content = dictionary.dict_content
    stored = zstd.compress(content) if is_packed else content
    head = b"\x5d\x2a\x4d\x18" + len(stored).to_bytes(4, "little") + stored
    return head + b"".join(zstd.compress(each, zstd_dict=dictionary) for each in records)


PACKINGS: dict[str, Callable[[Sequence[bytes]], bytes]] = {
    "plain": b"".join,
    "gzip": members,
    "gzip in one member": lambda records: gzip.compress(b"".join(records)),
    "gzip, two records a member": lambda records: members(
        [b"".join(records[at : at + 2]) for at in range(0, len(records), 2)]
    ),
    "gzip, the last member with two": lambda records: members(
        [*records[:-2], b"".join(records[-2:])]
    ),
    "gzip in blocks": blocks,
    "gzip with empty members": lambda records: members(
        [b"", *itertools.chain.from_iterable((each, b"", b"") for each in records)]
    ),
    "zstd": lambda records: b"".join(map(zstd.compress, records)),
    "zstd in one frame": lambda records: zstd.compress(b"".join(records)),
    "zstd with empty frames": lambda records: b"".join(
        zstd.compress(b"") + b"\x50\x2a\x4d\x18\0\0\0\0" + zstd.compress(each) for each in records
    ),
    "zstd with a dictionary": lambda records: with_dictionary(records, is_packed=False),
    "zstd with a packed dictionary": lambda records: with_dictionary(records, is_packed=True),
}


@pytest.mark.parametrize("packing", PACKINGS)
def test_every_packing_gives_every_record_and_every_place_to_go_on(
    packing: str, tmp_path: Path
) -> None:
    items = read(tmp_path / "crawl", PACKINGS[packing](PAGES))
    assert urls(items) == ["0", "1", "2", "3", "4", "5"]
    assert [item.size for item in items if isinstance(item, Capture)] == [
        21 + 100 * number for number in range(6)
    ]


def test_a_member_cut_off_in_the_middle_costs_its_record_only(tmp_path: Path) -> None:
    packed = [gzip.compress(each) for each in PAGES]
    packed[2] = packed[2][:-40]
    items = read(tmp_path / "crawl", b"".join(packed))
    assert urls(items) == ["0", "1", "damaged", "3", "4", "5"]


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_a_damaged_member_costs_its_record_only(packing: str, tmp_path: Path) -> None:
    compress = gzip.compress if packing == "gzip" else zstd.compress
    packed = [compress(each) for each in PAGES]
    packed[2] = packed[2][:60] + bytes(40) + packed[2][100:]
    items = read(tmp_path / "crawl", b"".join(packed))
    assert urls(items) == ["0", "1", "damaged", "3", "4", "5"]


def test_a_member_with_a_damaged_header_costs_its_record_only(tmp_path: Path) -> None:
    packed = [bytearray(gzip.compress(each)) for each in PAGES]
    packed[2][3] = 4  # says that a field follows, whose length is then far too large
    assert urls(read(tmp_path / "crawl", b"".join(packed))) == ["0", "1", "damaged", "3", "4", "5"]


def test_a_checksum_that_is_wrong_is_seen(tmp_path: Path) -> None:
    packed = [bytearray(gzip.compress(each)) for each in PAGES]
    packed[2][-6] ^= 255
    assert urls(read(tmp_path / "crawl", b"".join(packed))) == ["0", "1", "damaged", "3", "4", "5"]


@pytest.mark.parametrize("packing", ["plain", "gzip", "gzip in one member", "zstd"])
def test_a_file_that_breaks_off_gives_all_that_is_whole(packing: str, tmp_path: Path) -> None:
    items = read(tmp_path / "crawl", PACKINGS[packing](PAGES)[:-50])
    assert urls(items)[-1] == "truncated"
    whole = urls(items)[:-1]
    assert whole == ["0", "1", "2", "3", "4", "5"][: len(whole)]
    assert len(whole) == 5 or packing == "gzip in one member"


def test_a_file_that_breaks_off_in_a_header_is_named(tmp_path: Path) -> None:
    data = b"".join(PAGES[:2]) + PAGES[2][:60]
    assert urls(read(tmp_path / "crawl", data)) == ["0", "1", "truncated"]


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd", "gzip in one member"])
@pytest.mark.parametrize("wrong", [-60, 60, 5_000])
def test_a_wrong_length_costs_its_record_only(packing: str, wrong: int, tmp_path: Path) -> None:
    block = http(b"<title>Wrong</title>" + b"y" * 300)
    bad = record(block, "https://example.com/bad", length=len(block) + wrong)
    items = read(tmp_path / "crawl", PACKINGS[packing]([*PAGES[:2], bad, *PAGES[2:]]))
    assert urls(items) == ["0", "1", "wrong-length", "2", "3", "4", "5"]
    assert isinstance(items[2], Skipped)
    assert items[2].url == "https://example.com/bad"


@pytest.mark.parametrize("packing", ["plain", "gzip"])
def test_an_absurd_length_costs_its_record_only(packing: str, tmp_path: Path) -> None:
    bad = record(http(b"x"), "https://example.com/bad", length=10**12)
    path = tmp_path / "crawl"
    path.write_bytes(PACKINGS[packing]([*PAGES[:2], bad, *PAGES[2:]]))
    assert urls(list(read_captures(path))) == ["0", "1", "wrong-length", "2", "3", "4", "5"]
    # A pipe cannot be gone back in: what the length reaches over is lost, and named.
    assert urls(piped(path.read_bytes())) == ["0", "1", "truncated"]


@pytest.mark.parametrize("length", ["-5", "many", "", "1_0"])
def test_a_length_that_is_none_costs_its_record_only(length: str, tmp_path: Path) -> None:
    bad = record(http(b"x"), "https://example.com/bad", length=length)
    items = read(tmp_path / "crawl", b"".join([*PAGES[:2], bad, *PAGES[2:]]))
    assert urls(items) == ["0", "1", "bad-record", "2", "3", "4", "5"]


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd"])
def test_garbage_between_records_is_named(packing: str, tmp_path: Path) -> None:
    data = PACKINGS[packing](PAGES[:2]) + b"garbage!\n" * 9 + PACKINGS[packing](PAGES[2:])
    reason = "garbage" if packing == "plain" else "damaged"
    assert urls(read(tmp_path / "crawl", data)) == ["0", "1", reason, "2", "3", "4", "5"]


def test_garbage_in_front_of_the_first_record_is_named(tmp_path: Path) -> None:
    items = read(tmp_path / "crawl", b"once upon a time\n" + b"".join(PAGES))
    assert urls(items) == ["garbage", "0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    "data", [b"", b"hello\n" * 100, b"<html></html>", b"\x89PNG\r\n", gzip.compress(b"hello")]
)
def test_a_file_of_another_kind_is_named(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    path.write_bytes(data)
    (item,) = read_captures(path)
    assert isinstance(item, Skipped)
    assert item.reason == "not-a-crawl"
    assert item.source == str(path)


def test_a_file_that_only_looks_packed_is_named(tmp_path: Path) -> None:
    assert urls(read(tmp_path / "crawl", b"\x1f\x8b\x08\0" + bytes(range(256)) * 4)) == ["damaged"]


def test_every_reason_is_a_known_one_and_the_rest_is_read(tmp_path: Path) -> None:
    bad = {
        "no-url": record(http(b"x"), None),
        "bad-url": record(http(b"x"), "javascript:alert(1)"),
        "bad-date": record(http(b"x"), date="2026-02-30T00:00:00Z"),
        "future": record(http(b"x"), date="2999-01-01T00:00:00Z"),
        "bad-http": record(b"no HTTP at all"),
        "other-type": record(b"GET / HTTP/1.1\r\n\r\n", kind="request"),
    }
    data = b"".join(part for each in bad.values() for part in (each, PAGES[0]))
    items = read(tmp_path / "crawl", data)
    assert urls(items) == [part for reason in bad for part in (reason, "0")]
    assert {item.reason for item in items if isinstance(item, Skipped)} <= REASONS.keys()
    assert all(item.why for item in items if isinstance(item, Skipped))


@pytest.mark.parametrize(
    "url",
    [
        "dns:example.com",
        "http://",
        "https://example.com:99999/",
        "https://" + "a" * 100_000,
        "https://exa mple.com/",
        "urn:x",
    ],
)
def test_a_hostile_url_is_named_and_shown_short(url: str, tmp_path: Path) -> None:
    items = read(tmp_path / "crawl", record(http(b"x"), url) + PAGES[0])
    assert urls(items) == ["bad-url", "0"] or urls(items) == ["bad-record", "0"]
    assert isinstance(items[0], Skipped)
    assert len(items[0].url) <= 200
    assert len(items[0].why) < 300


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTP://EXAMPLE.com:80/a/../b#c", "http://example.com/b"),
        ("<https://example.com/in-brackets>", "https://example.com/in-brackets"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://example.com/%zz%00", "https://example.com/%zz%00"),
    ],
)
def test_a_url_is_made_canonical(url: str, canonical: str, tmp_path: Path) -> None:
    capture = only(read(tmp_path / "crawl", record(http(b"x"), url)))
    assert capture.url == canonical


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        (DATE, FETCHED),
        ("2026-01-01T00:00:00.999999Z", FETCHED),
        ("2026-01-01T01:00:00+01:00", FETCHED),
        ("20260101000000", FETCHED),
        ("2026-01", FETCHED),
        ("2026", FETCHED),
    ],
)
def test_dates_are_read(date: str, seconds: int, tmp_path: Path) -> None:
    assert only(read(tmp_path / "crawl", record(http(b"x"), date=date))).fetched == seconds


@pytest.mark.parametrize("date", ["", "yesterday", "0001-01-01T00:00:00Z", "2026-13-01T00:00:00Z"])
def test_impossible_dates_are_named(date: str, tmp_path: Path) -> None:
    assert urls(read(tmp_path / "crawl", record(http(b"x"), date=date))) == ["bad-date"]


def test_a_capture_says_what_its_record_says(tmp_path: Path) -> None:
    block = http(
        b"moved",
        ("Location", "/there"),
        ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("X-Robots-Tag", "NoIndex"),
        ("Link", '<https://example.com/c>; rel="canonical"'),
        status="301 Moved",
        kind="Text/HTML; charset=KOI8-R",
    )
    capture = only(read(tmp_path / "crawl", record(block, "HTTPS://example.com/a/b")))
    assert (capture.url, capture.given_url) == (
        "https://example.com/a/b",
        "HTTPS://example.com/a/b",
    )
    assert (capture.status, capture.kind) == (301, "response")
    assert (capture.content_type, capture.charset) == ("text/html", "KOI8-R")
    assert capture.last_modified == 784_111_777
    assert (capture.location, capture.robots) == ("https://example.com/there", "noindex")
    assert capture.canonical == "https://example.com/c"
    assert (capture.body, capture.size) == (b"moved", 5)
    assert capture.digest == payload_digest(b"moved")
    assert (capture.record_id, capture.position) == ("<urn:uuid:1>", Position(0))


@pytest.mark.parametrize(
    ("given", "digest"),
    [
        ("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
        ("SHA1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
        ("sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
        ("nonsense", payload_digest(b"")),
        ("sha1:tooshort", payload_digest(b"")),
    ],
)
def test_the_digest_is_the_records_own_if_it_is_one(
    given: str, digest: str, tmp_path: Path
) -> None:
    data = record(http(b""), WARC_Payload_Digest=given)
    assert only(read(tmp_path / "crawl", data)).digest == digest


def test_a_resource_and_a_revisit_are_read(tmp_path: Path) -> None:
    name = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
    items = read(
        tmp_path / "crawl",
        record(b"<p>bare", kind="resource", Content_Type="text/html; charset=utf-8")
        + record(
            http(b""),
            kind="revisit",
            WARC_Payload_Digest=name,
            WARC_Refers_To_Target_URI="https://example.com/first",
            WARC_Refers_To_Date=DATE,
            WARC_Refers_To="<urn:uuid:0>",
        )
        + record(b"HTTP/1.1 304 Not Modified\r\n\r\n", kind="revisit")
        + record(b"", kind="revisit", WARC_Payload_Digest=name),
    )
    bare, repeated, unchanged, silent = items
    assert isinstance(bare, Capture)
    assert (bare.kind, bare.status, bare.body) == ("resource", 200, b"<p>bare")
    assert isinstance(repeated, Capture)
    assert (repeated.kind, repeated.status, repeated.body) == ("revisit", 200, None)
    assert (repeated.digest, repeated.refers_to) == (name, "<urn:uuid:0>")
    assert (repeated.refers_to_url, repeated.refers_to_fetched) == (
        "https://example.com/first",
        FETCHED,
    )
    assert isinstance(unchanged, Capture)
    assert (unchanged.status, unchanged.digest) == (0, "")
    assert isinstance(silent, Capture)
    assert (silent.status, silent.digest) == (0, name)


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd"])
def test_a_body_of_200_mb_is_recorded_without_it_in_little_memory(
    packing: str, tmp_path: Path
) -> None:
    size = 200_000_000
    head = http(b"")
    start = record(head, "https://example.com/big", length=len(head) + size)[:-4]
    path = tmp_path / "crawl"
    with path.open("wb") as file:
        file.write(PACKINGS[packing](PAGES[:1]))
        big = _packed(file, packing)
        big.write(start)
        for _ in range(size // 1_000_000):
            big.write(bytes(1_000_000))
        big.write(b"\r\n\r\n")
        if big is not file:
            big.close()
        file.write(PACKINGS[packing](PAGES[1:]))
    tracemalloc.start()
    items = list(read_captures(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert urls(items) == ["0", "big", "1", "2", "3", "4", "5"]
    big_one = items[1]
    assert isinstance(big_one, Capture)
    assert (big_one.body, big_one.size, big_one.notes) == (None, size, ("body-too-large",))
    assert big_one.digest.startswith("sha1:")
    assert peak < 20_000_000


def _packed(file: io.BufferedWriter, packing: str) -> io.BufferedIOBase:
    if packing == "gzip":
        return gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1)
    if packing == "zstd":
        return zstd.ZstdFile(file, "wb", level=1)
    return file


def test_a_body_of_just_the_limit_is_kept_and_one_byte_more_is_not(tmp_path: Path) -> None:
    data = b"".join(
        record(http(b"x" * size), f"https://example.com/{size}")
        for size in (MAX_BODY_BYTES, MAX_BODY_BYTES + 1)
    )
    kept, dropped = read(tmp_path / "crawl", data)
    assert isinstance(kept, Capture)
    assert isinstance(dropped, Capture)
    assert (len(kept.body or b""), kept.notes) == (MAX_BODY_BYTES, ())
    assert (dropped.body, dropped.notes) == (None, ("body-too-large",))


def test_standard_input_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Standard:
        buffer = io.BytesIO(members(PAGES))

    monkeypatch.setattr("sys.stdin", Standard)
    assert urls(list(read_captures("-"))) == ["0", "1", "2", "3", "4", "5"]


def test_a_file_that_is_not_there_or_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        list(read_captures(tmp_path / "nowhere"))
    with pytest.raises(InvalidRequest, match="cannot be read"):
        list(read_captures(tmp_path))
