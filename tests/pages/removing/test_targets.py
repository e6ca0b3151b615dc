"""What a typed text means to `webtable remove`, and the hashes by which it is stored."""

from __future__ import annotations

import hashlib

import pytest

from webtable.errors import InvalidRequest, InvalidUrl
from webtable.pages.keys import KeyScheme, key_scheme
from webtable.pages.public_suffixes import newest_list, suffixes_of
from webtable.pages.removing.targets import domain_hashes, target_of


@pytest.fixture(scope="module", params=["readable", "salted"])
def keys(request: pytest.FixtureRequest) -> KeyScheme:
    return key_scheme(request.param, suffixes_of(newest_list()))


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("text", "kind", "meant"),
    [
        ("example.com", "domain", "example.com"),
        ("Example.COM:8080", "domain", "example.com:8080"),
        ("127.0.0.1:80", "domain", "127.0.0.1:80"),
        ("example.com/", "url", "https://example.com/"),
        ("http://example.com/a?b", "url", "http://example.com/a?b"),
        ("example.com/blog/*", "prefix", "https://example.com/blog/"),
        ("http://example.com/20*", "prefix", "http://example.com/20"),
    ],
)
def test_what_a_text_means(keys: KeyScheme, text: str, kind: str, meant: str) -> None:
    target = target_of(text, keys)
    assert (target.kind, target.text) == (kind, meant)


@pytest.mark.parametrize("text", ["example.com*", "example.com/*", "https://*", "*", "a.com/*b*"])
def test_prefixes_that_are_too_wide(keys: KeyScheme, text: str) -> None:
    with pytest.raises((InvalidRequest, InvalidUrl)):
        target_of(text, keys)


def test_the_hashes(keys: KeyScheme) -> None:
    row = keys.row_key("https://example.com/a")
    assert target_of("example.com/a", keys).hash == hashlib.sha256(row).hexdigest()
    assert target_of("www.example.com", keys).hash == sha("com.example.www")
    assert target_of("example.com:8080", keys).hash == sha("com.example:8080")
    prefix = target_of("example.com/blog/*", keys)
    assert (prefix.hash, prefix.length) == (sha("https://example.com/blog/"), 25)


def test_a_url_has_the_hashes_of_all_domains_above() -> None:
    found = list(domain_hashes("https://a.b.example/x", "443"))
    assert found == [
        sha(name)
        for name in (
            "example.b.a",
            "example.b.a:443",
            "example.b",
            "example.b:443",
            "example",
            "example:443",
        )
    ]
    assert list(domain_hashes("http://127.0.0.1/x", "80")) == [
        sha("127.0.0.1"),
        sha("127.0.0.1:80"),
    ]


def test_a_target_has_its_pages_and_no_neighbours(keys: KeyScheme) -> None:
    urls = [
        "https://example.com/",
        "https://www.example.com/blog/1",
        "http://example.com:8080/",
        "https://example.com/blog/1",
        "https://example.com/blogs",
        "https://example2.com/",
        "https://notexample.com/",
    ]

    def of(text: str) -> list[str]:
        target = target_of(text, keys)
        ranges, belongs = target.ranges(keys), target.matcher()
        found = [url for url in urls if belongs(url)]
        for url in found:
            assert any(low <= keys.row_key(url) < high for low, high in ranges)
        return found

    assert of("example.com") == urls[:5]
    assert of("example.com:8080") == [urls[2]]
    assert of("example.com/blog/*") == [urls[3]]
    assert of("example.com/blo*") == urls[3:5]
    assert of("https://example.com/") == [urls[0]]
