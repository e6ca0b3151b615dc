r"""Foreign text for terminals: what pages, files and servers say, made safe to print.

A title may hold the bytes that clear a screen, change a window's title or write to the clipboard.
Every text that a command prints for people passes through `show_text`, whether standard output is a
terminal or a pipe: what is piped through `grep` or `head` ends on a terminal, too.

Escaped are control characters (C0, DEL, C1), line separators, characters that reorder the text
around them (bidirectional embeddings, overrides and isolates), invisible characters that no script
needs, and surrogates, which stand for bytes that are not UTF-8. Kept are the joiners and direction
marks that Persian, Hebrew, Hindi, Thai and emoji need: they affect their neighbours only, and two
texts that look alike can be made without them.
"""

from __future__ import annotations

import json
import re

__all__ = ["show_json", "show_text"]

_SEPARATORS = r"\u2028\u2029"
_REORDERING = r"\u202a-\u202e\u2066-\u2069"
_INVISIBLE = r"\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_SURROGATES = r"\ud800-\udfff"
_ALWAYS = rf"\x7f-\x9f{_SEPARATORS}{_REORDERING}{_INVISIBLE}{_SURROGATES}"
_UNSAFE = re.compile(rf"[\x00-\x1f{_ALWAYS}]")
# JSON escapes C0 itself; its own line ends must stay.
_UNSAFE_IN_JSON = re.compile(rf"[{_ALWAYS}]")
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def show_text(text: str, *, keep: str = "") -> str:
    r"""Returns a text with visible escapes in place of what a terminal would obey or hide.

    Args:
        keep: characters to leave as they are, such as the tabs of a source text.

    >>> print(show_text("a\x1b[2Jb\u202ec\n"))
    a\x1B[2Jb\u202Ec\n
    """
    if text.isprintable():  # as nearly all are; a superset of what is escaped is not printable
        return text
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), text)


def show_json(text: str) -> str:
    r"""Returns JSON of the same value, without characters that a terminal would obey or hide.

    >>> print(show_json('"\x9b2J"'))
    "\u009b2J"
    """
    return _UNSAFE_IN_JSON.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escaped(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    number = ord(char)
    if 0xDC80 <= number <= 0xDCFF:  # a byte that is not UTF-8, as Python keeps it in paths
        number -= 0xDC00
    if number < 0x100:
        return f"\\x{number:02X}"
    return f"\\u{number:04X}" if number < 0x10000 else f"\\U{number:08X}"
