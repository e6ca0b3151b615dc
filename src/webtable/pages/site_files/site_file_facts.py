"""Which bodies are a robots.txt or a sitemap, and the cells of their facts."""

from __future__ import annotations

from webtable.pages.body_facts import encode_facts

__all__ = ["site_facts"]

_SITEMAP_TYPES = frozenset(
    (
        *("application/xml", "text/xml", "application/gzip", "application/x-gzip"),
        *("text/plain", "application/octet-stream", ""),
    )
)


def site_facts(url: str, media_type: str, body: bytes) -> bytes:
    """Returns the cell with the facts of a robots.txt or a sitemap; empty for other bodies.

    A robots.txt has its place at the root of a host. A sitemap in XML has `urlset` or
    `sitemapindex` as its root element; a sitemap in text has a name with `sitemap` and `.txt`.
    """
    if media_type not in _SITEMAP_TYPES:
        return b""
    path = url[url.index("/", 8) :].partition("?")[0].lower()
    if path == "/robots.txt":
        from webtable.pages.site_files.robots_txt import read_robots

        return encode_facts(read_robots(body, url))
    if not (body.startswith(b"\x1f\x8b") or b"sitemap" in body[:4096] or "sitemap" in path):
        return b""
    from webtable.pages.site_files.sitemaps import read_sitemap

    name = path.rpartition("/")[2]
    is_text = "sitemap" in name and name.endswith((".txt", ".txt.gz"))
    found = read_sitemap(body, is_text=is_text)
    return b"" if found is None else encode_facts(found)
