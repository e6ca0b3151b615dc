"""Resolving the links of one page: `resolve_url` for many links with one base, faster.

Most links of a crawl are simple: a path of letters and digits, relative to a parent directory or to
the root, or an absolute URL that is already canonical. This module joins those without parsing;
all others go to `resolve_url`. A property test checks that both give the same result.
"""

from __future__ import annotations

import re
from functools import lru_cache

from webtable.errors import InvalidUrl
from webtable.pages.urls import MAX_URL_BYTES, canonical_url, resolve_url

__all__ = ["Resolver", "canonical"]

_CACHED_DIRECTORIES = 16
_MAX_CACHED_LINKS = 20_000

# A segment never begins with a dot (it could be `.` or `..`) and has no percent sign (`%2e` is a
# dot too). In a query none of these characters is changed.
_SEGMENT = r"[A-Za-z0-9_~-][A-Za-z0-9_~.-]*"
_PATH = rf"(?:{_SEGMENT}/)*(?:{_SEGMENT})?"
_QUERY = r"(?:\?[A-Za-z0-9_~.=&;+%/:,-]*)?"
_FRAGMENT = r"(?:#[!-~]*)?"
# Excluded: labels that begin with `xn--` need a check; hosts that end in a number are addresses.
_HOST = r"(?:(?!xn--)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}"

_PLAIN = re.compile(
    rf"(?:(?P<up>(?:\.\./)*)(?P<relative>{_SEGMENT}(?:/{_PATH})?{_QUERY})"
    rf"|(?P<absolute>https?://{_HOST}/{_PATH}{_QUERY})"
    rf"|(?P<rooted>/(?!/){_PATH}{_QUERY})){_FRAGMENT}"
)
_ABSOLUTE = re.compile(rf"https?://{_HOST}/{_PATH}{_QUERY}")


def canonical(url: str) -> str:
    """Returns the same as `canonical_url`; faster where the URL is already canonical.

    Raises:
        InvalidUrl: the text is not an absolute http or https URL, or too long.
    """
    if len(url) < MAX_URL_BYTES and _ABSOLUTE.fullmatch(url):
        return url
    return canonical_url(url)


class Resolver:
    """Resolves the links of a page, each different link once.

    `base` is the canonical base URL of the page. `cache` has the links that are resolved already; a
    tight loop that reads it first saves the call.
    """

    def __init__(self, base: str) -> None:
        path_start = base.index("/", 8)  # behind https://
        query = base.find("?", path_start)
        slash = base.rindex("/", path_start, query if query >= 0 else len(base))
        self._base = base
        self._directory = base[: slash + 1]
        self.cache = _cached_links(self._directory)
        self._own: dict[str, str | None] = {}

    def __call__(self, href: str) -> str | None:
        """Returns the canonical URL that a link leads to; None where it leads to no page."""
        is_short = len(href) + len(self._base) < MAX_URL_BYTES
        bare, mark, fragment = href.partition("#")
        # About half of the different links of a page differ in their fragments only. A blank at
        # the end of a link does not count, but one before its fragment does.
        if mark and is_short and fragment.isascii() and fragment.isprintable():
            if not bare:
                return self._base
            if bare[-1] > " ":
                href = bare
        try:
            return self.cache[href]
        except KeyError:
            pass
        try:
            return self._own[href]
        except KeyError:
            pass
        url: str | None
        found = _PLAIN.fullmatch(href) if is_short else None
        if found is None:
            try:
                url = resolve_url(href, self._base)
            except InvalidUrl:
                url = None
            # The result may depend on more than the directory of the base, as for `?q`.
            self._own[href] = url
            return url
        if len(self.cache) >= _MAX_CACHED_LINKS:
            self.cache.clear()
        url = self.cache[href] = self._joined(found)
        return url

    def _joined(self, found: re.Match[str]) -> str:
        up, relative, absolute, rooted = found.groups()
        directory = self._directory
        if relative is not None:
            if not up:
                return directory + relative
            origin_end = directory.index("/", 8)
            end = len(directory) - 1
            for _ in range(len(up) // 3):
                if end == origin_end:
                    break
                end = max(directory.rindex("/", 0, end), origin_end)
            return directory[: end + 1] + relative
        if absolute is not None:
            return absolute
        return directory[: directory.index("/", 8)] + rooted


@lru_cache(_CACHED_DIRECTORIES)
def _cached_links(directory: str) -> dict[str, str | None]:  # noqa: ARG001 - the cache's key
    """Returns the cache of the links of a directory's pages.

    The pages of a directory share most of their links, and follow one another in crawls.
    """
    return {}
