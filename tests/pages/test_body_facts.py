"""Facts of pages: their bytes, what is computed of HTML, and their limits."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.errors import CorruptData
from webtable.pages import body_facts as module
from webtable.pages.body_facts import (
    Alternate,
    Facts,
    Heading,
    LinkPlacement,
    OpenGraph,
    PageFacts,
    RobotsFacts,
    RobotsGroup,
    SitemapFacts,
    decode_facts,
    encode_facts,
    indexability,
)
from webtable.pages.html.parser import parse_html

PAGE = PageFacts(
    charset="UTF-8",
    lang="de",
    description="Eine Seite",
    robots="noindex",
    canonical="https://a.org/",
    headings=(Heading(1, "Eins"), Heading(2, "Zwei")),
    alternates=(Alternate("fr", "https://a.org/fr"),),
    words=300,
    fingerprint="00000000000000ff",
    links=LinkPlacement(1, 2, 3, 4, 5, 6),
    images=7,
    images_without_alt=2,
    insecure=1,
    scripts=3,
    styles=4,
    structured_data=("Product",),
    open_graph=OpenGraph("T", "article", "https://a.org/i.png", "D"),
)
ROBOTS = RobotsFacts(
    groups=(RobotsGroup("*", ("disallow: /x", "allow: /x/y"), 1.5),),
    sitemaps=("https://a.org/s.xml",),
)
SITEMAP = SitemapFacts(type="index", urls=("https://a.org/1.xml",), count=2, newest="2026-09-01")

GOLDEN: dict[str, tuple[Facts, str]] = {
    "page": (
        PAGE,
        "0170dc0011a55554462d38a26465aa45696e65205365697465a76e6f696e646578ae68747470733a"
        "2f2f612e6f72672f929201a445696e739202a45a7765699192a26672b068747470733a2f2f612e6f"
        "72672f6672cd012cccff96010203040506070201030491a750726f6475637494a154a76172746963"
        "6c65b368747470733a2f2f612e6f72672f692e706e67a144",
    ),
    "robots": (
        ROBOTS,
        "0172939193a12a92ac646973616c6c6f773a202f78ab616c6c6f773a202f782f79cb3ff800000000"
        "000091b368747470733a2f2f612e6f72672f732e786d6cc2",
    ),
    "sitemap": (
        SITEMAP,
        "017396a5696e64657891b368747470733a2f2f612e6f72672f312e786d6c0200aa323032362d30392d3031c2",
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_bytes_of_a_cell(name: str) -> None:
    facts, expected = GOLDEN[name]
    assert encode_facts(facts).hex() == expected
    assert decode_facts(bytes.fromhex(expected)) == facts


texts = st.text(max_size=5)
numbers = st.integers(0, 2**31)
pages = st.builds(
    PageFacts,
    charset=texts,
    lang=texts,
    description=texts,
    headings=st.lists(st.builds(Heading, numbers, texts), max_size=3).map(tuple),
    alternates=st.lists(st.builds(Alternate, texts, texts), max_size=3).map(tuple),
    words=numbers,
    fingerprint=st.integers(0, 2**64 - 1).map("{:016x}".format),
    links=st.builds(LinkPlacement, numbers, numbers, numbers),
    structured_data=st.lists(texts, max_size=3).map(tuple),
    open_graph=st.builds(OpenGraph, texts, texts, texts, texts),
)


@given(facts=pages | st.sampled_from([ROBOTS, SITEMAP]))
def test_a_cell_has_all_facts(facts: Facts) -> None:
    assert decode_facts(encode_facts(facts)) == facts


@given(
    cell=st.sampled_from([encode_facts(each) for each in (PAGE, ROBOTS, SITEMAP)]),
    place=st.integers(0, 1_000),
    other=st.binary(max_size=2),
)
def test_a_damaged_cell_does_not_fail_otherwise(cell: bytes, place: int, other: bytes) -> None:
    place %= len(cell)
    # Some damage gives other facts; those are valid again.
    with contextlib.suppress(CorruptData):
        facts = decode_facts(cell[:place] + other + cell[place + 1 :])
        assert decode_facts(encode_facts(facts)) == facts


@given(value=st.binary(max_size=40))
def test_other_bytes_are_corrupt_data(value: bytes) -> None:
    with pytest.raises(CorruptData, match="do not decode"):
        decode_facts(value)


def test_a_newer_version_is_corrupt_data() -> None:
    with pytest.raises(CorruptData, match="do not decode"):
        decode_facts(b"\x02" + encode_facts(PAGE)[1:])


HTML = """<!doctype html><html lang="de-CH"><head><title>T</title>
<meta name="Description" content="  Eine
Seite "><meta name=description content=other><meta name=robots content="NOINDEX, follow">
<meta property="og:title" content="OG"><meta property=og:type content=article>
<link rel="canonical" href="/c"><link rel=alternate hreflang=fr href=/fr>
<link rel=alternate hreflang=x href=mailto:x><link rel=stylesheet href=http://b.org/a.css>
<script type="application/ld+json">{"@graph": [{"@type": "Product", "offers": {"@type":
["Offer", "https://schema.org/Thing"]}}, {"@type": 3}]}</script>
<script type="application/ld+json">{broken</script></head><body>
<header><nav><a href=/a>eins</a> <a href=/b>zwei</a></nav><a href=/c>drei</a></header>
<main><h2>Zw&ouml;lf</h2><h1>Eins <b>zwei</b></h1><img src=http://b.org/x.png>
<img alt="" src=x><a href=/d>Wort</a></main>
<div itemscope itemtype="https://schema.org/Person https://b.org/x">Text</div></body>"""


def test_facts_of_a_page() -> None:
    facts = decode_facts(parse_html(HTML.encode(), "https://a.org/").facts)
    assert isinstance(facts, PageFacts)
    assert (facts.charset, facts.lang, facts.h1) == ("UTF-8", "de-CH", "Eins zwei")
    assert facts.description == "Eine Seite"
    assert (facts.robots, facts.canonical) == ("noindex, follow", "https://a.org/c")
    assert facts.headings == (Heading(2, "Zwölf"), Heading(1, "Eins zwei"))
    assert facts.alternates == (Alternate("fr", "https://a.org/fr"),)
    assert (facts.words, facts.links) == (8, LinkPlacement(0, 2, 1, 1, 0, 0))
    assert (facts.images, facts.images_without_alt, facts.insecure) == (2, 1, 2)
    assert (facts.scripts, facts.styles) == (0, 1)
    assert facts.structured_data == ("Product", "Offer", "Thing", "Person", "https://b.org/x")
    assert facts.open_graph == OpenGraph("OG", "article")
    assert facts.to_dict()["open_graph"] == {
        "title": "OG",
        "type": "article",
        "image": "",
        "description": "",
    }


def test_the_first_heading_of_level_1_is_among_the_headings() -> None:
    page = (
        "<h2>x</h2>" * 60 + "<h1 title='a>b'>A &lt; <i class=\"x>\">B</i><!-- > --></h1><h1>C</h1>"
    )
    facts = decode_facts(parse_html(page.encode(), "https://a.org/").facts)
    assert isinstance(facts, PageFacts)
    assert (len(facts.headings), facts.h1) == (module.MAX_HEADINGS, "A < B")


def test_parts_of_an_http_page_are_not_insecure() -> None:
    facts = decode_facts(parse_html(HTML.encode(), "http://a.org/").facts)
    assert isinstance(facts, PageFacts)
    assert facts.insecure == 0


def test_binary_data_has_no_facts() -> None:
    assert parse_html(b"%PDF-1.4", "https://a.org/").facts == b""


def test_the_charset_in_the_facts_gives_the_same_facts() -> None:
    for body, header in (
        ("<p>Grüße – ещё".encode("cp1251", "replace"), "windows-1251"),
        ("<p>Grüße".encode("utf-16"), ""),
        ("<meta charset=shift_jis><p>いろは".encode("cp932"), ""),
        ("<p>Grüße".encode(), ""),
        (b"<p>plain", "no-such-charset"),
    ):
        cell = parse_html(body, "https://a.org/", header).facts
        facts = decode_facts(cell)
        assert isinstance(facts, PageFacts)
        assert parse_html(body, "https://a.org/", facts.charset).facts == cell


@pytest.mark.parametrize(
    "page",
    [
        "<h1>" + "x" * 100_000 + "</h1>" + "<h2>y</h2>" * 10_000,
        "<meta name=description content='" + "x " * 500_000 + "'>",
        "<link rel=alternate hreflang=de href=/x>" * 10_000,
        "<meta property=og:title content='" + "x" * 500_000 + "'>",
        "<html lang='" + "x" * 500_000 + "'>",
        "<p itemtype='" + "y" * 100_000 + "'>" * 100,
        "<script type=application/ld+json>" + "[" * 100_000 + "</script>",
        '<script type=application/ld+json>{"@type": ["'
        + '", "'.join(map(str, range(9_999)))
        + '"]}'
        "</script>",
        "<div><h1>" * 5_000,
    ],
)
def test_a_hostile_page_has_a_small_cell(page: str) -> None:
    cell = parse_html(page.encode(), "https://a.org/").facts
    facts = decode_facts(cell)
    assert isinstance(facts, PageFacts)
    assert len(facts.headings) <= module.MAX_HEADINGS
    assert len(facts.structured_data) <= module.MAX_TYPES
    assert len(cell) < 100_000


@pytest.mark.parametrize(
    ("facts", "status", "headers", "reason", "detail"),
    [
        (PageFacts(), 200, ("", ""), "indexable", ""),
        (PageFacts(canonical="https://a.org/"), 200, ("", ""), "indexable", ""),
        (PageFacts(), 404, ("", ""), "status", "404"),
        (PageFacts(), 301, ("", ""), "redirect", "301"),
        (None, 200, ("", ""), "no-html", ""),
        (ROBOTS, 200, ("", ""), "no-html", ""),
        (PageFacts(robots="nofollow, none"), 200, ("", ""), "noindex-meta", "none"),
        (PageFacts(robots="nofollow"), 200, ("noindex", ""), "noindex-header", "noindex"),
        (PageFacts(), 200, ("googlebot: noindex", ""), "indexable", ""),
        (PageFacts(canonical="https://a.org/b"), 200, ("", ""), "canonical", "https://a.org/b"),
        (PageFacts(), 200, ("", "https://a.org/b"), "canonical", "https://a.org/b"),
    ],
)
def test_why_a_page_is_indexable(
    facts: Facts | None, status: int, headers: tuple[str, str], reason: str, detail: str
) -> None:
    robots, canonical = headers
    found = indexability(
        facts, url="https://a.org/", status=status, robots=robots, canonical=canonical
    )
    assert (found.reason, found.detail) == (reason, detail)
    assert found.is_indexable == (reason == "indexable")
