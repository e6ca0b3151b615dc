"""The bytes of the link index, frozen: changing them needs a new format version."""

from __future__ import annotations

import zlib

import pytest

from webtable.errors import CorruptData
from webtable.links import schema
from webtable.links.cell_encoding import (
    GONE,
    Inlink,
    LinkText,
    decode_cur,
    decode_inlink,
    decode_uris,
    encode_cur,
    encode_uris,
    live_values,
)
from webtable.links.updating.count_rules import HERE
from webtable.pages.public_suffixes import newest_list, suffixes_of

TEXT = "https://a.com/\t\tHome\nhttps://a.com/\tnofollow\tA\nhttps://b.org/x?y=1\t\tBé"


def test_uris() -> None:
    for url, uri in (
        ("https://example.com/", b"com.example/"),
        ("https://docs.example.com/guide?page=2", b"com.example.docs/guide?page=2"),
        ("http://example.com/a", b"com.example:http/a"),
        ("https://example.com:8443/a", b"com.example:8443/a"),
        ("http://example.com:8080/a", b"com.example:http:8080/a"),
        ("https://127.0.0.1/a", b"127.0.0.1/a"),
        ("http://[::1]:8080/", b"[::1]:http:8080/"),
    ):
        assert schema.uri_of(url) == uri
        assert schema.url_of(uri) == url


def test_row_keys() -> None:
    uri = b"com.example/"
    assert schema.page_row(uri) == b"p:com.example/"
    assert schema.shard_row(b"p:", uri, 0) == b"p:com.example/\x000"
    assert schema.shard_row(b"d:", b"com.example", 15) == b"d:com.example\x00f"
    assert schema.top_rank_row(0, uri) == b"t:ffffffff:com.example/"
    assert schema.top_rank_row(100_000, uri) == b"t:fffe795f:com.example/"
    assert schema.domain_rank_row(b"com.example", 1, uri) == b"d:com.example:fffffffe:com.example/"
    assert schema.intent_row(uri) == b"i:e1:com.example/"
    assert [schema.count_of_rank(schema.rank_of_count(n)) for n in (0, 7, 2**32 - 1)] == [
        0,
        7,
        2**32 - 1,
    ]


def test_shards() -> None:
    assert [schema.shard_of(b"com.example/%d" % n, 16) for n in range(6)] == [2, 4, 14, 8, 11, 13]
    assert {schema.shard_of(b"com.example/%d" % n, 1) for n in range(6)} == {0}
    assert schema.CLUSTER_SHARDS == 16


def test_columns_and_tables() -> None:
    assert (schema.INDEX_TABLE, schema.WORK_TABLE) == ("webindex", "webindex_work")
    assert (schema.CUR, schema.AT, schema.JOURNAL) == (b"page:cur", b"page:at", b"page:journal")
    assert (schema.INCOUNT, schema.COUNT) == (b"page:incount", b"page:count")
    assert (schema.SHARD_REVISION, schema.DOMAIN_REVISION) == (b"page:shardrev", b"domain:shardrev")
    assert (schema.PAGE_COUNT, schema.INLINK, schema.MEMBER) == (
        b"domain:pagecount",
        b"inlinks:",
        b"members:",
    )
    assert (schema.WORK, schema.TARGETS) == (b"w:", b"w:targets")
    for is_embedded, packed in ((True, "ZSTD"), (False, "GZ")):
        described = schema.index_schema(is_embedded=is_embedded)
        names = {family.name for family in described.families}
        assert names == {"page", "inlinks", "domain", "members", "rank"}
        assert {family.compression for family in described.families} == {packed}
        assert described.attributes == {
            "hbase.hstore.time.to.purge.deletes": "3600000",
            "webtable.index.webindex_top": "ready",
            "webtable.index.webindex_domain": "ready",
        }
    assert schema.work_schema().attributes == {"hbase.hstore.time.to.purge.deletes": "3600000"}


def test_domains() -> None:
    domains = schema.Domains(suffixes_of(newest_list()))
    for url, domain in (
        ("https://a.b.example.co.uk/x", b"uk.co.example"),
        ("https://example.com:8443/", b"com.example"),
        ("http://example.com/", b"com.example"),
        ("http://127.0.0.1/", b"127.0.0.1"),
        ("http://[::1]:8080/", b"[::1]"),
        ("http://localhost/", b"localhost"),
    ):
        assert domains.of(schema.uri_of(url)) == domain
    assert domains.share_domain(b"com.example.a/", b"com.example.b:http/x")
    assert not domains.share_domain(b"com.example/", b"com.example2/")


def test_links_of_a_page() -> None:
    stored = encode_cur(TEXT)
    assert stored == zlib.compress(TEXT.encode(), 1)
    assert zlib.decompress(stored).decode() == TEXT
    assert decode_cur(stored) == TEXT
    assert encode_cur("") == b""
    assert decode_cur(b"") == decode_cur(None) == ""
    assert live_values(TEXT) == {
        b"com.a/": b"+\tHome\nnofollow\tA",
        b"org.b/x?y=1": "+\tBé".encode(),
    }
    assert live_values("") == {}
    apart = "https://a.com/\t\t1\nhttps://b.com/\t\t2\nhttps://a.com/\t\t3"
    assert live_values(apart) == {b"com.a/": b"+\t1\n\t3", b"com.b/": b"+\t2"}


def test_states() -> None:
    assert (HERE, GONE) == (b"+", b"-")
    assert decode_inlink(b"-") == Inlink(is_live=False, links=())
    assert decode_inlink(b"+\tHome\nnofollow\tA") == Inlink(
        is_live=True, links=(LinkText("", "Home"), LinkText("nofollow", "A"))
    )
    assert decode_inlink(b"+\t") == Inlink(is_live=True, links=(LinkText("", ""),))


def test_uris_of_journals_and_marks() -> None:
    stored = encode_uris([b"org.b/", b"com.a/"])
    assert stored == zlib.compress(b"com.a/\norg.b/", 1)
    assert decode_uris(stored) == [b"com.a/", b"org.b/"]
    assert encode_uris([]) == b""
    assert decode_uris(b"") == decode_uris(None) == []


def test_damage_is_named() -> None:
    for damaged in (
        lambda: decode_inlink(b"?x"),
        lambda: decode_uris(b"x"),
        lambda: decode_cur(b"x"),
    ):
        with pytest.raises(CorruptData, match="does not decode"):
            damaged()
