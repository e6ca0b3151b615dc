"""What the HTML of a page says."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.pages import captures
from webtable.pages.captures import (
    MAX_LINK_BYTES,
    Capture,
    Link,
    kept_links,
    link_text,
    links_of_text,
)
from webtable.pages.html import parser as html_module
from webtable.pages.html.depth_limit import flatten
from webtable.pages.html.link_resolver import Resolver
from webtable.pages.html.parser import MAX_ANCHOR, MAX_LINKS, MAX_ROBOTS, parse_capture, parse_html

URL = "https://example.com/dir/page"


def links(html: str, url: str = URL) -> list[Link]:
    return parse_html(html.encode(), url).link_list


def test_a_page_says_all_it_has() -> None:
    parsed = parse_html(
        b"""<!doctype html><title> A
        title </title>
        <link rel="stylesheet" href="x.css"><link rel="Canonical Other" href="/canon#x">
        <meta name=ROBOTS content=" NoIndex,  Nofollow"><meta name=robots content=noarchive>
        <p><a href="../up" rel="NoFollow  UGC">Up <b>and</b>
          away</a> <a href="#here">here</a> <a name=x>no link</a>
        <map><area href="https://Other.example" alt="A map"></map>
        <a href="mailto:x@example.com">write</a><a href="http://[">broken</a>""",
        URL,
    )
    assert parsed.title == "A title"
    assert parsed.canonical == "https://example.com/canon"
    assert parsed.robots == "noindex, nofollow, noarchive"
    assert parsed.charset == "UTF-8"
    assert parsed.link_list == [
        Link("https://example.com/up", "nofollow ugc", "Up and away"),
        Link("https://other.example/", "", "A map"),
    ]
    assert (parsed.targets, parsed.hrefs) == (2, 5)
    assert (parsed.rejected, parsed.to_itself, parsed.notes) == (2, 1, ())


def test_links_to_one_target_stand_together_and_each_only_once() -> None:
    html = "<a href=a>1</a><a href=b>2</a><a href=a>3</a><a href=a#x>1</a><a href=a rel=me>1</a>"
    found = links(html)
    a, b = "https://example.com/dir/a", "https://example.com/dir/b"
    assert found == [Link(a, "", "1"), Link(a, "", "3"), Link(a, "me", "1"), Link(b, "", "2")]
    assert parse_html(html.encode(), URL).targets == 2


@pytest.mark.parametrize(
    ("base", "target"),
    [
        ("/other/", "https://example.com/other/x"),
        ("https://elsewhere.example/y", "https://elsewhere.example/x"),
        ("javascript:1", "https://example.com/dir/x"),
        ("", "https://example.com/dir/x"),
    ],
)
def test_the_base_counts_wherever_it_stands(base: str, target: str) -> None:
    element = f'<base href="{base}">'
    assert links(f"<head>{element}</head><a href=x>") == [Link(target, "", "")]
    assert links(f"<body><p><a href=x></a><div>{element}") == [Link(target, "", "")]


def test_the_first_base_and_the_first_title_count() -> None:
    parsed = parse_html(b"<base href=/1/><base href=/2/><title>1</title><title>2</title>", URL)
    assert parsed.title == "1"
    assert links("<base href=/1/><base href=/2/><a href=x>")[0].url == "https://example.com/1/x"


def test_a_title_in_the_body_counts_and_a_missing_one_is_empty() -> None:
    assert parse_html(b"<body><p>x<title>late</title>", URL).title == "late"
    assert parse_html(b"<p>x", URL).title == ""


def test_links_in_scripts_comments_and_templates_are_none() -> None:
    html = "<script>'<a href=1>'</script><!--<a href=2>--><template><a href=3></template>"
    assert links(html + "<noscript><a href=4></noscript><a href=5>") == [
        Link("https://example.com/dir/4", "", ""),
        Link("https://example.com/dir/5", "", ""),
    ]


def test_links_of_pictures_inside_a_page_are_none() -> None:
    parsed = parse_html(b'<svg><a xlink:href="/x">x</a></svg><a href="/y">y</a>', URL)
    assert parsed.link_list == [Link("https://example.com/y", "", "y")]
    assert parsed.hrefs == 1


def test_anchors_are_cut_and_hold_no_line_ends() -> None:
    (link,) = links(f"<a href=x rel='a\tb'>{'word ' * 1_000}\t\n\u2028</a>")
    assert len(link.anchor) == MAX_ANCHOR
    assert link.rel == "a b"
    assert links_of_text(link_text([link])) == [link]


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_anchor_survives_the_text_form(anchor: str, rel: str) -> None:
    quoted = rel.replace("&", "&amp;").replace('"', "&quot;")
    html = f'{" " * 1_024}<a href=x rel="{quoted}">{anchor.replace("<", "&lt;")}</a><a href=y>'
    parsed = parse_html(html.encode("utf-8", "replace"), URL, "utf-8")
    assert len(parsed.link_list) == parsed.targets == parsed.hrefs == 2
    assert link_text(parsed.link_list) == parsed.links


@given(st.binary(max_size=400))
def test_any_bytes_say_something_or_nothing(body: bytes) -> None:
    parse_html(body, URL)
    parse_html(b"<a href='" + body, URL)


@pytest.mark.parametrize("start", [b"%PDF-1.7", b"\x89PNG\r\n", b"\xff\xd8\xff\xe0", b"\x00\x01"])
def test_binary_that_is_called_html_is_not_parsed(start: bytes) -> None:
    parsed = parse_html(start + b"<title>no</title>", URL)
    assert (parsed.title, parsed.notes) == ("", ("binary",))


def test_utf_16_is_not_binary_nor_is_a_strange_byte() -> None:
    assert parse_html("<title>é</title>".encode("utf-16"), URL).title == "é"
    assert parse_html("<title>é</title>".encode("utf-16-le"), URL, "utf-16").title == "é"
    assert parse_html(b"<title>\x1a text with one of them</title>", URL).notes == ()


def test_a_charset_that_is_unknown_is_noted() -> None:
    assert parse_html(b"<title>x</title>", URL, "klingon").notes == ("charset-unknown",)


def test_only_html_is_parsed() -> None:
    def capture(kind: str, body: bytes | None) -> Capture:
        return Capture(URL, 1, 200, "sha1:x", content_type=kind, body=body)

    assert parse_capture(capture("text/html", b"<title>x</title>")) is not None
    assert parse_capture(capture("application/xhtml+xml", b"<title>x</title>")) is not None
    assert parse_capture(capture("", b"\n<!DOCTYPE html><title>x")) is not None
    assert parse_capture(capture("", b"plain text")) is None
    assert parse_capture(capture("text/plain", b"<title>x</title>")) is None
    assert parse_capture(capture("text/html", None)) is None


END = "<a href=x>end</a>"
DEEP = {
    "div": "<div>" * 100_000 + END,
    "div closed": "<div>" * 100_000 + END + "</div>" * 100_000,
    "b": "<b>" * 100_000 + END,
    "font and div": "<font><div>" * 100_000 + END,
    "ul": "<ul><li>" * 100_000 + END,
    "table": "<table><tr><td>" * 100_000 + END,
    "stray ends": "<div></x>" * 100_000 + END,
    "ends that close nothing": "<b><div></b>" * 100_000 + END,
    "spans": "<span><div></span>" * 100_000 + END,
    "buttons": "<p><button>" * 100_000 + END,
    "svg": "<svg>" * 100_000 + END,
    "attributes": "<a href=x " + " ".join(f"a{n}=1" for n in range(100_000)) + ">end</a>",
    "formatting": "<p>" + "".join(f"<i id={n}>" for n in range(5_000)) + "<p>x" * 5_000 + END,
    "comments": END + "<!--" * 100_000,
    "scripts": END + "<script>" * 100_000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_a_page_nested_100_000_deep_is_read_in_time(kind: str) -> None:
    began = time.process_time()
    parsed = parse_html(DEEP[kind].encode(), URL)
    assert time.process_time() - began < 5
    assert parsed.link_list == [Link("https://example.com/dir/x", "", "end")]


def test_a_large_page_that_is_not_deep_stays_as_it_is() -> None:
    row = b"<tr><td><p>x<br><img src=y><li><a href=z>z</a><b>b</b><div><span>s</span></div>"
    html = b"<table>" + row * 20_000
    assert flatten(html) == (html, False)


@pytest.mark.parametrize("letter", ["x", "\N{SNOWMAN}"])
def test_links_of_too_many_bytes_are_cut_and_noted(letter: str) -> None:
    base = "https://example.com/" + "d/" * 3_000
    links = "".join(f"<a href={n}>{letter * 400}</a>" for n in range(2_000))
    parsed = parse_html(f"<meta charset=utf-8><base href={base}>{links}".encode(), URL)
    assert parsed.notes == ("links-cut",)
    assert parsed.hrefs == 2_000
    lines = parsed.links.split("\n")
    assert [line.partition("\t")[0] for line in lines] == [
        f"{base}{n}" for n in range(parsed.targets)
    ]
    size, one = len(parsed.links.encode()), len(f"\n{lines[-1]}".encode())
    assert MAX_LINK_BYTES - one <= size <= MAX_LINK_BYTES


def test_long_robots_are_cut() -> None:
    told = "<meta name=robots content='" + "\N{EURO SIGN}" * 400 + "'>"
    parsed = parse_html((told * 50).encode("cp1252"), URL, "windows-1252")
    assert len(parsed.robots) == MAX_ROBOTS
    assert parsed.robots.startswith("\N{EURO SIGN}" * 400 + ", \N{EURO SIGN}")


def test_links_that_are_not_kept_are_not_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Counting(Resolver):
        def __call__(self, href: str) -> str | None:
            asked.append(href)
            return super().__call__(href)

    monkeypatch.setattr(html_module, "Resolver", Counting)
    base = "https://example.com/" + "d/" * 4_000
    for count in (5_000, 20_000):
        asked.clear()
        links = "".join(f"<a href={n}-{count}>x</a>" for n in range(count))
        parsed = parse_html(f"<base href={base}>{links}".encode(), URL)
        assert 500 < parsed.targets < 600
        assert len(asked) == 999


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text("xé\N{SNOWMAN}", max_size=9))), st.data())
def test_what_is_kept_of_links_is_whole_lines_side_by_side(
    found: list[tuple[str, str]], data: st.DataObject
) -> None:
    lines = {f"https://{host}/\t\t{words}": f"https://{host}/" for host, words in found}
    order = list(dict.fromkeys(lines.values()))
    whole = sorted(lines, key=lambda line: order.index(lines[line]))
    most = data.draw(st.integers(30, 400))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(captures, "MAX_LINK_BYTES", most)
        text, targets, is_cut = kept_links(lines)
    kept = text.split("\n") if text else []
    assert kept == whole[: len(kept)]
    assert targets == len({lines[line] for line in kept})
    assert is_cut == (len(kept) < len(whole))
    assert len(text.encode()) <= most or len(kept) == len(whole)
    if is_cut:
        assert len("\n".join(whole[: len(kept) + 1]).encode()) > most


def test_too_many_links_are_cut_and_noted() -> None:
    html = "".join(f"<a href={n}>x</a>" for n in range(MAX_LINKS + 10))
    parsed = parse_html(html.encode(), URL)
    assert (parsed.targets, parsed.hrefs) == (MAX_LINKS, MAX_LINKS + 10)
    assert parsed.notes == ("links-cut",)
