"""The keys of index entries, frozen."""

from __future__ import annotations

import bisect

from webtable.pages.indexes import (
    BUCKET_SPLITS,
    BUCKETS,
    DIGESTS,
    SIZE_BUCKETS,
    page_indexes,
)
from webtable.pages.keys import KeyScheme, ReadableKeys, SaltedKeys
from webtable.pages.public_suffixes import Suffixes

SUFFIXES = Suffixes("// ===BEGIN ICANN DOMAINS===\ncom\n")
URL = "https://docs.example.com/about"
FACTS = {
    b"metadata:url": URL.encode(),
    b"metadata:last_modified": b"2026-09-01T12:00:00Z",
    b"metadata:size": b"4711",
    b"metadata:status_code": b"200",
    b"metadata:digest": b"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
    b"metadata:outlinks": b"7",
    b"metadata:inlinks": b"4",
    b"metadata:title": b"",
    b"metadata:type": b"text/html",
    b"metadata:changed": b"0001788264000000\tnew",
}


def entries(keys: KeyScheme, facts: dict[bytes, bytes]) -> dict[str, list[tuple[bytes, bytes]]]:
    row = keys.row_key(URL)
    return {
        index.name: [(entry.key, entry.cover) for entry in index.entries(row, facts)]
        for index in page_indexes(keys, SUFFIXES)
    }


def test_readable_entries() -> None:
    row = b"com.example.docs_about"
    assert entries(ReadableKeys(), FACTS) == {
        "webtable_time_idx": [(b"20260901_120000_" + row, b"rowkey")],
        "webtable_size_idx": [(b"0010KB_medium_000000004711_" + row, b"rowkey")],
        "webtable_link_idx": [
            (b"inlinks_05_000000000004_" + row, b"rowkey"),
            (b"outlinks_10_000000000007_" + row, b"rowkey"),
        ],
        "webtable_url_idx": [(b"58154eb8843217bd_" + row, b"rowkey")],
        "webtable_domain_idx": [(b"com.example_20260901_120000_" + row, b"rowkey")],
        "webtable_status_idx": [(b"200_" + row, b"rowkey")],
        "webtable_change_idx": [(b"0001788264000000_" + row, b"rowkey")],
        "webtable_digest_idx": [(b"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ_" + row, b"rowkey")],
    }


def test_salted_entries_begin_with_the_bucket_of_their_row() -> None:
    row = b"5a:com.example.docs/about"
    assert entries(SaltedKeys(SUFFIXES), FACTS) == {
        "webtable_time_idx": [(b"5:20260901_120000_" + row, b"rowkey")],
        "webtable_size_idx": [(b"5:0010KB_medium_000000004711_" + row, b"rowkey")],
        "webtable_link_idx": [
            (b"5:inlinks_05_000000000004_" + row, b"rowkey"),
            (b"5:outlinks_10_000000000007_" + row, b"rowkey"),
        ],
        "webtable_url_idx": [(b"5:58154eb8843217bd_" + row, b"rowkey")],
        "webtable_domain_idx": [(b"5:com.example_20260901_120000_" + row, b"rowkey")],
        "webtable_status_idx": [(b"5:200_" + row, b"rowkey")],
        "webtable_change_idx": [(b"5:0001788264000000_" + row, b"rowkey")],
        # Digests are spread by nature, and those that are the same have to lie side by side.
        "webtable_digest_idx": [(b"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ_" + row, b"rowkey")],
    }


def test_an_index_table_has_a_region_for_each_bucket() -> None:
    assert tuple(f"{digit}:".encode() for digit in "0123456789abcdef") == BUCKETS
    places = [bisect.bisect_right(BUCKET_SPLITS, bucket) for bucket in BUCKETS]
    assert places == list(range(16))
    for index in page_indexes(SaltedKeys(SUFFIXES), SUFFIXES):
        is_digests = index.name == DIGESTS
        assert (len(index.splits), index.splits == BUCKET_SPLITS) == (15, not is_digests)
    assert not any(index.splits for index in page_indexes(ReadableKeys(), SUFFIXES))


def test_an_unknown_value_has_no_entry() -> None:
    few = {b"metadata:url": URL.encode(), b"metadata:digest": b"", b"metadata:size": b""}
    found = entries(ReadableKeys(), few)
    assert [name for name, keys in found.items() if keys] == ["webtable_url_idx"]


def test_links_of_what_is_not_good_html_do_not_count() -> None:
    for other in ({b"metadata:status_code": b"404"}, {b"metadata:type": b"image/png"}):
        found = entries(ReadableKeys(), {**FACTS, **other})["webtable_link_idx"]
        assert [key for key, _ in found] == [b"inlinks_05_000000000004_com.example.docs_about"]


def test_buckets_sort_by_size() -> None:
    assert list(SIZE_BUCKETS) == sorted(SIZE_BUCKETS)
