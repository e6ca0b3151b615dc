"""A small web, crawled three times, and what its links were: reckoned from the captures alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from webtable.pages.page import NewCapture
from webtable.pages.storing.capture_cells import encode_time
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.storing.page_versions import CaptureNote

__all__ = ["CRAWLS", "DAYS", "WEB", "Seen", "captures", "inlinks_at", "links_at", "status_at"]

DAYS = (1_788_220_800, 1_789_084_800, 1_789_948_800)
"""2026-09-01, 2026-09-11 and 2026-09-21, the days of the three crawls."""

EXAMPLE = "https://example.com"


class Response(NamedTuple):
    """The response of a page in a crawl: (target, rel, words) of each link, or an error."""

    links: tuple[tuple[str, str, str], ...] = ()
    status: int = 200
    redirect: str = ""
    type: str = "text/html"


HOME = (
    (f"{EXAMPLE}/about", "", "About us"),
    (f"{EXAMPLE}/about", "nofollow", "more"),
    ("https://docs.example.com/", "", "Docs"),
    (f"{EXAMPLE}/gone", "", "Gone"),
    (f"{EXAMPLE}/old", "", "Old"),
    (f"{EXAMPLE}/file", "", "File"),
)
WEB: tuple[dict[str, Response], ...] = (
    {
        f"{EXAMPLE}/": Response((*HOME, ("https://other.org/", "", "Other"))),
        f"{EXAMPLE}/about": Response(((f"{EXAMPLE}/", "", "Home"), (f"{EXAMPLE}/end", "", "End"))),
        f"{EXAMPLE}/gone": Response(((f"{EXAMPLE}/", "", "Home"),)),
        f"{EXAMPLE}/old": Response(status=301, redirect=f"{EXAMPLE}/older"),
        f"{EXAMPLE}/older": Response(status=302, redirect=f"{EXAMPLE}/about"),
        f"{EXAMPLE}/one": Response(status=301, redirect=f"{EXAMPLE}/two"),
        f"{EXAMPLE}/two": Response(status=301, redirect=f"{EXAMPLE}/one"),
        f"{EXAMPLE}/orphan": Response(((f"{EXAMPLE}/older", "", "About"),)),
        f"{EXAMPLE}/end": Response(),
        f"{EXAMPLE}/file": Response(type="application/pdf"),
        "http://example.com:8080/": Response(((f"{EXAMPLE}/about", "", "secure"),)),
        "https://docs.example.com/": Response(((f"{EXAMPLE}/about", "", "Example"),)),
        "https://example2.com/": Response(((f"{EXAMPLE}/about", "", "Neighbour"),)),
        "https://example-a.com/": Response(((f"{EXAMPLE}/about", "", "Neighbour"),)),
        "https://other.org/": Response(
            ((f"{EXAMPLE}/about", "sponsored", "Example"), (f"{EXAMPLE}/never", "", "Never"))
        ),
        "https://shop.co.uk/": Response(
            ((f"{EXAMPLE}/about", "", "Example"), ("https://co.uk/", "", "Under it"))
        ),
        "https://co.uk/shops": Response((("https://co.uk/", "", "Home"),)),
    },
    {
        f"{EXAMPLE}/": Response(
            ((f"{EXAMPLE}/about", "", "About"), *HOME[1:], (f"{EXAMPLE}/new", "", "New"))
        ),
        f"{EXAMPLE}/about": Response(((f"{EXAMPLE}/", "", "Home"), (f"{EXAMPLE}/end", "", "End"))),
        f"{EXAMPLE}/gone": Response(status=404),
        "https://docs.example.com/": Response(((f"{EXAMPLE}/about", "ugc", "Example"),)),
        "https://new.org/": Response(((f"{EXAMPLE}/about", "", "Example"),)),
    },
    {
        f"{EXAMPLE}/gone": Response(status=410),
        "https://shop.co.uk/": Response(status=503),
    },
)
CRAWLS = len(WEB)


class Seen(NamedTuple):
    """A link as a result shows it."""

    source: str
    target: str
    rel: str
    anchor: str


def captures(crawls: int = CRAWLS) -> Iterator[NewCapture]:
    """Yields the captures of the first crawls."""
    for number in range(crawls):
        for url, answer in WEB[number].items():
            html = f"<title>{url} {answer.status}</title>" + "".join(
                f'<a href="{target}" rel="{rel}">{anchor}</a>'
                for target, rel, anchor in answer.links
            )
            body = html.encode()
            digest = hashlib.sha1(body, usedforsecurity=False).hexdigest()
            note = CaptureNote(
                DAYS[number],
                digest,
                answer.status,
                len(body),
                answer.type,
                answer.redirect,
                None,
                False,
            )
            yield NewCapture(url, note, body, parse_stored(url, body, answer.type))


def links_at(second: int) -> list[Seen]:
    """Returns the links that there were at a second, in no order."""
    newest: dict[str, Response] = {}
    for day, crawl in zip(DAYS, WEB, strict=True):
        if day <= second:
            newest |= crawl
    return [
        Seen(source, target, rel, anchor)
        for source, answer in newest.items()
        for target, rel, anchor in answer.links
        if answer.status == 200
    ]


def inlinks_at(second: int, target: str) -> set[Seen]:
    """Returns the links to a page at a second."""
    return {link for link in links_at(second) if link.target == target}


def status_at(second: int, url: str) -> int | None:
    """Returns the response of a page at a second; None where it was not captured by then."""
    status = None
    for day, crawl in zip(DAYS, WEB, strict=True):
        if day <= second and url in crawl:
            status = crawl[url].status
    return status


def seen_at(link: Seen) -> tuple[str, str]:
    """Returns the first and the last capture of the source that had a link between two pages."""
    times = [
        day
        for day, crawl in zip(DAYS, WEB, strict=True)
        if link.source in crawl
        and any(target == link.target for target, _, _ in crawl[link.source].links)
    ]
    return encode_time(times[0]), encode_time(times[-1])
