"""Canonical URLs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pages.hostile import hostile_urls
from webtable.errors import InvalidUrl
from webtable.pages.urls import (
    MAX_URL_BYTES,
    canonical_url,
    resolve_url,
    split_url,
    typed_url,
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTP://EXAMPLE.com:80/", "http://example.com/"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("http://example.com:443/a", "http://example.com:443/a"),
        ("https://example.com/a/./b/../c", "https://example.com/a/c"),
        ("https://example.com/a/%2e%2e/b", "https://example.com/b"),
        ("https://example.com/#top", "https://example.com/"),
        ("https://example.com/?", "https://example.com/?"),
        ("https://example.com/?b=2&a=1#x?y", "https://example.com/?b=2&a=1"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/ü", "https://example.com/%C3%BC"),
        ("https://münchen.de/", "https://xn--mnchen-3ya.de/"),
        ("https://example.com\\a", "https://example.com/a"),
        (" \thttps://exa\nmple.com/ ", "https://example.com/"),
        ("https://me:secret@example.com/@home", "https://example.com/@home"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::0001]:80/", "http://[::1]/"),
        ("https://example.com/%zz", "https://example.com/%zz"),
        ("https://example.com/\0x", "https://example.com/%00x"),
    ],
)
def test_a_browser_means_the_same(text: str, canonical: str) -> None:
    assert canonical_url(text) == canonical


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not an absolute URL"),
        ("/about", "not an absolute URL"),
        ("example.com/about", "not an absolute URL"),
        ("https://", "not an absolute URL"),
        ("https://exa mple.com/", "not an absolute URL"),
        ("https://example.com:99999/", "not an absolute URL"),
        ("javascript:alert(1)", "its scheme is 'javascript'"),
        ("mailto:a@b.example", "its scheme is 'mailto'"),
        ("ftp://example.com/", "its scheme is 'ftp'"),
        ("data:text/html,<p>", "its scheme is 'data'"),
        ("https://example.com/" + "a" * MAX_URL_BYTES, "more than 8,192"),
        ("https://example.com/" + "ü" * 4_000, "it takes 24,020 bytes, more than 8,192"),
        ("https://example.com/\ud800" + "x" * 100_000, "more than 8,192"),
    ],
)
def test_what_is_not_the_url_of_a_page(text: str, why: str) -> None:
    with pytest.raises(InvalidUrl, match="is not the URL of a page") as refused:
        canonical_url(text)
    assert why in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_lone_surrogate_is_no_crash() -> None:
    try:
        found = canonical_url("https://example.com/\ud800")
    except InvalidUrl:
        return
    assert found.isascii()


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("x", "http://example.com/a/x"),
        ("/x", "http://example.com/x"),
        ("//other.example/x", "http://other.example/x"),
        ("?q", "http://example.com/a/b?q"),
        ("", "http://example.com/a/b"),
        ("#top", "http://example.com/a/b"),
        ("https:x", "https://x/"),
        ("../../../x", "http://example.com/x"),
    ],
)
def test_links_resolve_against_their_base(text: str, resolved: str) -> None:
    assert resolve_url(text, "http://example.com/a/b") == resolved


def test_a_link_that_is_no_url() -> None:
    with pytest.raises(InvalidUrl, match="it is not a URL"):
        resolve_url("https://[", "http://example.com/")


def test_people_leave_the_scheme_out() -> None:
    assert typed_url(" example.com/about ") == "https://example.com/about"
    assert typed_url("http://example.com") == "http://example.com/"
    assert typed_url("localhost:8080/a") == "https://localhost:8080/a"
    with pytest.raises(InvalidUrl, match="its scheme is 'mailto'"):
        typed_url("mailto:me@example.com")


@given(hostile_urls())
def test_canonical_urls_stay_as_they_are(url: str) -> None:
    assert canonical_url(url) == url
    assert url.isascii()
    assert not any(ord(character) <= 0x20 for character in url)
    scheme, host, port, path = split_url(url)
    assert f"{scheme}://{host}{port and ':' + port}{path}" == url


@given(st.text(max_size=60))
def test_any_text_is_a_url_or_rejected(text: str) -> None:
    for make in (canonical_url, typed_url):
        try:
            assert canonical_url(make(text)) == make(text)
        except InvalidUrl as refused:
            assert refused.hint  # noqa: PT017 - either is fine
