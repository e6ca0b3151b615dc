"""Facts of a page: what the parse pass finds in its body, in one compact cell for each body.

The cell is a byte with the version, a letter with the kind, and one array of MessagePack:

    facts:sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ = 0x01 kind array

    p, a page of HTML: [charset, lang, description, robots, canonical, [[level, text], …],
        [[hreflang, URL], …], words, fingerprint, [links outside of sections, in nav, header, main,
        footer, aside], images, images without alt, insecure, scripts, styles, [type, …],
        [og:title, og:type, og:image, og:description]]
    r, a robots.txt: see `webtable.pages.site_files.robots_txt`
    s, a sitemap: see `webtable.pages.site_files.sitemaps`

The qualifier is the digest of the captures that have the body, and the timestamp the time of the
first capture that wrote the cell. Texts and lists are cut at the limits below, so that a cell needs
at most about 100 KB, whatever the page contains. On-disk: changing this needs a new version.
Frozen by tests/pages/test_body_facts.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from webtable.errors import CorruptData
from webtable.result_base import Value

__all__ = [
    "MAX_ALTERNATES",
    "MAX_FACT_TEXT",
    "MAX_FACT_URL",
    "MAX_HEADINGS",
    "MAX_TYPES",
    "Alternate",
    "Facts",
    "Heading",
    "Indexability",
    "LinkPlacement",
    "OpenGraph",
    "PageArray",
    "PageFacts",
    "RobotsFacts",
    "RobotsGroup",
    "SitemapFacts",
    "decode_facts",
    "encode_facts",
    "encode_page",
    "indexability",
]

MAX_FACT_TEXT = 500
"""How many characters of a description, a heading or another text are stored."""
MAX_FACT_URL = 2_000
"""A longer URL of an alternate page is left out."""
MAX_HEADINGS = 50
"""How many headings of a page are stored: the first ones, and the first of level 1."""
MAX_ALTERNATES = 50
"""How many alternate pages (hreflang) of a page are stored."""
MAX_TYPES = 32
"""How many types of structured data of a page are stored."""


class Heading(Value, msgspec.Struct, frozen=True):
    """A heading of a page.

    Attributes:
        level: 1 to 6.
        text: its text, in one line.
    """

    level: int
    text: str


class Alternate(Value, msgspec.Struct, frozen=True):
    """The same page in another language.

    Attributes:
        lang: the language and region, or `x-default`.
        url: its URL, in canonical form.
    """

    lang: str
    url: str


class LinkPlacement(Value, msgspec.Struct, frozen=True):
    """How many links are in which section of a page.

    The section of a link is the nearest `nav`, `header`, `main`, `footer` or `aside` element around
    it. Links are `a` and `area` elements with a href.

    Attributes:
        other: how many are outside of these elements.
        nav: how many are in `nav`.
        header: how many are in `header`.
        main: how many are in `main`.
        footer: how many are in `footer`.
        aside: how many are in `aside`.
    """

    other: int = 0
    nav: int = 0
    header: int = 0
    main: int = 0
    footer: int = 0
    aside: int = 0


class OpenGraph(Value, msgspec.Struct, frozen=True):
    """The Open Graph values of a page; empty where it does not have them.

    Attributes:
        title: `og:title`.
        type: `og:type`.
        image: `og:image`, as it is in the page.
        description: `og:description`.
    """

    title: str = ""
    type: str = ""
    image: str = ""
    description: str = ""


class PageFacts(Value, msgspec.Struct, frozen=True, kw_only=True):
    """What the body of a page contains. A text is empty where the page does not have it.

    Attributes:
        charset: the charset of the HTML.
        lang: the language that the page names.
        description: its meta description.
        robots: its meta robots rules, in lower case; those of headers are not among them.
        canonical: the URL that it names as canonical; that of a header is not here.
        headings: in the order of the page.
        alternates: the same page in other languages.
        words: how many words its visible text has.
        fingerprint: the simhash of the visible text, 16 hexadecimal digits: similar texts have
            fingerprints that differ in few bits.
        links: how many links are in which section.
        images: how many images it has.
        images_without_alt: how many of them have no alt attribute.
        insecure: how many of its parts (images, scripts, style sheets …) are loaded by http,
            although the page itself is loaded by https.
        scripts: how many scripts it has.
        styles: how many style sheets it has.
        structured_data: the types of its structured data: JSON-LD and microdata.
        open_graph: its Open Graph values.
    """

    charset: str = ""
    lang: str = ""
    description: str = ""
    robots: str = ""
    canonical: str = ""
    headings: tuple[Heading, ...] = ()
    alternates: tuple[Alternate, ...] = ()
    words: int = 0
    fingerprint: str = "0" * 16
    links: LinkPlacement = LinkPlacement()
    images: int = 0
    images_without_alt: int = 0
    insecure: int = 0
    scripts: int = 0
    styles: int = 0
    structured_data: tuple[str, ...] = ()
    open_graph: OpenGraph = OpenGraph()

    @property
    def h1(self) -> str:
        """The first heading of level 1; empty where the page has none."""
        return next((each.text for each in self.headings if each.level == 1), "")


class RobotsGroup(Value, msgspec.Struct, frozen=True):
    """The rules of a robots.txt for one user agent.

    Attributes:
        agent: the user agent, in lower case.
        rules: those of `allow` and `disallow` in the order of the file, such as
            `disallow: /private`.
        delay_seconds: the crawl delay; None where the file names none.
    """

    agent: str
    rules: tuple[str, ...]
    delay_seconds: float | None = None


class RobotsFacts(Value, msgspec.Struct, frozen=True, kw_only=True):
    """What a robots.txt contains.

    Attributes:
        groups: the rules for each user agent.
        sitemaps: the URLs of its sitemaps.
        is_cut: whether the file has more groups, rules or sitemaps than are stored.
    """

    groups: tuple[RobotsGroup, ...] = ()
    sitemaps: tuple[str, ...] = ()
    is_cut: bool = False


class SitemapFacts(Value, msgspec.Struct, frozen=True, kw_only=True):
    """What a sitemap contains.

    Attributes:
        type: `urls`, `index` for a list of sitemaps, or `text`.
        urls: its first URLs, in canonical form.
        count: how many URLs it has.
        rejected: how many of them are not valid for a page.
        newest: the newest `lastmod`, as the sitemap has it; empty where it has none.
        is_cut: whether the sitemap has more URLs than are stored, or was not read to its end.
    """

    type: Literal["urls", "index", "text"] = "urls"
    urls: tuple[str, ...] = ()
    count: int = 0
    rejected: int = 0
    newest: str = ""
    is_cut: bool = False


Facts: TypeAlias = PageFacts | RobotsFacts | SitemapFacts
"""The facts of a page, of a robots.txt, or of a sitemap."""


class Indexability(Value, msgspec.Struct, frozen=True):
    """Whether a search engine may index a page, and the reason.

    Attributes:
        is_indexable: whether it may.
        reason: `indexable`; `status` where the response was no success; `redirect`;
            `noindex-meta` and `noindex-header` where robots rules forbid it; `canonical` where the
            page names another URL as canonical; `no-html`.
        detail: the status, the rule or the URL.
    """

    is_indexable: bool
    reason: str
    detail: str = ""


def indexability(
    facts: Facts | None, *, url: str, status: int, robots: str = "", canonical: str = ""
) -> Indexability:
    """Returns whether a page is indexable, and the first reason against it.

    Args:
        facts: those of its body; None where it has none.
        robots: the robots rules of its headers; those of the page may be among them.
        canonical: the canonical URL of its headers, which counts before that of the page.

    >>> indexability(PageFacts(robots="noindex"), url="https://a.org/", status=200).reason
    'noindex-meta'
    """
    if 300 <= status <= 399:
        return Indexability(False, "redirect", str(status))
    if not 200 <= status <= 299:
        return Indexability(False, "status", str(status))
    if not isinstance(facts, PageFacts):
        return Indexability(False, "no-html")
    for reason, rules in (("noindex-meta", facts.robots), ("noindex-header", robots)):
        for rule in rules.split(","):
            if rule.strip() in ("noindex", "none"):
                return Indexability(False, reason, rule.strip())
    named = canonical or facts.canonical
    if named and named != url:
        return Indexability(False, "canonical", named)
    return Indexability(True, "indexable")


PageArray: TypeAlias = tuple[
    str,
    str,
    str,
    str,
    str,
    Sequence[tuple[int, str]],
    Sequence[tuple[str, str]],
    int,
    int,
    Sequence[int],
    int,
    int,
    int,
    int,
    int,
    Sequence[str],
    Sequence[str],
]
"""The array of a page of HTML, as the parse pass makes it."""
_Robots: TypeAlias = tuple[
    Sequence[tuple[str, tuple[str, ...], float | None]], tuple[str, ...], bool
]
_Sitemap: TypeAlias = tuple[Literal["urls", "index", "text"], tuple[str, ...], int, int, str, bool]

_PAGE, _ROBOTS, _SITEMAP = b"\x01p", b"\x01r", b"\x01s"
_encode = msgspec.msgpack.Encoder().encode
_decode_page = msgspec.msgpack.Decoder(PageArray).decode
_decode_robots = msgspec.msgpack.Decoder(_Robots).decode
_decode_sitemap = msgspec.msgpack.Decoder(_Sitemap).decode


def encode_page(values: PageArray) -> bytes:
    """Returns the cell of a page of HTML."""
    return _PAGE + _encode(values)


def encode_facts(facts: Facts) -> bytes:
    """Returns the value of a cell of the family `facts`."""
    if isinstance(facts, RobotsFacts):
        groups = [(each.agent, each.rules, each.delay_seconds) for each in facts.groups]
        return _ROBOTS + _encode((groups, facts.sitemaps, facts.is_cut))
    if isinstance(facts, SitemapFacts):
        return _SITEMAP + _encode(msgspec.structs.astuple(facts))
    links, graph = facts.links, facts.open_graph
    return encode_page(
        (
            facts.charset,
            facts.lang,
            facts.description,
            facts.robots,
            facts.canonical,
            [(each.level, each.text) for each in facts.headings],
            [(each.lang, each.url) for each in facts.alternates],
            facts.words,
            int(facts.fingerprint, 16),
            msgspec.structs.astuple(links),
            facts.images,
            facts.images_without_alt,
            facts.insecure,
            facts.scripts,
            facts.styles,
            facts.structured_data,
            msgspec.structs.astuple(graph),
        )
    )


def decode_facts(value: bytes) -> Facts:
    """Returns the facts in a cell of the family `facts`.

    Raises:
        CorruptData: the cell does not contain facts, or those of a newer version.
    """
    head, array = value[:2], memoryview(value)[2:]
    try:
        if head == _PAGE:
            return _page_facts(_decode_page(array))
        if head == _ROBOTS:
            groups, sitemaps, is_cut = _decode_robots(array)
            made = tuple(RobotsGroup(*each) for each in groups)
            return RobotsFacts(groups=made, sitemaps=sitemaps, is_cut=is_cut)
        if head == _SITEMAP:
            kind, urls, count, rejected, newest, is_cut = _decode_sitemap(array)
            return SitemapFacts(
                type=kind, urls=urls, count=count, rejected=rejected, newest=newest, is_cut=is_cut
            )
    except (msgspec.DecodeError, TypeError, ValueError) as exc:
        raise _corrupt(value) from exc
    raise _corrupt(value)


def _page_facts(values: PageArray) -> PageFacts:
    charset, lang, description, robots, canonical, headings, alternates, words, number = values[:9]
    if not 0 <= number < 1 << 64:
        raise ValueError("the fingerprint has more than 64 bits")
    links, images, without_alt, insecure, scripts, styles, types, graph = values[9:]
    return PageFacts(
        charset=charset,
        lang=lang,
        description=description,
        robots=robots,
        canonical=canonical,
        headings=tuple(Heading(*each) for each in headings),
        alternates=tuple(Alternate(*each) for each in alternates),
        words=words,
        fingerprint=f"{number:016x}",
        links=LinkPlacement(*links),
        images=images,
        images_without_alt=without_alt,
        insecure=insecure,
        scripts=scripts,
        styles=styles,
        structured_data=tuple(types),
        open_graph=OpenGraph(*graph),
    )


def _corrupt(value: bytes) -> CorruptData:
    return CorruptData(
        f"the facts {value!r:.80} do not decode",
        hint="the cell is damaged, or was written by another version of webtable; run"
        " `webtable verify --repair`",
    )
