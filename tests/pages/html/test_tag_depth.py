"""The tags of a page, in plain Python and compiled."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webtable import compiled
from webtable.pages.html import depth_limit
from webtable.pages.html import tag_depth as plain

CHOSEN = compiled.load("webtable.pages.html", "tag_depth")
NAMES = (
    *("div", "DIV", "b", "I", "table", "td", "p", "a", "br", "section", "x-y", "script", "Title"),
    *("svg", "math", "path", "foreignObject", "annotation-xml", "blockquote", "html", "body"),
    *("a-very-long-name-of-an-element-of-one-program", "a-very-long-name-of-another-element"),
)
pieces = st.one_of(
    st.sampled_from(NAMES).map("<{}>".format),
    st.sampled_from(NAMES).map("</{}>".format),
    st.sampled_from(NAMES).map('<{} class="<div>">'.format),
    st.sampled_from(
        ("text", "<!--", "-->", "<!-->", "<", "</", ">", "/", " ", "<script", "\0<b\n>")
    ),
    st.text(alphabet="<>/! -ab\t\x0b\x1c", max_size=4),
)
pages = st.lists(pieces, max_size=60).map(lambda found: "".join(found).encode())


@given(pages)
@example(b"<body\n<BODY/ x></body ><html")
@example(b"<b><B x></b></strong/<small")
def test_both_forms_count_the_same(page: bytes) -> None:
    assert CHOSEN.count_tags(page) == plain.count_tags(page)


@pytest.mark.skipif(not CHOSEN.COMPILED, reason="no compiled form here")
@settings(max_examples=500)
@given(page=pages, depth=st.integers(0, 8), formatting=st.integers(0, 4), tags=st.integers(0, 60))
@example(page=b"<svg><a><p></a><div><a>", depth=2, formatting=2, tags=50)
@example(page=b"<table><b><div></table><td></b></div><x>", depth=3, formatting=2, tags=50)
def test_both_forms_find_the_same_pages_too_deep(
    page: bytes, depth: int, formatting: int, tags: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(depth_limit, "MAX_DEPTH", depth)
        patch.setattr(depth_limit, "_MAX_FORMATTING", formatting)
        patch.setattr(depth_limit, "MAX_TAGS", tags)
        expected = depth_limit._nests_too_deep(page)
    assert CHOSEN.is_too_deep(page, depth, formatting, tags) == expected


@pytest.mark.skipif(not CHOSEN.COMPILED, reason="no compiled form here")
def test_links_in_foreign_content_nest_beside_other_elements() -> None:
    within = b"<svg>" + b"<g>" * 500 + b"<a>" * 511
    assert not CHOSEN.is_too_deep(within, 512, 8, 500_000)
    assert CHOSEN.is_too_deep(within + b"<a><a>", 512, 8, 500_000)
    with pytest.raises(ValueError, match="512"):
        CHOSEN.is_too_deep(within, 513, 8, 500_000)
