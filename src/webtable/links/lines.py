"""The hottest code of the link index: the links of a page become states of their targets.

Made into machine code where that can be, by Cython from this very file and the C types in
`_lines.pxd`; import it from `cells`. Both forms do the same.
"""

from __future__ import annotations

from webtable.links.schema import origin_name

__all__ = ["COMPILED", "live_values"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

_compiled = COMPILED  # the same as a C variable
_TAB, _LINE, _SLASH = 9, 10, 47


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
    last = origin = name = uri = b""
    while True:
        end = _find(data, _LINE, start, size)
        tab = _find(data, _TAB, start, end)
        url = data[start:tab]
        if url != last:
            # Those of one target mostly stand side by side, and those of one host.
            last = url
            slash = _find(data, _SLASH, start + 8, tab)
            if slash >= tab:
                raise ValueError(f"{url!r:.80} is no canonical URL")
            if data[start:slash] != origin:
                origin = data[start:slash]
                name = origin_name(origin.decode()).encode()
            uri = name + data[slash:tab]
        words = data[tab + 1 : end] if tab < end else b""
        known = states.get(uri)
        states[uri] = b"+" + words if known is None else known + b"\n" + words
        if end == size:
            return states
        start = end + 1


def _find(data: bytes, byte: int, start: int, end: int) -> int:
    """Returns where a byte is first, in a part of data; its end where it is not there."""
    if _compiled:
        while start < end and data[start] != byte:
            start += 1
        return start if start < end else end
    at = data.find(byte, start, end)
    return end if at < 0 else at
