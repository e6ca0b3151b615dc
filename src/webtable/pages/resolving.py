"""Resolving the links of one page: `resolve_url` for many links with one base, faster.

Most links of a crawl are plain: a path of letters and digits, up some directories or from the
root, or an absolute URL that is canonical as it stands. Those are put together here without
parsing; everything else goes to `resolve_url`. A property test holds the two equal.
"""

from __future__ import annotations

import re

from webtable.errors import InvalidUrl
from webtable.pages.urls import MAX_URL_BYTES, resolve_url

__all__ = ["Resolver"]

# A segment never begins with a dot (it could be `.` or `..`) and has no percent sign (`%2e` is a
# dot too). In a query nothing of this is changed.
_SEGMENT = r"[A-Za-z0-9_~-][A-Za-z0-9_~.-]*"
_PATH = rf"(?:{_SEGMENT}/)*(?:{_SEGMENT})?"
_QUERY = r"(?:\?[A-Za-z0-9_~.=&;+%/:,-]*)?"
_FRAGMENT = r"(?:#[!-~]*)?"
# Labels that begin with `xn--` are checked, and hosts that end in a number are addresses.
_HOST = r"(?:(?!xn--)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}"

_PLAIN = re.compile(
    rf"(?:(?P<up>(?:\.\./)*)(?P<relative>{_SEGMENT}(?:/{_PATH})?{_QUERY})"
    rf"|(?P<absolute>https?://{_HOST}/{_PATH}{_QUERY})"
    rf"|(?P<rooted>/(?!/){_PATH}{_QUERY})"
    rf"|(?P<same>)){_FRAGMENT}"
)


class Resolver:
    """Resolves links as they stand in a page; each different one once.

    `base` is the canonical base URL of the page.
    """

    def __init__(self, base: str) -> None:
        self._base = base
        path_start = base.index("/", 8)  # behind https://
        self._origin = base[:path_start]
        query = base.find("?", path_start)
        path = base[path_start:] if query < 0 else base[path_start:query]
        self._directories = [path[: path.rindex("/") + 1]]
        self._known: dict[str, str | None] = {}

    def __call__(self, href: str) -> str | None:
        """Returns the canonical URL that a link leads to; None where it leads to no page."""
        try:
            return self._known[href]
        except KeyError:
            pass
        found = _PLAIN.fullmatch(href)
        if found is not None and len(href) + len(self._base) < MAX_URL_BYTES:
            url: str | None = self._joined(found)
        else:
            try:
                url = resolve_url(href, self._base)
            except InvalidUrl:
                url = None
        self._known[href] = url
        return url

    def _joined(self, found: re.Match[str]) -> str:
        up, relative, absolute, rooted, _ = found.groups()
        if relative is not None:
            return self._origin + self._directory(len(up) // 3) + relative
        if absolute is not None:
            return absolute
        return self._base if rooted is None else self._origin + rooted

    def _directory(self, levels: int) -> str:
        directories = self._directories
        while len(directories) <= levels:
            path = directories[-1]
            directories.append(path[: path.rindex("/", 0, -1) + 1] if len(path) > 1 else path)
        return directories[levels]
