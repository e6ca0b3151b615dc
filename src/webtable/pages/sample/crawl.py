"""A small crawl to try things with, made up: several domains, three crawls, all that crawls have.

There are pages that change and pages that do not, some of those as revisits; errors, pages that
went away or moved, chains of redirects and a loop; the same page under two addresses; charsets;
chunked and compressed bodies; large pages; links that search engines must not follow, links to
nowhere. It depends on the number of pages, the seed and the last day alone.
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
from webtable.pages.sample.html import LANGUAGES, Language, PageLink, PagePlan, render, words

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
    """Yields the answers of a made-up crawl of so many pages, in the order of the crawl.

    `last_day` is that of the newest of the three crawls; the day before today unless given.
    There are more answers than pages, since most pages are crawled three times.

    Raises:
        InvalidRequest: there are to be no pages at all.
    """
    if pages < 1:
        raise InvalidRequest(f"{pages} pages are no sample", hint="ask for at least 1")
    until = last_day or datetime.now(UTC).date()
    midnight = datetime(until.year, until.month, until.day, tzinfo=UTC)
    crawl = _Crawl(pages, seed)
    for number, before in enumerate(_CRAWLS_BEFORE):
        yield from crawl.answers(number, int((midnight - before).timestamp()))


def write_sample(file: BinaryIO, pages: int, seed: int = 0, last_day: date | None = None) -> int:
    """Writes the made-up crawl as a WARC file packed by gzip; returns the number of records."""
    writer = CrawlWriter(file)
    count = 0
    for answer in generate(pages, seed, last_day):
        if not count:
            about = {"software": "webtable sample", "format": "WARC file version 1.1"}
            writer.describe("sample.warc.gz", answer.fetched, about)
        writer.write(answer)
        count += 1
    return count


class _Crawl:
    """The made-up web, and what was seen of it so far."""

    def __init__(self, pages: int, seed: int) -> None:
        self._seed = seed
        chance = random.Random(f"{seed} pages")
        self._pages = [_page(number, chance) for number in range(pages)]
        self._seen: dict[str, tuple[str, int]] = {}  # URL: digest and time of its last answer

    def answers(self, crawl: int, began: int) -> Iterator[Response]:
        when = began
        for page in self._pages:
            chance = random.Random(f"{self._seed} {crawl} {page.number}")
            when += chance.randint(1, 3)
            yield self._answer(page, crawl, when)
            if page.number % 10 == 3:
                yield self._twin(page, crawl, when)
        yield from self._redirects(crawl, when + 1)

    def _answer(self, page: _Page, crawl: int, when: int) -> Response:
        fate = random.Random(f"{self._seed} fate {page.number}").random()
        if crawl and fate < 0.04:
            return _failed(page, _ERRORS[page.number % len(_ERRORS)], when)
        if crawl == 2 and fate < 0.07:
            return _moved(page.url, f"{page.url}-moved", when, "301 Moved Permanently")
        if page.number % 17 == 11:
            return self._seen_again(_other_type(page, when))
        # A third of the pages changes from crawl to crawl, some only once.
        edition = crawl if fate > 0.75 else crawl // 2 if fate > 0.66 else 0
        return self._seen_again(self._html_answer(page, edition, when))

    def _html_answer(self, page: _Page, edition: int, when: int) -> Response:
        chance = random.Random(f"{self._seed} {page.number} edition {edition}")
        language = page.language
        body = render(self._plan(page, edition, chance), chance)
        # Every charset is told in another way: by the header, by the page, by both, by a mark.
        is_told = page.number % 3 != 1
        kind = f"text/html; charset={language.charset}" if is_told else "text/html"
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
            # The first pages are linked to most, as in any web.
            target = self._pages[int(total * chance.random() ** 3)]
            rel = chance.choice(("", "", "", "", "nofollow", "nofollow ugc", "sponsored"))
            yield PageLink(target.url, words(random.Random(target.number), 2), rel)
        if chance.random() < 0.3:
            yield PageLink(f"/missing/{chance.randint(1, 40)}", "A page that is not there")
        if chance.random() < 0.1:
            yield PageLink(f"mailto:{words(chance, 1).lower()}@example.com", "Write to us")
        yield PageLink("#top", "Back to the top")

    def _twin(self, page: _Page, crawl: int, when: int) -> Response:
        """The same page under another address."""
        answer = self._html_answer(page, 0, when)
        return self._seen_again(answer._replace(url=f"{page.url}?print=1"))

    def _seen_again(self, answer: Response) -> Response:
        """Makes a revisit of an answer that is the same as before, every other time."""
        before = self._seen.get(answer.url)
        self._seen[answer.url] = (answer.digest, answer.fetched)
        if before is None or before[0] != answer.digest or len(answer.url) % 2:
            return answer
        return answer._replace(repeats=(answer.url, before[1]))

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
                    moved = self._html_answer(page, 0, when + 6)
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
    """Returns a body as some servers send it, and the headers that say so."""
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
