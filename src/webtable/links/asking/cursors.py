"""Cursors of results about links: byte strings with tabs between them, decoded as Latin-1.

A URI or a row key of a page has no tab. `Results` accepts only the cursors of the same query.
"""

from __future__ import annotations

from webtable.pages.asking.paged_results import wrong_cursor

__all__ = ["cursor_of", "link_place", "number_of", "parts_of"]


def cursor_of(*parts: bytes) -> str:
    r"""Joins parts into a cursor.

    >>> cursor_of(b"com.example/", b"2")
    'com.example/\t2'
    """
    return b"\t".join(parts).decode("latin-1")


def parts_of(cursor: str, count: int) -> list[bytes]:
    """Splits a cursor into its parts; the last part may contain tabs.

    Raises:
        InvalidRequest: the cursor has fewer parts.
    """
    try:
        parts = cursor.encode("latin-1").split(b"\t", count - 1)
    except UnicodeEncodeError as exc:
        raise wrong_cursor(cursor) from exc
    if len(parts) != count:
        raise wrong_cursor(cursor)
    return parts


def number_of(part: bytes) -> int:
    """Decodes a part of a cursor as a number.

    Raises:
        InvalidRequest: the part is not a number.
    """
    if not part.isdigit():
        raise wrong_cursor(part.decode("latin-1"))
    return int(part)


def link_place(after: str | None) -> tuple[bytes, int]:
    """Decodes a cursor into a source and the number of its last link that was returned.

    Raises:
        InvalidRequest: the cursor has another form.
    """
    if after is None:
        return b"", -1
    source, number = parts_of(after, 2)
    return source, number_of(number)
