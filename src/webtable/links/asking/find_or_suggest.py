"""Finds a page or domain in the link index; suggests similar names if it is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from webtable.errors import NotFound
from webtable.links import schema
from webtable.links.asking.link_reader import LinkReader
from webtable.links.link_index import LinkIndex
from webtable.links.schema import page_row, uri_of, url_of
from webtable.pages.keys import reversed_host
from webtable.pages.urls import Site, typed_site
from webtable.store.scan import Scan

__all__ = ["find_domain", "find_page", "nearest", "parse_domain", "similar_domains"]

_NAMED = 3
_ALIKE = 0.7  # one or two letters of a short name may be wrong
_COMPARED = 1_000
_COUNT = (schema.PAGE_COUNT,)


def find_page(index: LinkIndex, url: str, reader: LinkReader) -> bytes:
    """Returns the URI of a page that is or was crawled or linked to.

    Raises:
        NotFound: the page is not in the index; the hint has similar URLs.
    """
    uri = uri_of(url)
    if index.table.get(page_row(uri), (schema.INCOUNT,)) is None and not reader.is_named(uri):
        near = nearest(index, url)
        hint = "similar pages: " + ", ".join(near) if near else "the link index has no pages"
        raise NotFound("page", url, hint=hint)
    return uri


def nearest(index: LinkIndex, url: str) -> list[str]:
    """Returns similar URLs of the index: other spellings of the same URL, and its neighbours."""
    uri = uri_of(url)
    spellings = [uri_of(each) for each in _spellings(url)]
    rows = [page_row(each) for each in spellings]
    found = index.table.get_many(rows, (schema.INCOUNT,))
    near = [each for each, row in zip(spellings, found, strict=True) if row is not None]
    beside = [*_beside(index, page_row(uri), reverse=True), *_beside(index, page_row(uri))]
    beside.sort(key=lambda each: -_shared(each, uri))
    return [url_of(each) for each in dict.fromkeys([*near, *beside])][:_NAMED]


def _spellings(url: str) -> Iterator[str]:
    scheme, _, rest = url.partition("://")
    other = "http" if scheme == "https" else "https"
    host, slash, path = rest.partition("/")
    www = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
    slashed = path[:-1] if path.endswith("/") else path + "/"
    yield f"{other}://{rest}"
    if path:
        yield f"{scheme}://{host}{slash}{slashed}"
    yield f"{scheme}://{www}{slash}{path}"
    yield f"{other}://{www}{slash}{path}"


def _beside(index: LinkIndex, row: bytes, *, reverse: bool = False) -> list[bytes]:
    start, stop = (b"p:", row) if reverse else (row, b"p;")
    columns = (schema.INCOUNT,)
    scan = Scan(start=start, stop=stop, columns=columns, limit=_NAMED, reverse=reverse)
    return [found.key[2:] for found in index.table.scan(scan)]


# Domains


def parse_domain(index: LinkIndex, name: str) -> tuple[Site, bytes]:
    """Returns the site that a user typed, and its registered domain, reversed.

    Raises:
        InvalidRequest: the name is not a domain.
    """
    site = typed_site(name)
    return site, reversed_host(index.pages.suffixes.registered_domain(site.host)).encode()


def find_domain(index: LinkIndex, name: str) -> tuple[Site, bytes]:
    """Returns the same as `parse_domain`, for a domain that is in the index.

    Raises:
        InvalidRequest: the name is not a domain.
        NotFound: no page of it was ever crawled or linked to; the hint has similar domains.
    """
    site, domain = parse_domain(index, name)
    if _has_domain(index, domain):
        return site, domain
    names = _near_domains(index, index.pages.suffixes.registered_domain(site.host))
    hint = "similar domains: " + ", ".join(names) if names else "the link index has no domains"
    raise NotFound("domain", site.host, hint=hint)


def similar_domains(index: LinkIndex, name: str) -> list[str]:
    """Returns domains of the index that are similar to an unknown domain; none for a known one."""
    registered = index.pages.suffixes.registered_domain(typed_site(name).host)
    if _has_domain(index, reversed_host(registered).encode()):
        return []
    near = _near_domains(index, registered)
    return [each for each in near if _likeness(each, registered) >= _ALIKE]


def _has_domain(index: LinkIndex, domain: bytes) -> bool:
    scan = Scan(prefix=b"d:%b\0" % domain, columns=_COUNT, limit=1)
    return next(index.table.scan(scan), None) is not None


def _near_domains(index: LinkIndex, registered: str) -> list[str]:
    """Returns some domains of the index that are similar to a name, the most similar first.

    In a large index only the first domains, and those next to the name, are compared.
    """
    row = b"d:%b\0" % reversed_host(registered).encode()
    most = _NAMED * index.shards
    found: set[bytes] = set()
    for scan in (
        Scan(start=b"d:", stop=row, columns=_COUNT, limit=most, reverse=True),
        Scan(start=row, stop=b"d;", columns=_COUNT, limit=most),
        Scan(start=b"d:", stop=b"d;", columns=_COUNT, limit=_COMPARED),
    ):
        found.update(each.key[2:].partition(b"\0")[0] for each in index.table.scan(scan))
    names = (reversed_host(each.decode()) for each in found)
    return sorted(names, key=lambda name: (-_likeness(name, registered), name))[:_NAMED]


def _likeness(one: str, other: str) -> float:
    """Returns how similar two names are, from 0 to 1."""
    return difflib.SequenceMatcher(None, one, other).ratio()


def _shared(one: bytes, other: bytes) -> int:
    """Returns the length of the common prefix of two names."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))
