"""Reading sitemaps."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.pages.body_facts import SitemapFacts, decode_facts
from webtable.pages.captures import MAX_BODY_BYTES
from webtable.pages.html.parser import element_texts
from webtable.pages.site_files import sitemaps
from webtable.pages.site_files.site_file_facts import site_facts
from webtable.pages.site_files.sitemaps import read_sitemap

URLS = b"""<?xml version="1.0" encoding="UTF-8"?><!-- made -->
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc> https://a.org/?a=1&amp;b=2 </loc><lastmod>2026-09-01</lastmod></url>
<url><loc><![CDATA[https://a.org/b]]></loc><lastmod>2026-10-01T12:00:00Z</lastmod></url>
<url><loc>mailto:x</loc><lastmod>yesterday</lastmod></url></urlset>"""
INDEX = b"<sitemapindex><sitemap><loc>https://a.org/1.xml.gz</loc></sitemap></sitemapindex>"
FOUND = SitemapFacts(
    urls=("https://a.org/?a=1&b=2", "https://a.org/b"),
    count=3,
    rejected=1,
    newest="2026-10-01T12:00:00Z",
)


def test_a_list_of_urls() -> None:
    assert read_sitemap(URLS) == FOUND
    assert read_sitemap(gzip.compress(URLS)) == FOUND


def test_a_list_of_sitemaps() -> None:
    found = read_sitemap(b"\xef\xbb\xbf" + INDEX)
    assert found == SitemapFacts(type="index", urls=("https://a.org/1.xml.gz",), count=1)


def test_a_list_in_text() -> None:
    body = b"https://a.org/\r\nhttps://a.org/b\n\nx\n"
    found = SitemapFacts(
        type="text", urls=("https://a.org/", "https://a.org/b"), count=3, rejected=1
    )
    assert read_sitemap(body, is_text=True) == found
    assert decode_facts(site_facts("https://a.org/Sitemap.txt", "text/plain", body)) == found
    assert site_facts("https://a.org/notes.txt", "text/plain", body) == b""


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"<rss>",
        b"\x1f\x8b",
        b"\x1f\x8bxxxx",
        gzip.compress(b"<html>"),
        b"<urlsets>",
    ],
)
def test_other_bodies_are_no_sitemaps(body: bytes) -> None:
    assert read_sitemap(body) is None
    assert site_facts("https://a.org/sitemap.xml", "application/xml", body) == b""


@pytest.mark.parametrize("media_type", ["application/xml", "text/xml", "application/x-gzip", ""])
def test_sitemaps_are_found_by_their_root(media_type: str) -> None:
    assert decode_facts(site_facts("https://a.org/x", media_type, gzip.compress(URLS))) == FOUND


@given(body=st.binary(max_size=100))
def test_any_bytes_may_follow(body: bytes) -> None:
    assert read_sitemap(b"<urlset>" + body) is not None


def test_a_large_sitemap_is_cut() -> None:
    body = b"<urlset>" + b"".join(
        b"<url><loc>https://a.org/%d</loc></url>" % n for n in range(5_000)
    )
    found = read_sitemap(body)
    assert found is not None
    assert (found.count, len(found.urls), found.is_cut) == (5_000, sitemaps.MAX_SITEMAP_URLS, True)


def test_a_packed_sitemap_is_unpacked_up_to_a_limit() -> None:
    found = read_sitemap(gzip.compress(b"<urlset>" + b" " * 2 * MAX_BODY_BYTES))
    assert found is not None
    assert found.is_cut


def test_nested_elements_do_not_repeat_their_text() -> None:
    found = element_texts(b"<loc>x" * 10_000, ["loc"])
    assert sum(map(len, found["loc"])) <= 10_000
