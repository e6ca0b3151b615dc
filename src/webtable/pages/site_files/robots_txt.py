"""Reads a robots.txt, and decides by its rules whether a crawler may fetch a URL.

The array of its facts (see `webtable.pages.body_facts`) is

    [[[user agent, [rule, …], crawl delay or nil], …], [sitemap, …], is cut]

A rule is `allow: PATH` or `disallow: PATH`. On-disk: changing this needs a new version. Protego
decides; only this module imports it.
"""

from __future__ import annotations

import re

from protego import Protego

from webtable.errors import InvalidUrl
from webtable.pages.body_facts import MAX_FACT_URL, RobotsFacts, RobotsGroup
from webtable.pages.urls import resolve_url

__all__ = ["MAX_GROUPS", "MAX_ROBOTS_BYTES", "MAX_RULES", "allows", "read_robots"]

MAX_ROBOTS_BYTES = 500 * 1024
"""How many bytes of a robots.txt are read: as many as search engines read."""
MAX_GROUPS = 200
"""How many user agents are stored."""
MAX_RULES = 2_000
"""How many rules are stored, all user agents together."""
MAX_SITEMAPS = 200
"""How many sitemaps are stored."""

_MAX_AGENT = 100
_MAX_RULE = 500
_LINE = re.compile(r"[ \t]*([A-Za-z-]+)[ \t]*:[ \t]*([^#]*)")
_DELAY = re.compile(r"\d{1,9}(?:\.\d{1,3})?")


class _Group:
    def __init__(self) -> None:
        self.rules: list[str] = []
        self.delay: float | None = None


def read_robots(body: bytes, url: str) -> RobotsFacts:
    """Returns the rules in a robots.txt that was found at a URL.

    Lines that are not rules are left out. Rules of one user agent in several places are put
    together.
    """
    text = body[:MAX_ROBOTS_BYTES].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    groups: dict[str, _Group] = {}
    current: list[_Group] = []
    sitemaps: dict[str, None] = {}
    is_cut, is_naming, count = len(body) > MAX_ROBOTS_BYTES, False, 0
    for line in re.split(r"[\r\n]+", text):
        found = _LINE.match(line)
        if found is None:
            continue
        name, value = found[1].lower(), found[2].strip()
        if name == "user-agent":
            if not is_naming:
                current, is_naming = [], True
            agent = value.lower()[:_MAX_AGENT]
            if agent in groups or len(groups) < MAX_GROUPS:
                current.append(groups.setdefault(agent, _Group()))
            else:
                is_cut = True
        elif name in ("allow", "disallow"):
            is_naming = False
            for group in current:
                count += 1
                if count <= MAX_RULES and len(value) <= _MAX_RULE:
                    group.rules.append(f"{name}: {value}")
                else:
                    is_cut = True
        elif name == "crawl-delay":
            is_naming = False
            for group in current if _DELAY.fullmatch(value) else ():
                group.delay = float(value)
        elif name == "sitemap":
            is_cut = _add_sitemap(sitemaps, value, url) or is_cut
    made = tuple(RobotsGroup(agent, tuple(g.rules), g.delay) for agent, g in groups.items())
    return RobotsFacts(groups=made, sitemaps=tuple(sitemaps), is_cut=is_cut)


def _add_sitemap(sitemaps: dict[str, None], value: str, url: str) -> bool:
    """Adds a sitemap; returns whether it was left out."""
    try:
        found = resolve_url(value, url)
    except InvalidUrl:
        return False
    if len(sitemaps) >= MAX_SITEMAPS or len(found) > MAX_FACT_URL:
        return found not in sitemaps
    sitemaps[found] = None
    return False


def allows(robots: RobotsFacts, url: str, agent: str = "*") -> bool:
    """Whether the rules of a robots.txt let a user agent fetch a URL.

    >>> allows(RobotsFacts(groups=(RobotsGroup("*", ("disallow: /x",)),)), "https://a.org/x/y")
    False
    """
    lines = []
    for group in robots.groups:
        lines += [f"user-agent: {group.agent}", *group.rules, ""]
    return bool(Protego.parse("\n".join(lines)).can_fetch(url, agent))
