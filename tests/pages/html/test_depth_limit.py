"""Pages that nest too deep: the quick check of a page and the exact one agree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webtable.pages.html import depth_limit
from webtable.pages.html.depth_limit import MAX_DEPTH, flatten

_NAMES = (
    "div",
    "DIV",
    "b",
    "I",
    "table",
    "td",
    "p",
    "a",
    "br",
    "section",
    "x-y",
    "script",
    "title",
)
_PIECES = st.one_of(
    st.sampled_from(_NAMES).map("<{}>".format),
    st.sampled_from(_NAMES).map("</{}>".format),
    st.sampled_from(_NAMES).map('<{} class="<div>">'.format),
    st.sampled_from(
        ("text", "<!--", "-->", "<", "</", "<script", "</ script>", "<div/", "\x00<b\n>")
    ),
)


@settings(max_examples=300)
@given(st.lists(_PIECES, max_size=60))
def test_quick_look_agrees_with_the_exact_one(pieces: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(depth_limit, "MAX_DEPTH", 6)
        patch.setattr(depth_limit, "_MAX_FORMATTING", 3)
        patch.setattr(depth_limit, "MAX_TAGS", 50)
        html = "".join(pieces).encode()
        assert depth_limit._is_too_deep(html) == bool(depth_limit._too_deep(html))


@pytest.mark.parametrize("name", ["div", "DIV", "b", "Strong"])
def test_deep_nesting_is_found_in_either_case(name: str) -> None:
    html = f"<{name}>".encode() * 40_000
    assert flatten(html).is_changed


def test_many_tags_that_nest_little_are_left_as_they_are() -> None:
    html = b"<div><p>x<b>y</b></div>" * 20_000
    assert flatten(html) == (html, False)


@pytest.mark.parametrize("start", [b"<svg>", b"<math>", b"<svg><article>", b"<SVG>"])
def test_links_that_nest_in_a_picture_are_bounded(start: bytes) -> None:
    flat = flatten(start + b"<a href=x>" * 20_000)
    assert flat.is_changed
    assert flat.html.count(b"<a href") <= MAX_DEPTH


def test_links_of_a_picture_stay_in() -> None:
    links = b"<a href=x>y</a>" * 20_000
    for html in (b"<svg>" + links + b"</svg>", b"<svg><p>" + b"<a href=x>" * 20_000):
        assert flatten(html) == (html, False)


@pytest.mark.parametrize("name", [b"html", b"body", b"BoDy"])
def test_attributes_of_elements_that_begin_again_are_left_out(name: bytes) -> None:
    again = b"".join(b"<%b a%d=1>" % (name, number) for number in range(20_000))
    flat = flatten(again + b"<a href=x>")
    assert flat.is_changed
    assert len(flat.html) < 1_000 + flat.html.count(b">")
    assert b"<a href=x>" in flat.html
