"""URLs as pages of ill will have them: all the places where two could be taken for one."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from webtable.errors import InvalidUrl
from webtable.pages.urls import canonical_url

__all__ = ["hostile_urls"]

_HOSTS = st.one_of(
    st.sampled_from(
        [
            "example.com",
            "example2.com",
            "example-x.com",
            "example_x.com",
            "sub.example.com",
            "example.com.",
            "com",
            "com.example",
            "a~b.com",
            "home",
            "127.0.0.1",
            "1.2.3.4",
            "4.3.2.1",
            "[::1]",
            "[::1:8080]",
            "xn--mnchen-3ya.de",
        ]
    ),
    st.text("ab_~-.1!$", min_size=1, max_size=8),
)
_PORTS = st.sampled_from(["", ":80", ":443", ":8080", ":1"])
_PIECES = st.sampled_from(
    ["home", "a", "b", "/", "//", "_", "~", "-", ".", "?", "&", ":", ":http", "%2F", "%00", "é",
     "=", "~" + "0" * 20, "a" * 24, "b" * 25, "c" * 990]
)  # fmt: skip
_PATHS = st.lists(_PIECES, max_size=5).map("".join)


@st.composite
def _urls(draw: DrawFn) -> str:
    scheme = draw(st.sampled_from(["http", "https"]))
    text = f"{scheme}://{draw(_HOSTS)}{draw(_PORTS)}/{draw(_PATHS)}"
    try:
        return canonical_url(text)
    except InvalidUrl:
        assume(False)
        raise


def hostile_urls() -> SearchStrategy[str]:
    """Returns canonical URLs that are close to one another."""
    return _urls()
