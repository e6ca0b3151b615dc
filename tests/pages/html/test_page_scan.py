"""One pass over the bytes of a page, in plain Python and compiled."""

from __future__ import annotations

import re
from types import ModuleType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webtable import compiled
from webtable.pages.html import page_scan as plain

CHOSEN = compiled.load("webtable.pages.html", "page_scan")
FORMS = [plain, CHOSEN]
FIELDS = (
    *("words", "fingerprint", "links", "images", "images_without_alt", "insecure"),
    *("scripts", "styles", "headings", "json_ld", "item_types"),
)

both = pytest.mark.parametrize("form", FORMS, ids=["plain", "chosen"])
parts = st.sampled_from(
    [
        *(
            b"<p>",
            b"</p>",
            b"<a href=x>",
            b"<a>",
            b"<A HREF='y'>",
            b"<img alt>",
            b"<img src=http:x>",
        ),
        *(b"<nav>", b"</nav>", b"<main>", b"</main>", b"<header>", b"<FOOTER>", b"<aside", b">"),
        *(
            b"<script>",
            b"</script>",
            b"</SCRIPT >",
            b"<style>",
            b"</style",
            b"<!--",
            b"-->",
            b"<!",
            b"<?",
        ),
        *(
            b"<script type=application/ld+json>",
            b"<h1>",
            b"</h1>",
            b"<h7>",
            b"<link rel=stylesheet ",
        ),
        *(
            b"href='HTTP:x'",
            b'"',
            b"'",
            b"=",
            b"/",
            b"<",
            b"&",
            b";",
            b"&nbsp;",
            b"&amp;",
            b"&#160;",
        ),
        *(
            b" ",
            b"\n",
            b"\x0b",
            b"word",
            b"Word",
            b"w\xc3\xb6rter",
            b"don't",
            b"x-y",
            b"a" * 30,
            b"1",
        ),
        *("中文".encode(), "日本語、".encode(), "\u00a0".encode(), "\u2003".encode(), "–".encode()),
        *("\u3000".encode(), "\U00020000".encode(), b"\xe2", b"\x80", b"\xf0\xa0", b"\0", b"\x1c"),
        *(
            b"itemtype=x ",
            b"<div itemtype='a b'>",
            b"<template>",
            b"</template>",
            b"<title>",
            b"</title>",
        ),
    ]
)
pages = st.lists(parts | st.binary(max_size=4), max_size=40).map(b"".join)


@given(page=pages)
@example(page=b"<a href=x")
@example(page=b"\xe4\xc2\xa9\x80\x80")
@example(page=b"<img a=\"b' alt>")
@example(page=b"&nbsp&nbsp;&;&")
@example(page=b"<!--><p>x<!--->y")
def test_both_forms_find_the_same(page: bytes) -> None:
    one, other = plain.PageScan(page), CHOSEN.PageScan(page)
    assert [getattr(one, name) for name in FIELDS] == [getattr(other, name) for name in FIELDS]


@given(words=st.lists(st.binary(min_size=1, max_size=40), max_size=300))
def test_both_forms_have_the_same_fingerprint(words: list[bytes]) -> None:
    page = b" ".join(words)
    assert plain.PageScan(page).fingerprint == CHOSEN.PageScan(page).fingerprint


@both
def test_fingerprints_are_frozen(form: ModuleType) -> None:
    page = b"<p>The quick brown fox jumps over the lazy dog, n\xc3\xa4mlich ~ 3 times.</p>"
    scan = form.PageScan(page)
    assert (scan.words, f"{scan.fingerprint:016x}") == (12, "7800a1fcb7b34205")


@both
@pytest.mark.parametrize(
    ("page", "words"),
    [
        (b"", 0),
        (b"one two", 2),
        (b"one<br>two<b>three</b>", 3),
        (b"one&nbsp;two &amp; three &mdash; four", 4),
        (b"caf&eacute; n&#228;her", 2),
        (b"don't x-y 3.14 - ? (yes)", 4),
        ("Straße – naïve".encode(), 2),
        ("天地玄黄 宇宙".encode(), 6),
        ("Zeit 時 Zeit".encode(), 3),
        (b"a<script>b c</script>d<style>e</style><!-- f -->g<noscript>h</noscript>", 3),
        (b"<title>t</title><template>u</template>v<textarea>w</textarea>", 1),
        (b"a < b <3 c", 4),
        (b"<p title='a>b' x=\"c>d\">e", 1),
        (b"<script>never closed", 0),
        (b"x<!-- never closed", 1),
        (b"x<p class='never closed", 1),
    ],
)
def test_words(form: ModuleType, page: bytes, words: int) -> None:
    assert form.PageScan(page).words == words


@both
def test_links_by_section(form: ModuleType) -> None:
    page = b"""<a href=/><a name=x><header><a href=/><nav><a href=/><AREA HREF=/></nav><a href=/>
    </header><main><aside><a href=/></main><a href=/><footer><a href=/></nav><a href=/></footer>"""
    assert form.PageScan(page).links == [2, 2, 2, 0, 2, 1]


@both
def test_elements(form: ModuleType) -> None:
    page = b"""<link rel="preload stylesheet" href="http://a/"><link rel=icon href=http://a/>
    <style></style><script src=" HTTP://a/"></script><script type="application/LD+json">{}</script>
    <img src=https://a/><img src=http://a/ alt><video poster="http://a/"></video><h1>a</h1><h6>b</h6>
    <a href=http://a/>c</a><p itemtype="x  y"><h0><h7>"""
    scan = form.PageScan(page)
    assert (scan.styles, scan.scripts, scan.images, scan.images_without_alt) == (2, 1, 2, 1)
    assert scan.insecure == 4
    assert [(level, page[start:stop]) for level, start, stop in scan.headings] == [
        *((1, b"a"), (6, b"b"))
    ]
    assert [page[start:stop] for start, stop in scan.json_ld] == [b"{}"]
    assert [page[start:stop] for start, stop in scan.item_types] == [b"x  y"]


@both
def test_headings_end_where_the_next_tag_of_a_heading_is(form: ModuleType) -> None:
    page = b"<h1>a<b>b</b></H1>c<h2>d<h3 x>e</h1>f</h3><h6>g"
    found = [(level, page[start:stop]) for level, start, stop in form.PageScan(page).headings]
    assert found == [(1, b"a<b>b</b>"), (2, b"d"), (3, b"e"), (6, b"g")]


@both
def test_similar_texts_have_similar_fingerprints(form: ModuleType) -> None:
    text = [b"%d" % (number * number % 9973) for number in range(1_000)]
    changed = [*text[:500], b"another", b"word", *text[500:]]
    other = [b"%d" % (number * 7919 % 9967) for number in range(1_000)]
    one, near, far = (form.PageScan(b" ".join(each)).fingerprint for each in (text, changed, other))
    assert (one ^ near).bit_count() <= 4
    assert (one ^ far).bit_count() >= 16


@pytest.mark.parametrize(
    "part",
    [
        b"<nav>",
        b"</nav>",
        b"<a ",
        b"<a href=",
        b"<a x='",
        b'a="',
        b"<!--",
        b"<!",
        b"</",
        b"<script>",
        b"<p itemtype=x>",
        b"<h1>",
        b"</h1>",
        b"<script type=application/ld+json></script>",
        b"&",
        b"&nbsp;",
        b"\xe4",
        b"w ",
    ],
)
def test_the_work_grows_with_the_page(part: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    # The bytes that the plain form reads, counted where it searches.
    read = 0
    find, match = plain._find, plain._match

    def counted_find(html: bytes, byte: int, start: int, size: int) -> int:
        nonlocal read
        stop = find(html, byte, start, size)
        read += stop - start
        return stop

    def counted_match(pattern: re.Pattern[bytes], html: bytes, start: int, size: int) -> int:
        nonlocal read
        stop = match(pattern, html, start, size)
        read += stop - start
        return stop

    monkeypatch.setattr(plain, "_find", counted_find)
    monkeypatch.setattr(plain, "_match", counted_match)
    counts = []
    for times in (500, 1_000):
        read = 0
        scan = plain.PageScan(part * times)
        assert len(scan.json_ld) <= plain.MAX_SPANS
        assert len(scan.item_types) <= plain.MAX_SPANS
        counts.append(read)
    assert counts[1] <= 2 * counts[0] + 1_000
