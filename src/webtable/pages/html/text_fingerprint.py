"""The words of a page's visible text, and the fingerprint of the text.

A word is text between white space with at least one letter or digit; each Chinese or Japanese
character is a word. ASCII letters count in lower case, punctuation does not count.

The fingerprint is a simhash: pages with similar text have fingerprints that differ in few bits. Its
features are the hashes of three consecutive words. On-disk: fingerprints are stored, so a
change of these rules needs a new version of `webtable.pages.body_facts`.

Cython compiles this file to machine code where possible, with the C types and the inner loops of
`_text_fingerprint.pxd`; import it from `page_scan`. Both forms do the same.
"""

from __future__ import annotations

import re

__all__ = ["COMPILED", "VisibleText", "fingerprint_of"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

# In the compiled form this is a C variable, and its branches call C of `_text_fingerprint.pxd`.
_compiled = COMPILED
_MASK = (1 << 64) - 1
_SPACES = re.compile(
    rb"\xc2[\x85\xa0]|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80"
    rb"|&(?:nbsp|ensp|emsp|thinsp|#160|#xa0|#xA0);"
)
_SIGNS = re.compile(
    rb"\xc2[\x80-\xbf]|\xe2[\x80\x81][\x80-\xbf]|\xe3\x80[\x80-\xbf]"
    rb"|&(?:amp|lt|gt|quot|apos|#34|#38|#39|#039|#60|#62|#x27|#x22|ndash|mdash|hellip|lsquo|rsquo"
    rb"|ldquo|rdquo|laquo|raquo|middot|bull|copy|reg|trade|times|rarr|larr|#8211|#8212|#8216|#8217"
    rb"|#8220|#8221|#8226|#8230|#187|#171|#169|#8594);"
)
_SINGLE = re.compile(
    rb"\xe3[\x81-\x83\x90-\xbf][\x80-\xbf]|[\xe4-\xe9][\x80-\xbf][\x80-\xbf]"
    rb"|\xef[\xa4-\xab][\x80-\xbf]|\xf0[\xa0-\xbf][\x80-\xbf][\x80-\xbf]"
)
_LOWER = bytes(each + 32 if 65 <= each <= 90 else each for each in range(256))
_PUNCTUATION = bytes(each for each in range(128) if not chr(each).isalnum())
_MAX_CACHED_WORDS, _MAX_CACHED_BYTES = 50_000, 40
# Odd numbers with about as many ones as zeros: a product mixes the bits of its other factor.
_FACTOR, _LAST_FACTOR = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
_hashes: dict[bytes, int] = {}
if _compiled:
    fill_classes()  # type: ignore[name-defined]  # noqa: F821


class VisibleText:
    """Counts words and collects their features.

    Attributes:
        words: how many words were added.
    """

    def __init__(self) -> None:
        if _compiled:
            clear(self)  # type: ignore[name-defined]  # noqa: F821
        else:
            self.words = 0
            self._features: list[int] = []
            self._before = self._last = 0

    def add(self, html: bytes, start: int, stop: int) -> None:
        """Adds the text between two tags."""
        if _compiled:
            add_text(self, html, start, stop)  # type: ignore[name-defined]  # noqa: F821
            return
        text = html[start:stop]
        if b"&" in text or not text.isascii():
            # A sign becomes one of ASCII, so that the bytes on both sides are not joined.
            text = _SINGLE.sub(rb" \g<0> ", _SIGNS.sub(b".", _SPACES.sub(b" ", text)))
        for word in text.split():
            number = _hashes.get(word)
            if number is None:
                number = _word_hash(word)
            if number:
                self.words += 1
                if self.words > 2:
                    self._features.append((5 * self._before + 3 * self._last + number) & _MASK)
                self._before, self._last = self._last, number

    def fingerprint(self) -> int:
        """Returns the simhash of the words."""
        if _compiled:
            return simhash(self)  # type: ignore[name-defined, no-any-return]  # noqa: F821
        if self.words < 3:
            return (3 * self._before + self._last) & _MASK
        return fingerprint_of(self._features)


def fingerprint_of(features: list[int]) -> int:
    """Returns the number whose bits are those that more than half of the features have."""
    together = int.from_bytes(b"".join([each.to_bytes(8, "little") for each in features]), "little")
    ones = int.from_bytes(b"\x01\0\0\0\0\0\0\0" * len(features), "little")
    half = len(features)
    return sum(1 << bit for bit in range(64) if 2 * (together & ones << bit).bit_count() > half)


def _word_hash(word: bytes) -> int:
    """Returns a hash of the letters and digits of a word; 0 where it has none."""
    kept = word.translate(_LOWER, _PUNCTUATION)
    number = 0
    for at in range(0, len(kept), 8):
        number = (number ^ int.from_bytes(kept[at : at + 8], "little")) * _FACTOR & _MASK
        number ^= number >> 32
    if kept:
        number = number * _LAST_FACTOR & _MASK
        number = (number ^ number >> 29) or 1
    if len(word) <= _MAX_CACHED_BYTES:
        if len(_hashes) >= _MAX_CACHED_WORDS:
            _hashes.clear()
        _hashes[word] = number
    return number
