"""Cursors of answers about links: parts of bytes with tabs between them, as a text of Latin-1.

No URI and no row key of a page has a tab.
"""

from __future__ import annotations

import re

from webtable.pages.asking.results import wrong_cursor

__all__ = ["check_rank", "check_uri", "cursor_of", "link_place", "number_of", "parts_of"]

_URI = re.compile(rb"[^/\t]+/[^\t]*")
_RANK = re.compile(rb"[0-9a-f]{8}:[^/\t]+/[^\t]*")


def cursor_of(*parts: bytes) -> str:
    r"""Returns the cursor that has these parts.

    >>> cursor_of(b"com.example/", b"2")
    'com.example/\t2'
    """
    return b"\t".join(parts).decode("latin-1")


def parts_of(cursor: str, count: int) -> list[bytes]:
    """Returns the parts of a cursor; the last one may have tabs itself.

    Raises:
        InvalidRequest: it has not so many.
    """
    try:
        parts = cursor.encode("latin-1").split(b"\t", count - 1)
    except UnicodeEncodeError as exc:
        raise wrong_cursor(cursor) from exc
    if len(parts) != count:
        raise wrong_cursor(cursor)
    return parts


def number_of(part: bytes) -> int:
    """Returns the number that a part of a cursor is.

    Raises:
        InvalidRequest: it is none.
    """
    if not part.isdigit():
        raise wrong_cursor(part.decode("latin-1"))
    return int(part)


def link_place(after: str | None) -> tuple[bytes, int]:
    """Returns the source that a cursor is in, and the number of the last of its links shown.

    Raises:
        InvalidRequest: it is no such cursor.
    """
    if after is None:
        return b"", -1
    source, number = parts_of(after, 2)
    return check_uri(source), number_of(number)


def check_uri(part: bytes) -> bytes:
    """Returns a part of a cursor that is the URI of a page.

    Raises:
        InvalidRequest: it is none.
    """
    if not _URI.fullmatch(part):
        raise wrong_cursor(part.decode("latin-1"))
    return part


def check_rank(part: bytes) -> bytes:
    """Returns a part of a cursor that is the place of a page among those that are linked most.

    Raises:
        InvalidRequest: it is none.
    """
    if not _RANK.fullmatch(part):
        raise wrong_cursor(part.decode("latin-1"))
    return part
