"""Canonical URLs: one text for each page, by the rules of browsers.

The URL of a page is a canonical http or https URL, in the form of the WHATWG standard: scheme and
host in lower case, no default port, dot segments resolved, an empty path as `/`, the query
unchanged. The fragment is removed, since it is a place inside a page. User name and password are
removed, since they belong to the user and not to the page. http and https are different pages.

ada-url implements the standard; only this module imports it.
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
"""Longer URLs are rejected: common servers do not accept them, and crawler traps create them."""

_SHOWN = 80
# The limit of DNS names. To encode a name in ASCII takes time that grows with its square.
_MAX_HOST = 253
_HOST = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*+:[\s/\\]*+|\s*+[/\\][\s/\\]++)([^/\\?#]*+)")
_PORT = re.compile(r":(\d+)$", re.ASCII)
_WEB_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_HAS_SCHEME = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)"
)  # with a number after the colon, it is a port


class UrlParts(NamedTuple):
    """The parts of a canonical URL. `port` is empty for the default port of the scheme."""

    scheme: str
    host: str
    port: str
    path: str
    """With the query, where the URL has one."""


def canonical_url(text: str) -> str:
    """Returns the canonical form of an absolute URL.

    >>> canonical_url("HTTPS://Example.COM:443/a/../b?q=1#top")
    'https://example.com/b?q=1'

    Raises:
        InvalidUrl: the text is not an absolute http or https URL, or too long.
    """
    return resolve_url(text, None)


def resolve_url(text: str, base: str | None) -> str:
    """Returns the canonical form of a URL in a page with the base URL `base`.

    >>> resolve_url("../x?", "https://example.com/a/b/c")
    'https://example.com/a/x?'

    Raises:
        InvalidUrl: the text is not a valid http or https URL there, or too long.
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
            text, "it is not an absolute URL" if base is None else "it is not a URL"
        ) from exc
    raise _invalid(text, f"its scheme is {url.protocol[:-1]!r:.40}, not http or https")


def _has_long_host(text: str) -> bool:
    found = _HOST.match(text.lstrip())
    return found is not None and len(found[1].rpartition("@")[2]) > _MAX_HOST


def typed_url(text: str) -> str:
    """Returns the canonical form of a typed URL, where https:// may be missing.

    >>> typed_url("example.com/about")
    'https://example.com/about'

    Raises:
        InvalidUrl: the text is not a URL, also with https:// before it.
    """
    text = text.strip()
    return canonical_url(text if _HAS_SCHEME.match(text) else f"https://{text}")


def typed_urls(text: str) -> list[str]:
    """Returns the canonical URLs that a typed text can mean, the likeliest first.

    >>> typed_urls("example.com/about")
    ['https://example.com/about', 'http://example.com/about']

    Raises:
        InvalidUrl: the text is not a URL, also with a scheme before it.
    """
    text = text.strip()
    if _HAS_SCHEME.match(text):
        return [canonical_url(text)]
    return [canonical_url(f"https://{text}"), canonical_url(f"http://{text}")]


class Site(NamedTuple):
    """A host with its subdomains, and a port; an empty port means all ports."""

    host: str
    port: str

    def has(self, url: str) -> bool:
        """Whether a canonical URL belongs to the site."""
        there = split_url(url).host
        is_under = there == self.host or there.endswith(f".{self.host}")
        return is_under and (not self.port or port_of(url) == self.port)


def typed_site(text: str) -> Site:
    """Returns the host, and the port if it has one, of a typed domain; its scheme is dropped.

    >>> typed_site("Example.COM"), typed_site("https://127.0.0.1:8766/")
    (Site(host='example.com', port=''), Site(host='127.0.0.1', port='8766'))

    Raises:
        InvalidRequest: the text is not a domain.
    """
    name = _WEB_SCHEME.sub("", text.strip()).rstrip("/")
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
    """Returns the port of a canonical URL, also for the default port of its scheme.

    >>> port_of("http://example.com/"), port_of("https://example.com:8443/")
    ('80', '8443')
    """
    parts = split_url(url)
    return parts.port or ("80" if parts.scheme == "http" else "443")


def split_url(url: str) -> UrlParts:
    """Splits a canonical URL into its parts, without a check that it is canonical.

    >>> split_url("http://example.com:8080/a?b")
    UrlParts(scheme='http', host='example.com', port='8080', path='/a?b')
    """
    scheme, _, rest = url.partition("://")
    slash = rest.index("/")
    host = rest[:slash]
    colon = host.rfind(":")
    if colon > host.rfind("]"):  # colons inside [] belong to an IPv6 address
        return UrlParts(scheme, host[:colon], host[colon + 1 :], rest[slash:])
    return UrlParts(scheme, host, "", rest[slash:])


def _invalid(text: str, why: str) -> InvalidUrl:
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return InvalidUrl(f"{shown!r} is not the URL of a page: {why}", hint="use https://HOST/PATH")
