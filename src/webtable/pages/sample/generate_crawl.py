"""Generates a small sample crawl: several domains, crawled three times, with typical web content.

It contains changed and unchanged pages, some of the latter as revisits; errors, deleted and moved
pages, chains of redirects and a loop; one page under two URLs; several charsets; chunked and
compressed bodies; large pages; nofollow links and broken links. The output depends only on the
number of pages, the seed and the last day.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from email.utils import formatdate
from typing import BinaryIO, NamedTuple

from webtable.errors import InvalidRequest
from webtable.pages.captures import payload_digest
from webtable.pages.formats.warc_writer import CrawlWriter, Response
from webtable.pages.sample.render_html import LANGUAGES, Language, PageLink, PagePlan, render, words

__all__ = ["generate", "write_sample"]

_HOSTS = (
    "www.example.com",
    "docs.example.com",
    "blog.example.com",
    "www.example.org",
    "shop.example.org",
    "harbour.example",
    "news.harbour.example",
    "museum.example.net",
)
_SECTIONS = ("guide", "products", "notes", "people", "archive")
_CRAWLS_BEFORE = (timedelta(days=60), timedelta(days=30), timedelta(days=1))
_LARGE_PARAGRAPHS = 400
_GZIP_LEVEL = 6
_ERRORS = ("404 Not Found", "410 Gone", "500 Internal Server Error", "503 Service Unavailable")


class _Page(NamedTuple):
    url: str
    number: int
    language: Language


def generate(pages: int, seed: int = 0, last_day: date | None = None) -> Iterator[Response]:
    """Yields the responses of a sample crawl of so many pages, in the order of the crawl.

    `last_day` is the day after the newest of the three crawls; by default today. The crawl has more
    responses than pages, since most pages are crawled three times.

    Raises:
        InvalidRequest: `pages` is less than 1.
    """
    if pages < 1:
        raise InvalidRequest(f"pages must be at least 1, not {pages}", hint="use a larger number")
    until = last_day or datetime.now(UTC).date()
    midnight = datetime(until.year, until.month, until.day, tzinfo=UTC)
    crawl = _Crawl(pages, seed)
    for number, before in enumerate(_CRAWLS_BEFORE):
        yield from crawl.responses(number, int((midnight - before).timestamp()))


def write_sample(file: BinaryIO, pages: int, seed: int = 0, last_day: date | None = None) -> int:
    """Writes the sample crawl as a WARC file packed with gzip; returns the number of records."""
    writer = CrawlWriter(file)
    count = 0
    for response in generate(pages, seed, last_day):
        if not count:
            about = {"software": "webtable sample", "format": "WARC file version 1.1"}
            writer.describe("sample.warc.gz", response.fetched, about)
        writer.write(response)
        count += 1
    return count


class _Crawl:
    """The pages of the sample, and the responses so far."""

    def __init__(self, pages: int, seed: int) -> None:
        self._seed = seed
        chance = random.Random(f"{seed} pages")
        self._pages = [_page(number, chance) for number in range(pages)]
        self._seen: dict[str, tuple[str, int]] = {}  # URL → digest and time of its last response

    def responses(self, crawl: int, began: int) -> Iterator[Response]:
        when = began
        for page in self._pages:
            chance = random.Random(f"{self._seed} {crawl} {page.number}")
            when += chance.randint(1, 3)
            yield self._response(page, crawl, when)
            if page.number % 10 == 3:
                yield self._twin(page, crawl, when)
        yield from self._redirects(crawl, when + 1)

    def _response(self, page: _Page, crawl: int, when: int) -> Response:
        fate = random.Random(f"{self._seed} fate {page.number}").random()
        if crawl and fate < 0.04:
            return _failed(page, _ERRORS[page.number % len(_ERRORS)], when)
        if crawl == 2 and fate < 0.07:
            return _moved(page.url, f"{page.url}-moved", when, "301 Moved Permanently")
        if page.number % 17 == 11:
            return self._seen_again(_other_type(page, when))
        # A third of the pages changes from crawl to crawl, some only once.
        edition = crawl if fate > 0.75 else crawl // 2 if fate > 0.66 else 0
        return self._seen_again(self._html_response(page, edition, when))

    def _html_response(self, page: _Page, edition: int, when: int) -> Response:
        chance = random.Random(f"{self._seed} {page.number} edition {edition}")
        language = page.language
        body = render(self._plan(page, edition, chance), chance)
        # The charset is declared in different ways: by the header, the page, both, or a mark.
        is_in_header = page.number % 3 != 1
        kind = f"text/html; charset={language.charset}" if is_in_header else "text/html"
        if page.number % 41 == 40:
            kind, body = "text/html", body.decode(language.codec).encode("utf-16")
        headers = [("Content-Type", kind), ("Date", formatdate(when, usegmt=True))]
        if page.number % 2:
            modified = when - chance.randint(3_600, 40 * 86_400)
            headers.append(("Last-Modified", formatdate(modified, usegmt=True)))
        if page.number % 29 == 7:
            headers.append(("X-Robots-Tag", "noarchive"))
        payload, codings = _coded(body, page.number)
        headers += codings
        return Response(page.url, when, "200 OK", headers, payload, payload_digest(payload))

    def _plan(self, page: _Page, edition: int, chance: random.Random) -> PagePlan:
        number = page.number
        title = "" if number % 23 == 9 else words(random.Random(number), 3)
        if edition:
            title = f"{title} ({edition})" if title else ""
        directory = page.url.rpartition("/")[0] + "/"
        return PagePlan(
            title=title,
            links=[] if number % 19 == 6 else list(self._links(page, chance)),
            paragraphs=_LARGE_PARAGRAPHS if number % 37 == 12 else chance.randint(2, 12),
            language=page.language,
            names_charset=number % 3 != 0,
            canonical=page.url if number % 5 == 2 else "",
            robots=("noindex, nofollow", "noindex", "nofollow")[number % 3]
            if number % 13 == 4
            else "",
            base=directory if number % 31 == 8 else "",
        )

    def _links(self, page: _Page, chance: random.Random) -> Iterator[PageLink]:
        yield PageLink("/", "Home")
        total = len(self._pages)
        for _ in range(chance.randint(2, 9)):
            # Most links lead to the first pages: the number of inlinks is uneven, as on the web.
            target = self._pages[int(total * chance.random() ** 3)]
            rel = chance.choice(("", "", "", "", "nofollow", "nofollow ugc", "sponsored"))
            yield PageLink(target.url, words(random.Random(target.number), 2), rel)
        if chance.random() < 0.3:
            yield PageLink(f"/missing/{chance.randint(1, 40)}", "A page that is not there")
        if chance.random() < 0.1:
            yield PageLink(f"mailto:{words(chance, 1).lower()}@example.com", "Write to us")
        yield PageLink("#top", "Back to the top")

    def _twin(self, page: _Page, crawl: int, when: int) -> Response:
        """Returns the same page under another URL."""
        response = self._html_response(page, 0, when)
        return self._seen_again(response._replace(url=f"{page.url}?print=1"))

    def _seen_again(self, response: Response) -> Response:
        """Turns every other response that repeats the one before into a revisit."""
        before = self._seen.get(response.url)
        self._seen[response.url] = (response.digest, response.fetched)
        if before is None or before[0] != response.digest or len(response.url) % 2:
            return response
        return response._replace(repeats=(response.url, before[1]))

    def _redirects(self, crawl: int, when: int) -> Iterator[Response]:
        first = self._pages[0].url
        host = "https://www.example.com"
        yield _moved(f"{host}/old", f"{host}/older", when, "301 Moved Permanently")
        yield _moved(f"{host}/older", f"{host}/oldest", when + 1, "302 Found")
        yield _moved(f"{host}/oldest", first, when + 2, "308 Permanent Redirect")
        yield _moved(f"{host}/round", f"{host}/and-round", when + 3, "302 Found")
        yield _moved(f"{host}/and-round", f"{host}/round", when + 4, "302 Found")
        yield _moved("http://www.example.com/", f"{host}/", when + 5, "301 Moved Permanently")
        if crawl == 2:
            for page in self._pages:
                fate = random.Random(f"{self._seed} fate {page.number}").random()
                if 0.04 <= fate < 0.07:
                    moved = self._html_response(page, 0, when + 6)
                    yield moved._replace(url=f"{page.url}-moved")


def _page(number: int, chance: random.Random) -> _Page:
    host = _HOSTS[number % len(_HOSTS)]
    language = LANGUAGES[number % 4 // 3 * chance.randint(0, len(LANGUAGES) - 1)]
    if number < len(_HOSTS):
        return _Page(f"https://{host}/", number, language)
    section = chance.choice(_SECTIONS)
    name = words(chance, 2).lower().replace(" ", "-")
    return _Page(f"https://{host}/{section}/{name}-{number}", number, language)


def _failed(page: _Page, status: str, when: int) -> Response:
    payload = f"<title>{status}</title><p>{status}</p>\n".encode()
    headers = [("Content-Type", "text/html; charset=utf-8")]
    return Response(page.url, when, status, headers, payload, payload_digest(payload))


def _moved(url: str, target: str, when: int, status: str) -> Response:
    payload = f'<a href="{target}">Moved</a>\n'.encode()
    headers = [("Content-Type", "text/html"), ("Location", target)]
    return Response(url, when, status, headers, payload, payload_digest(payload))


def _other_type(page: _Page, when: int) -> Response:
    chance = random.Random(page.number)
    kind, payload = (
        ("application/pdf", b"%PDF-1.7\n" + chance.randbytes(4_000)),
        ("image/png", b"\x89PNG\r\n\x1a\n" + chance.randbytes(2_000)),
        ("text/plain; charset=utf-8", f"{words(chance, 200)}.\n".encode()),
        ("application/json", b'{"items": []}\n'),
    )[page.number % 4]
    return Response(
        page.url, when, "200 OK", [("Content-Type", kind)], payload, payload_digest(payload)
    )


def _coded(body: bytes, number: int) -> tuple[bytes, list[tuple[str, str]]]:
    """Returns a body with the codings of some servers, and the headers that name them."""
    headers = []
    if number % 7 == 1:
        body = gzip.compress(body, _GZIP_LEVEL, mtime=0)
        headers.append(("Content-Encoding", "gzip"))
    if number % 7 in (1, 2):
        pieces = [body[at : at + 4_000] for at in range(0, len(body), 4_000)]
        body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        headers.append(("Transfer-Encoding", "chunked"))
    else:
        headers.append(("Content-Length", str(len(body))))
    return body, headers
