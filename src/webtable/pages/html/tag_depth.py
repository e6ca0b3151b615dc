"""Counts the tags of a page and their depth, for `webtable.pages.html.depth_limit`.

Cython compiles this file to machine code where possible, with the C types and the loops of
`_tag_depth.pxd`; import it from `depth_limit`. Both forms count the same. Only the compiled form
computes the depth: in plain Python `depth_limit` does it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["COMPILED", "TagCounts", "count_tags", "is_too_deep", "name_elements"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

# In the compiled form this is a C variable, and its branches call C of `_tag_depth.pxd`.
_compiled = COMPILED
_FORMATTING_TAG = re.compile(
    rb"<(/?)(?:b(?:ig)?|code|em|font|i|nobr|s(?:mall|trike|trong)?|tt|u)[\s/>]", re.IGNORECASE
)
_ROOT_TAG = re.compile(rb"<(?:html|body)[\s/]", re.IGNORECASE)


class TagCounts(NamedTuple):
    """The tags of a page, including those in comments and scripts.

    Attributes:
        tags: how many times it has `<`.
        ends: how many times it has `</`.
        roots: how many start tags of `html` and `body` have attributes.
        formatting: how many formatting elements begin, minus how many end.
    """

    tags: int
    ends: int
    roots: int
    formatting: int


def count_tags(html: bytes) -> TagCounts:
    """Counts the tags of a page."""
    if _compiled:
        return TagCounts(*counted(html))  # type: ignore[name-defined]  # noqa: F821
    slashes = _FORMATTING_TAG.findall(html)
    return TagCounts(
        html.count(b"<"),
        html.count(b"</"),
        len(_ROOT_TAG.findall(html)),
        len(slashes) - 2 * slashes.count(b"/"),
    )


def name_elements(kinds: Iterable[Iterable[bytes]]) -> None:
    """Sets the names of the elements that `is_too_deep` distinguishes.

    Args:
        kinds: the names of each kind, in the order of the kinds in `_tag_depth.pxd`. A name has
            at most sixteen letters.
    """
    if not _compiled:
        return
    for number, names in enumerate(kinds):
        for name in names:
            add_name(name, 1 << number)  # type: ignore[name-defined]  # noqa: F821


def is_too_deep(html: bytes, max_depth: int, max_formatting: int, max_tags: int) -> bool:
    """Whether tags of a page nest too deep; see `depth_limit`. Only the compiled form has it.

    Args:
        html: the page.
        max_depth: the limit of open elements, at most 512.
        max_formatting: the limit of open formatting elements.
        max_tags: the limit of tags.
    """
    return nests_too_deep(html, max_depth, max_formatting, max_tags)  # type: ignore[name-defined, no-any-return]  # noqa: F821
