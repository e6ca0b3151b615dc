"""The hottest code of the link index: the links of a page become states of their targets.

Made into machine code where that can be, by Cython from this very file and the C types in
`_target_states.pxd`; import it from `cells`. Both forms do the same.
"""

from __future__ import annotations

from webtable.links.schema import origin_name

__all__ = ["COMPILED", "live_values"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

_compiled = (
    COMPILED  # the same as a C variable; with what stands behind it, C of `_target_states.pxd`
)
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
    begin, stop = 0, -1  # the URL of the line before
    origin = name = uri = value = b""
    while True:
        end = _find(data, _LINE, start, size)
        tab = _find(data, _TAB, start, end)
        words = tab + 1 if tab < end else end
        if tab - start == stop - begin and _is_same(data, start, begin, tab - start):
            # Those of one target mostly stand side by side, and those of one host.
            value = _joined(value, _LINE, data, words, end)
        else:
            begin, stop = start, tab
            slash = _find(data, _SLASH, start + 8, tab)
            if slash >= tab:
                raise ValueError(f"{data[start:tab]!r:.80} is no canonical URL")
            if data[start:slash] != origin:
                origin = data[start:slash]
                name = origin_name(origin.decode()).encode()
            uri = name + data[slash:tab]
            known = states.get(uri)
            if known is None:
                value = _joined(b"", _PLUS, data, words, end)
            else:
                value = _joined(known, _LINE, data, words, end)
        states[uri] = value
        if end == size:
            return states
        start = end + 1


def _find(data: bytes, byte: int, start: int, end: int) -> int:
    """Returns where a byte is first, in a part of data; its end where it is not there."""
    if _compiled:
        return find_byte(data, byte, start, end)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    at = data.find(byte, start, end)
    return end if at < 0 else at


def _is_same(data: bytes, one: int, other: int, size: int) -> bool:
    """Whether two parts of data are the same."""
    if _compiled:
        return are_same(data, one, other, size)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    return data[one : one + size] == data[other : other + size]


def _joined(value: bytes, sign: int, data: bytes, start: int, end: int) -> bytes:
    """Returns a value with a sign and a part of data behind it."""
    if _compiled:
        return join(value, sign, data, start, end)  # type: ignore[name-defined, no-any-return]  # noqa: F821
    return b"%b%c%b" % (value, sign, data[start:end])
