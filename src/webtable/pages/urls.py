"""Canonical URLs: what a browser means by an address, as one text a page.

A page is a canonical URL of http or https, as the WHATWG standard writes it: scheme and host in
lower case, the default port left out, dot segments resolved, an empty path as `/`, the query as it
is. The fragment is dropped, since it names a place in a page, and so are user name and password,
since they say who asks. http and https are different pages.

The standard itself is ada-url's part, which is imported here only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ada_url import URL

from webtable.errors import InvalidRequest, InvalidUrl

__all__ = [
    "MAX_URL_BYTES",
    "Site",
    "UrlParts",
    "canonical_url",
    "port_of",
    "resolve_url",
    "split_url",
    "typed_site",
    "typed_url",
    "typed_urls",
]

MAX_URL_BYTES = 8_192
"""Longer ones are refused: no server of note answers them, and traps for crawlers make them."""

_SHOWN = 80
# No name of DNS is longer. To write a long one in ASCII takes time that grows with its square.
_MAX_HOST = 253
_HOST = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*+:[\s/\\]*+|\s*+[/\\][\s/\\]++)([^/\\?#]*+)")
_PORT = re.compile(r":(\d+)$", re.ASCII)
_HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")  # a number after it is a port


class UrlParts(NamedTuple):
    """A canonical URL taken apart. `port` is empty where it is the default one of the scheme."""

    scheme: str
    host: str
    port: str
    path: str
    """With the query, where there is one."""


def canonical_url(text: str) -> str:
    """Returns the canonical form of an absolute URL.

    >>> canonical_url("HTTPS://Example.COM:443/a/../b?q=1#top")
    'https://example.com/b?q=1'

    Raises:
        InvalidUrl: it is not an absolute URL of http or https, or too long.
    """
    return resolve_url(text, None)


def resolve_url(text: str, base: str | None) -> str:
    """Returns the canonical form of a URL as it stands in a page whose base URL is `base`.

    >>> resolve_url("../x?", "https://example.com/a/b/c")
    'https://example.com/a/x?'

    Raises:
        InvalidUrl: it is not a URL there, not one of http or https, or too long.
    """
    if len(text) > MAX_URL_BYTES:
        raise _invalid(text, f"it has {len(text):,} characters, more than {MAX_URL_BYTES:,}")
    if len(text) > _MAX_HOST and not text.isascii() and _has_long_host(text):
        raise _invalid(text, f"its host has more than {_MAX_HOST} characters")
    try:
        url = URL(text, base=base)
        href: str = url.href
        if href.startswith(("https://", "http://")):
            if "@" in href:
                url.username = url.password = ""
                href = url.href
            end = href.find("#")
            if end >= 0:
                href = href[:end]
            if len(href) > MAX_URL_BYTES:
                raise _invalid(text, f"it takes {len(href):,} bytes, more than {MAX_URL_BYTES:,}")
            return href
    except (ValueError, UnicodeError) as exc:
        raise _invalid(
            text, "it is not an absolute URL" if base is None else "it is no URL"
        ) from exc
    raise _invalid(text, f"its scheme is {url.protocol[:-1]!r:.40}, not http or https")


def _has_long_host(text: str) -> bool:
    found = _HOST.match(text.lstrip())
    return found is not None and len(found[1].rpartition("@")[2]) > _MAX_HOST


def typed_url(text: str) -> str:
    """Returns the canonical form of a URL as people type it, where https:// may be left out.

    >>> typed_url("example.com/about")
    'https://example.com/about'

    Raises:
        InvalidUrl: it is none, with or without it.
    """
    text = text.strip()
    return canonical_url(text if _HAS_SCHEME.match(text) else f"https://{text}")


def typed_urls(text: str) -> list[str]:
    """Returns the canonical URLs that a person may mean, the likeliest first.

    >>> typed_urls("example.com/about")
    ['https://example.com/about', 'http://example.com/about']

    Raises:
        InvalidUrl: it is none, with or without a scheme.
    """
    text = text.strip()
    if _HAS_SCHEME.match(text):
        return [canonical_url(text)]
    return [canonical_url(f"https://{text}"), canonical_url(f"http://{text}")]


class Site(NamedTuple):
    """A host with its subdomains, and a port of it; no port stands for all of them."""

    host: str
    port: str

    def has(self, url: str) -> bool:
        """Whether a canonical URL is one of the site."""
        there = split_url(url).host
        is_under = there == self.host or there.endswith(f".{self.host}")
        return is_under and (not self.port or port_of(url) == self.port)


def typed_site(text: str) -> Site:
    """Returns the host, and the port if there is one, of a domain as people type it.

    >>> typed_site("Example.COM"), typed_site("127.0.0.1:8766")
    (Site(host='example.com', port=''), Site(host='127.0.0.1', port='8766'))

    Raises:
        InvalidRequest: it is not a domain.
    """
    name = text.strip().rstrip("/")
    port = _PORT.search(name)
    try:
        parts = split_url(canonical_url(f"https://{name}"))
    except InvalidUrl as exc:
        raise _no_domain(text) from exc
    if parts.path != "/" or name.endswith(":") or any(sign in name for sign in "/?#@\\"):
        raise _no_domain(text)
    return Site(parts.host, "" if port is None else str(int(port[1])))


def _no_domain(text: str) -> InvalidRequest:
    return InvalidRequest(
        f"'{text[:_SHOWN]}' is not a domain",
        hint="give a host such as example.com, or a host and a port such as 127.0.0.1:8766",
    )


def port_of(url: str) -> str:
    """Returns the port of a canonical URL, also where it is the default one of the scheme.

    >>> port_of("http://example.com/"), port_of("https://example.com:8443/")
    ('80', '8443')
    """
    parts = split_url(url)
    return parts.port or ("80" if parts.scheme == "http" else "443")


def split_url(url: str) -> UrlParts:
    """Takes a canonical URL apart, without checking that it is one.

    >>> split_url("http://example.com:8080/a?b")
    UrlParts(scheme='http', host='example.com', port='8080', path='/a?b')
    """
    scheme, _, rest = url.partition("://")
    slash = rest.index("/")
    host = rest[:slash]
    colon = host.rfind(":")
    if colon > host.rfind("]"):  # colons inside of [] are those of an IPv6 address
        return UrlParts(scheme, host[:colon], host[colon + 1 :], rest[slash:])
    return UrlParts(scheme, host, "", rest[slash:])


def _invalid(text: str, why: str) -> InvalidUrl:
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return InvalidUrl(f"{shown!r} is not the URL of a page: {why}", hint="use https://HOST/PATH")
