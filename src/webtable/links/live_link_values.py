"""The hottest code of the link index: computes the states of the targets from a page's links.

Cython compiles this file to machine code where possible, with the C types of
`_live_link_values.pxd`; import it from `cell_encoding`. Both forms do the same.
"""

from __future__ import annotations

from webtable.links.schema import origin_name

__all__ = ["COMPILED", "live_values"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

# In the compiled form this is a C variable, and its branches call C of `_live_link_values.pxd`.
_compiled = COMPILED
_TAB, _LINE, _PLUS, _SLASH = 9, 10, 43, 47


def live_values(text: str) -> dict[bytes, bytes]:
    r"""Returns target URI → the state of the link there, of the links of a page.

    >>> live_values("https://a.com/\t\tHome\nhttps://a.com/\tnofollow\tA")
    {b'com.a/': b'+\tHome\nnofollow\tA'}
    """
    states: dict[bytes, bytes] = {}
    if not text:
        return states
    data = text.encode()
    size, start = len(data), 0
    begin, stop = 0, -1  # the URL of the previous line
    origin = name = uri = value = b""
    while True:
        end = _find(data, _LINE, start, size)
        tab = _find(data, _TAB, start, end)
        text_start = tab + 1 if tab < end else end
        if tab - start == stop - begin and _is_same(data, start, begin, tab - start):
            # Links to one target are mostly side by side, and links to one host as well.
            value = _joined(value, _LINE, data, text_start, end)
        else:
            begin, stop = start, tab
            slash = _find(data, _SLASH, start + 8, tab)
            if slash >= tab:
                raise ValueError(f"{data[start:tab]!r:.80} is not a canonical URL")
            if data[start:slash] != origin:
                origin = data[start:slash]
                name = origin_name(origin.decode()).encode()
            uri = name + data[slash:tab]
            earlier = states.get(uri)
            if earlier is None:
                value = _joined(b"", _PLUS, data, text_start, end)
            else:
                value = _joined(earlier, _LINE, data, text_start, end)
        states[uri] = value
        if end == size:
            return states
        start = end + 1


def _find(data: bytes, byte: int, start: int, end: int) -> int:
    """Returns the first position of a byte in a part of data; the end of the part if missing."""
    if _compiled:
        return find_byte(data, byte, start, end)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    at = data.find(byte, start, end)
    return end if at < 0 else at


def _is_same(data: bytes, one: int, other: int, size: int) -> bool:
    """Whether two parts of data are equal."""
    if _compiled:
        return are_same(data, one, other, size)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    return data[one : one + size] == data[other : other + size]


def _joined(value: bytes, sign: int, data: bytes, start: int, end: int) -> bytes:
    """Returns a value followed by a sign and a part of data."""
    if _compiled:
        return join(value, sign, data, start, end)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    return b"%b%c%b" % (value, sign, data[start:end])
