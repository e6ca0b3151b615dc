"""The fast way to resolve links gives what the standard's way gives."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.pages.hostile import hostile_urls
from webtable.errors import InvalidUrl
from webtable.pages.html.link_resolver import Resolver, canonical
from webtable.pages.urls import MAX_URL_BYTES, canonical_url, resolve_url

_PIECES = st.sampled_from(
    [*"/.:?#%&=@!~_- \t\n\\é\x00\x1f[]", "..", "./", "../", "//", "a", "B", "c.html", "%2e", "%2E",
     "%2e%2e", "xn--", "xn--a", "http:", "https:", "HTTPS://", "https://", "example.com", "1.2",
     "127.0.0.1", "0x7f", "javascript:", "mailto:", "data:", "?q=1", "#top", "index", "a-b", "-",
     "www.example.org/", "https://www.example.org/x", "com", "co.uk", ".com", "x" * 300]
)  # fmt: skip
HREFS = st.lists(_PIECES, max_size=8).map("".join)
BASES = st.sampled_from(
    [
        "https://example.com/",
        "https://example.com/a/b/c.html",
        "https://example.com/a/b/c.html?q=/x/y",
        "http://example.com:8080/a//b",
        "https://example.com/a/b/",
        "https://[::1]/x",
        "https://example.com/?a",
    ]
)


def slow(href: str, base: str) -> str | None:
    try:
        return resolve_url(href, base)
    except InvalidUrl:
        return None


@settings(max_examples=2_000)
@given(st.one_of(HREFS, st.text(max_size=30)), BASES)
@example("../../../../x", "https://example.com/a/b/c.html")
@example("a:b", "https://example.com/")
@example("//other.example/x", "https://example.com/a/")
@example("", "https://example.com/a?q")
@example("\x01#x", "https://example.com/a?q")
@example("\x0c?x", "https://example.com/a?q")
@example("b #x", "https://example.com/a?q")
@example("b\x1f#x ", "https://example.com/a?q")
@example("#x y", "https://example.com/a?q")
@example("https:#x", "https://example.com/a?q")
@example("https://a-.com/", "https://example.com/")
@example("https://1.com/", "https://example.com/")
@example("https://example.0x1/", "https://example.com/")
def test_the_fast_way_equals_the_slow_one(href: str, base: str) -> None:
    assert Resolver(base)(href) == slow(href, base)


@settings(max_examples=500)
@given(hostile_urls(), HREFS)
def test_it_does_so_on_hostile_pages(base: str, href: str) -> None:
    assert Resolver(base)(href) == slow(href, base)


@settings(max_examples=1_000)
@given(st.one_of(HREFS, HREFS.map(lambda href: f"https://example.com/{href}"), hostile_urls()))
def test_canonical_urls_too(url: str) -> None:
    try:
        expected = canonical_url(url)
    except InvalidUrl:
        with pytest.raises(InvalidUrl):
            canonical(url)
    else:
        assert canonical(url) == expected


def test_what_one_page_learns_does_not_mislead_the_next() -> None:
    first = Resolver("https://example.com/a/one?x=1")
    second = Resolver("https://example.com/a/two")
    for href in (
        *("", "#top", "?q", "b", " ?q", "b#top", "b #top", "?q#top"),
        *("https:", "https:?q", "https:#top", "https:b"),
    ):
        assert first(href) == slow(href, "https://example.com/a/one?x=1")
        assert second(href) == slow(href, "https://example.com/a/two")


@pytest.mark.parametrize("length", [MAX_URL_BYTES - 30, MAX_URL_BYTES, MAX_URL_BYTES + 1, 100_000])
def test_long_links_are_judged_the_same(length: int) -> None:
    for href in ("a" * length, f"https://example.com/{'a' * (length - 20)}", f"#{'a' * length}"):
        base = "https://example.com/b/"
        assert Resolver(base)(href) == slow(href, base)
