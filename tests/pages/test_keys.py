"""Row keys of pages: the bytes, that no two pages share one, and what lies together."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from publicsuffixlist import PublicSuffixList

from tests.pages.hostile import hostile_urls
from webtable.errors import InvalidRequest
from webtable.pages.keys import (
    SALT_SPLITS,
    KeyScheme,
    ReadableKeys,
    SaltedKeys,
    from_key_form,
    is_under,
    key_form,
    key_scheme,
)
from webtable.pages.public_suffixes import Suffixes, newest_list
from webtable.pages.urls import split_url, typed_url

SUFFIXES = Suffixes("// a list of the tests' own\n// ===BEGIN ICANN DOMAINS===\ncom\nuk\nco.uk\n")
READABLE = ReadableKeys()
SALTED = SaltedKeys(SUFFIXES)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("example.com/about", "com.example_about"),
        ("test.org/blog/post1", "org.test_blog_post1"),
        ("demo.net/", "net.demo_home"),
        ("http://demo.net/", "net.demo:http_home"),
        ("http://demo.net:8080/a", "net.demo:http:8080_a"),
        ("https://demo.net:8443/a", "net.demo:8443_a"),
        ("https://127.0.0.1/a", "127.0.0.1_a"),
        ("http://[::1]:8080/a", "[::1]:http:8080_a"),
        ("demo.net/a/b-c/", "net.demo_a_b-c_"),
        ("demo.net/home", "net.demo_home~66fe2495bf1fb80914f5"),
        ("demo.net/a_b", "net.demo_a_b~"),
        ("demo.net//x", "net.demo_x~"),
        ("demo.net/index.html", "net.demo_index_html~"),
        ("demo.net/?a=1", "net.demo__a_1~"),
        ("demo.net/abcdefghijklmnopqrstuvwxy", "net.demo_abcdefghijklmnopqrstuvwxy"),
        ("demo.net/abcdefghijklmnopqrstuvwxyz", "net.demo_abcdefghijklmnopqrstuvwxy~"),
        ("my_blog.net/", "net.my_blog_home~"),
    ],
)
def test_readable_keys(url: str, key: str) -> None:
    found = READABLE.row_key(typed_url(url)).decode()
    if key.endswith("~"):
        found, _, digest = found.rpartition("~")
        assert len(digest) == 20
        key = key[:-1]
    assert found == key


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("example.com/products", b"5a:com.example/products"),
        ("shop.example.com/", b"5a:com.example.shop/"),
        ("http://example.com/?a", b"5a:com.example:http/?a"),
        ("a.b.example.co.uk:8443/", b"9c:uk.co.example.b.a:8443/"),
        ("example.com/" + "a" * 983, b"5a:com.example/" + b"a" * 983),
        (
            "example.com/" + "a" * 986,
            b"5a:com.example/" + b"a" * 964 + b"\0" + b"446045bb096a1a8112cf",
        ),
    ],
)
def test_salted_keys(url: str, key: bytes) -> None:
    assert SALTED.row_key(typed_url(url)) == key


def test_salts_are_spread_over_sixteen_regions() -> None:
    assert SALT_SPLITS[0] == b"10"
    assert SALT_SPLITS[-1] == b"f0"
    assert len(SALT_SPLITS) == 15


@pytest.mark.parametrize("scheme", [READABLE, SALTED], ids=lambda scheme: scheme.name)
@given(urls=st.lists(hostile_urls(), min_size=2, max_size=12))
def test_no_two_pages_share_a_key(scheme: KeyScheme, urls: list[str]) -> None:
    keys = {scheme.row_key(url) for url in urls}
    assert len(keys) == len(set(urls))
    assert all(1 <= len(key) <= 32_767 for key in keys)


@given(hostile_urls())
def test_key_forms_read_back(url: str) -> None:
    assert from_key_form(key_form(url)) == url


@pytest.mark.parametrize("scheme", [READABLE, SALTED], ids=lambda scheme: scheme.name)
@given(url=hostile_urls(), other=hostile_urls(), with_subdomains=st.booleans())
@example(url="http://-/", other="http://.-/", with_subdomains=True)
@example(url="https://co.uk/", other="https://a.co.uk/", with_subdomains=True)
def test_the_ranges_of_a_host_hold_all_its_pages(
    scheme: KeyScheme, url: str, other: str, with_subdomains: bool
) -> None:
    host = split_url(url).host
    ranges = scheme.host_ranges(host, with_subdomains=with_subdomains)
    assert ranges == sorted(ranges)
    assert all(earlier.stop <= later.start for earlier, later in itertools.pairwise(ranges))
    for each in (url, other):
        key = scheme.row_key(each)
        is_inside = any(start <= key < stop for start, stop in ranges)
        if is_under(each, host, with_subdomains=with_subdomains):
            assert is_inside
        elif is_inside:  # possible where `_` ends a host, and recognised by the URL
            assert scheme is READABLE
            assert "_" in split_url(each).host


@pytest.mark.parametrize("scheme", [READABLE, SALTED], ids=lambda scheme: scheme.name)
@given(url=hostile_urls(), more=hostile_urls(), data=st.data())
def test_the_ranges_of_a_directory_hold_all_its_pages(
    scheme: KeyScheme, url: str, more: str, data: st.DataObject
) -> None:
    origin = len(url) - len(split_url(url).path) + 1
    directory = url[: data.draw(st.integers(origin, len(url)))]
    ranges = scheme.directory_ranges(directory)
    for page in (url, url + "x", more):
        if page.startswith(directory):
            key = scheme.row_key(page)
            assert any(start <= key < stop for start, stop in ranges)


def test_a_neighbour_is_not_under_a_host() -> None:
    assert is_under("https://docs.example.com/", "example.com")
    assert not is_under("https://docs.example.com/", "example.com", with_subdomains=False)
    assert not is_under("https://example2.com/", "example.com")
    assert not is_under("https://myexample.com/", "example.com")


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("docs.example.co.uk", "example.co.uk"),
        ("example.com", "example.com"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("a.b.unknown", "b.unknown"),
    ],
)
def test_registered_domains(host: str, domain: str) -> None:
    assert SUFFIXES.registered_domain(host) == domain


def test_schemes_by_name() -> None:
    assert key_scheme("readable", SUFFIXES).name == "readable"
    assert key_scheme("salted", SUFFIXES).row_key("https://example.com/") == b"5a:com.example/"
    with pytest.raises(InvalidRequest, match="use readable or salted"):
        key_scheme("hashed", SUFFIXES)


def test_the_rules_are_those_that_the_library_finds_by_itself() -> None:
    text = newest_list()
    ours, theirs = Suffixes(text)._list, PublicSuffixList(text.splitlines(), only_icann=True)
    assert ours._publicsuffix == theirs._publicsuffix
    assert ours._maxlabel == theirs._maxlabel
