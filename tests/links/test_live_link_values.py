"""The links of a page become states, in plain Python and compiled."""

from __future__ import annotations

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable import compiled
from webtable.links import live_link_values as plain
from webtable.links.schema import uri_of

FORMS = [plain, compiled.load("webtable.links", "live_link_values")]

urls = st.sampled_from(
    [
        "https://a.com/",
        "https://a.com/b",
        "https://a.com/b?x=1",
        "http://a.com/",
        "http://a.com:8080/",
        "https://docs.a.co.uk/ü/%20",
        "https://[::1]/",
        "http://b/",
    ]
)
marks = st.characters(exclude_characters="\t\n", codec="utf-8")
words = st.text(marks, max_size=8)
links = st.lists(st.tuples(urls, words, words), max_size=12)


@pytest.mark.parametrize("form", FORMS, ids=["plain", "chosen"])
@given(drawn=links)
def test_states_of_the_links_of_a_page(form: ModuleType, drawn: list[tuple[str, str, str]]) -> None:
    expected: dict[bytes, list[str]] = {}
    for url, rel, anchor in drawn:
        expected.setdefault(uri_of(url), []).append(f"{rel}\t{anchor}")
    text = "\n".join("\t".join(link) for link in drawn)
    wanted = {uri: b"+" + "\n".join(each).encode() for uri, each in expected.items()}
    found = form.live_values(text)
    assert found == wanted
    assert list(found) == list(wanted)


@pytest.mark.parametrize("form", FORMS, ids=["plain", "chosen"])
@pytest.mark.parametrize("text", ["x", "https://a", "\n", "https://a.com/\t\tx\n", "https:/\t/a/b"])
def test_lines_that_are_no_links(form: ModuleType, text: str) -> None:
    with pytest.raises(ValueError, match="is not a canonical URL"):
        form.live_values(text)


@pytest.mark.parametrize("form", FORMS, ids=["plain", "chosen"])
def test_a_line_without_an_anchor(form: ModuleType) -> None:
    assert form.live_values("https://a.com/") == {b"com.a/": b"+"}
    assert form.live_values("https://a.com/\nhttps://a.com/\trel\t") == {b"com.a/": b"+\nrel\t"}
