"""Reads sitemaps: lists of URLs in XML or text, lists of sitemaps, and their gzip form.

The array of the facts of a sitemap (see `webtable.pages.body_facts`) is

    [type, [URL, …], count, rejected, newest lastmod, is cut]

On-disk: changing this needs a new version.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable

from webtable.errors import InvalidUrl
from webtable.pages.body_facts import MAX_FACT_URL, SitemapFacts
from webtable.pages.captures import MAX_BODY_BYTES
from webtable.pages.html.link_resolver import canonical

__all__ = ["MAX_SITEMAP_URLS", "MAX_URL_TEXT", "read_sitemap"]

MAX_SITEMAP_URLS = 1_000
"""How many URLs of a sitemap are stored."""
MAX_URL_TEXT = 100_000
"""How many characters of URLs are stored, all together."""

_START_BYTES = 4 * 1024
_GZIP = b"\x1f\x8b"
_PROLOG = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)*+", re.DOTALL)
_ROOT = re.compile(rb"<(?:\w{1,20}:)?(urlset|sitemapindex)[\s>]")
_NEWEST = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:T[0-9:.]{5,20}(?:Z|[+-]\d\d:\d\d)?)?)?)?")


def read_sitemap(body: bytes, *, is_text: bool = False) -> SitemapFacts | None:
    """Returns the URLs of a sitemap; None where a body is not a sitemap.

    Of a packed sitemap at most `MAX_BODY_BYTES` are unpacked.

    Args:
        is_text: whether it may be a list of URLs without XML.
    """
    is_cut = False
    if body.startswith(_GZIP):
        body, is_cut = _unpacked(body)
    start = body[:_START_BYTES].removeprefix(b"\xef\xbb\xbf")
    prolog = _PROLOG.match(start)
    root = _ROOT.match(start, 0 if prolog is None else prolog.end())
    if root is None:
        if not is_text or not start.lstrip().startswith((b"http://", b"https://")):
            return None
        lines = body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split()
        return _facts("text", lines, [], is_cut=is_cut)
    from webtable.pages.html.parser import element_texts

    found = element_texts(body, ("loc", "lastmod"))
    kind = "index" if root[1] == b"sitemapindex" else "urls"
    return _facts(kind, found["loc"], found["lastmod"], is_cut=is_cut)


def _facts(kind: str, urls: list[str], times: Iterable[str], *, is_cut: bool) -> SitemapFacts:
    stored: list[str] = []
    rejected, size = 0, 0
    for text in urls:
        try:
            url = canonical(text)
        except InvalidUrl:
            rejected += 1
            continue
        size += len(url)
        if len(url) > MAX_FACT_URL or len(stored) >= MAX_SITEMAP_URLS or size > MAX_URL_TEXT:
            is_cut = True
        else:
            stored.append(url)
    return SitemapFacts(
        type="index" if kind == "index" else "text" if kind == "text" else "urls",
        urls=tuple(stored),
        count=len(urls),
        rejected=rejected,
        newest=max(filter(_NEWEST.fullmatch, times), default=""),
        is_cut=is_cut,
    )


def _unpacked(body: bytes) -> tuple[bytes, bool]:
    """Returns the unpacked bytes, and whether more follow; damaged data ends before the damage."""
    unpack = zlib.decompressobj(wbits=31)
    try:
        found = unpack.decompress(body, MAX_BODY_BYTES)
    except zlib.error:
        return b"", True
    return found, not unpack.eof
