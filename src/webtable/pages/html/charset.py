"""Finds the charset of a page and decodes its bytes.

The first of these that exists decides, as in browsers: a byte order mark; the Content-Type header;
a `meta` element (or an XML declaration) within the first 1,024 bytes; then detection: UTF-8 where
the bytes are valid UTF-8, else the guess of resiliparse where that is installed, else windows-1252.
The mark precedes the header because it is part of the bytes; the header is a setting of the server
and may be wrong.

Labels have the meaning of the WHATWG encoding standard: `iso-8859-1` is windows-1252,
`gb2312` is gb18030, `shift_jis` has Microsoft's additions. The names are the standard's.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import NamedTuple

try:
    from resiliparse.parse.encoding import detect_encoding
except ImportError:  # optional: without it, bytes that are not UTF-8 are read as windows-1252
    detect_encoding = None

__all__ = ["Decoded", "charset_of_label", "decode_page"]

_META_BYTES = 1024
_DETECTION_BYTES = 64 * 1024
_FALLBACK = "windows-1252"
_UNLIKE_ASCII = frozenset({"ISO-2022-JP", "UTF-16BE", "UTF-16LE"})

# The standard's names, each with Python's codec and the labels that mean it.
_CHARSETS = {
    "UTF-8": ("utf-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8"),
    "IBM866": ("cp866", "866 cp866 csibm866 ibm866"),
    "ISO-8859-2": (
        "iso8859-2",
        "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    ),
    "ISO-8859-3": (
        "iso8859-3",
        "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    ),
    "ISO-8859-4": (
        "iso8859-4",
        "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    ),
    "ISO-8859-5": (
        "iso8859-5",
        "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 "
        "iso_8859-5:1988",
    ),
    "ISO-8859-6": (
        "iso8859-6",
        "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 "
        "iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    ),
    "ISO-8859-7": (
        "iso8859-7",
        "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 "
        "iso_8859-7 iso_8859-7:1987 sun_eu_greek",
    ),
    "ISO-8859-8": (
        "iso8859-8",
        "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 "
        "iso88598 iso_8859-8 iso_8859-8:1988 visual",
    ),
    "ISO-8859-8-I": ("iso8859-8", "csiso88598i iso-8859-8-i logical"),
    "ISO-8859-10": (
        "iso8859-10",
        "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    ),
    "ISO-8859-13": ("iso8859-13", "iso-8859-13 iso8859-13 iso885913"),
    "ISO-8859-14": ("iso8859-14", "iso-8859-14 iso8859-14 iso885914"),
    "ISO-8859-15": (
        "iso8859-15",
        "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    ),
    "ISO-8859-16": ("iso8859-16", "iso-8859-16"),
    "KOI8-R": ("koi8-r", "cskoi8r koi koi8 koi8-r koi8_r"),
    "KOI8-U": ("koi8-u", "koi8-ru koi8-u"),
    "macintosh": ("mac-roman", "csmacintosh mac macintosh x-mac-roman"),
    "windows-874": ("cp874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"),
    "windows-1250": ("cp1250", "cp1250 windows-1250 x-cp1250"),
    "windows-1251": ("cp1251", "cp1251 windows-1251 x-cp1251"),
    "windows-1252": (
        "cp1252",
        "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 "
        "iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    ),
    "windows-1253": ("cp1253", "cp1253 windows-1253 x-cp1253"),
    "windows-1254": (
        "cp1254",
        "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 "
        "l5 latin5 windows-1254 x-cp1254",
    ),
    "windows-1255": ("cp1255", "cp1255 windows-1255 x-cp1255"),
    "windows-1256": ("cp1256", "cp1256 windows-1256 x-cp1256"),
    "windows-1257": ("cp1257", "cp1257 windows-1257 x-cp1257"),
    "windows-1258": ("cp1258", "cp1258 windows-1258 x-cp1258"),
    "x-mac-cyrillic": ("mac-cyrillic", "x-mac-cyrillic x-mac-ukrainian"),
    "GBK": (
        "gb18030",  # the standard decodes GBK as its superset
        "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    ),
    "gb18030": ("gb18030", "gb18030"),
    "Big5": ("big5hkscs", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
    "EUC-JP": ("euc_jp", "cseucpkdfmtjapanese euc-jp x-euc-jp"),
    "ISO-2022-JP": ("iso2022_jp", "csiso2022jp iso-2022-jp"),
    "Shift_JIS": (
        "cp932",
        "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    ),
    "EUC-KR": (
        "cp949",
        "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 "
        "ksc_5601 windows-949",
    ),
    "UTF-16BE": ("utf-16-be", "unicodefffe utf-16be"),
    "UTF-16LE": (
        "utf-16-le",
        "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    ),
    "x-user-defined": ("latin-1", "x-user-defined"),
}

_BY_LABEL = {label: name for name, (_, labels) in _CHARSETS.items() for label in labels.split()}
_CODECS = {name: codec for name, (codec, _) in _CHARSETS.items()}
_BY_CODEC = {codecs.lookup(codec).name: name for name, codec in _CODECS.items()}

_META = re.compile(rb"<meta[\s/]([^>]*)", re.IGNORECASE)
_META_CHARSET = re.compile(rb"""charset\s*+=\s*+["']?+\s*+([^\s"'/>;]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""\s*+<\?xml\s[^>]*?encoding\s*+=\s*+["']([^"']+)["']""")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)


class Decoded(NamedTuple):
    """The text of a page, as UTF-8, and the charset of the original bytes."""

    utf8: bytes
    charset: str
    is_unknown: bool = False
    """Whether the page or its server named a charset that is not in the standard."""


@lru_cache(1024)
def charset_of_label(label: str) -> str:
    """Returns the standard's name of the charset of a label; empty for an unknown label.

    >>> charset_of_label(" ISO-8859-1 ")
    'windows-1252'
    """
    return _BY_LABEL.get(label.strip("\t\n\f\r ").lower(), "")


def decode_page(body: bytes, header_charset: str = "") -> Decoded:
    """Returns the text of a page as UTF-8, whatever charset it is in.

    Bytes that are not valid in the charset become replacement characters. An unknown label is
    ignored.
    """
    charset, skip = _marked(body)
    is_unknown = False
    if not charset and header_charset:
        charset = charset_of_label(header_charset)
        is_unknown = not charset
    if not charset:
        label = _declared(body)
        if label:
            charset = charset_of_label(label)
            if charset.startswith("UTF-16"):
                charset = "UTF-8"  # the element is readable as ASCII, so the page is not UTF-16
            elif charset == "x-user-defined":
                charset = _FALLBACK
            is_unknown = is_unknown or not charset
    if not charset:
        charset = _detected(body)
    # The parser inserts replacement characters itself, and most pages in other charsets contain
    # only ASCII.
    if charset == "UTF-8" or (charset not in _UNLIKE_ASCII and body.isascii()):
        return Decoded(body[skip:] if skip else body, charset, is_unknown)
    text = body[skip:].decode(_CODECS[charset], "replace")
    return Decoded(text.encode("utf-8", "replace"), charset, is_unknown)


def _marked(body: bytes) -> tuple[str, int]:
    """Returns the charset of a byte order mark and the mark's length."""
    if body.startswith(b"\xef\xbb\xbf"):
        return "UTF-8", 3
    if body.startswith(b"\xfe\xff"):
        return "UTF-16BE", 2
    if body.startswith(b"\xff\xfe"):
        return "UTF-16LE", 2
    return "", 0


def _declared(body: bytes) -> str:
    """Returns the charset label in the first bytes of the page; empty where it has none."""
    start = body[:_META_BYTES]
    if b"<!--" in start:
        start = _COMMENT.sub(b"", start)
    for meta in _META.finditer(start):
        found = _META_CHARSET.search(meta[1])
        if found and (found.start() == 0 or meta[1][found.start() - 1] in b" \t\r\n\f\"'/;"):
            return found[1].decode("latin-1")
    found = _XML_ENCODING.match(start)
    return found[1].decode("latin-1") if found else ""


def _detected(body: bytes) -> str:
    try:
        codecs.utf_8_decode(body, "strict", True)
    except UnicodeDecodeError:
        pass
    else:
        return "UTF-8"
    if detect_encoding is not None:
        guess = detect_encoding(body[:_DETECTION_BYTES])
        try:
            return _BY_CODEC.get(codecs.lookup(guess).name, _FALLBACK)
        except LookupError:
            pass
    return _FALLBACK
