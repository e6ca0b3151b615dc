"""Pages that nest too deep: the quick look at a page and the exact one agree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webtable.pages.html import depth_limit
from webtable.pages.html.depth_limit import flatten

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
