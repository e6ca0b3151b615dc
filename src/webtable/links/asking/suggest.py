"""Finds a page or domain in the link index; suggests similar names if it is not there."""

from __future__ import annotations

from collections.abc import Iterator

from webtable.errors import InvalidRequest, InvalidUrl, NotFound
from webtable.links import schema
from webtable.links.asking.wide_rows import LinkReader
from webtable.links.index import LinkIndex
from webtable.links.schema import page_row, uri_of, url_of
from webtable.pages.keys import reversed_host
from webtable.pages.urls import split_url, typed_url
from webtable.store.scan import Scan

__all__ = ["domain_of", "find_domain", "find_page", "nearest"]

_NAMED = 3


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


def domain_of(index: LinkIndex, name: str) -> tuple[str, bytes]:
    """Returns a host in canonical form, and its registered domain.

    Raises:
        InvalidRequest: the name is not a host.
    """
    try:
        parts = split_url(typed_url(name))
    except InvalidUrl as exc:
        raise _no_domain(name) from exc
    if parts.path != "/" or parts.port:
        raise _no_domain(name)
    registered = index.pages.suffixes.registered_domain(parts.host)
    return parts.host, reversed_host(registered).encode()


def _no_domain(name: str) -> InvalidRequest:
    return InvalidRequest(f"'{name}' is not a domain", hint="give a host, for example example.com")


def find_domain(index: LinkIndex, name: str) -> tuple[str, bytes]:
    """Returns a host and its registered domain, if the index has or had pages of the domain.

    Raises:
        InvalidRequest: the name is not a domain.
        NotFound: the domain is not in the index; the hint has similar domains.
    """
    host, domain = domain_of(index, name)
    row = b"d:%b\0" % domain
    columns = (schema.PAGE_COUNT,)
    if next(index.table.scan(prefix=row, columns=columns, limit=1), None) is not None:
        return host, domain
    near = []
    most = _NAMED * index.shards
    for scan in (
        Scan(start=b"d:", stop=row, columns=columns, limit=most, reverse=True),
        Scan(start=row, stop=b"d;", columns=columns, limit=most),
    ):
        near += [found.key[2:].partition(b"\0")[0] for found in index.table.scan(scan)]
    near.sort(key=lambda each: -_shared(each, domain))
    names = [reversed_host(each.decode()) for each in dict.fromkeys(near)][:_NAMED]
    hint = "similar domains: " + ", ".join(names) if names else "the link index has no domains"
    raise NotFound("domain", host, hint=hint)


def _shared(one: bytes, other: bytes) -> int:
    """Returns the length of the common prefix of two names."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))
