"""Charsets: which one counts, and what labels mean."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.pages.html import charset
from webtable.pages.html.charset import charset_of_label, decode_page


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("utf8", "UTF-8"),
        (" ISO-8859-1\n", "windows-1252"),
        ("ascii", "windows-1252"),
        ("gb2312", "GBK"),
        ("shift-jis", "Shift_JIS"),
        ("ks_c_5601-1987", "EUC-KR"),
        ("latin5", "windows-1254"),
        ("utf-16", "UTF-16LE"),
        ("klingon", ""),
        ("", ""),
        ("utf-7", ""),
    ],
)
def test_labels_mean_what_the_standard_says(label: str, name: str) -> None:
    assert charset_of_label(label) == name


def test_every_charset_has_a_codec() -> None:
    for name, (codec, labels) in charset._CHARSETS.items():
        assert codecs.lookup(codec)
        assert charset_of_label(name) == name or name in ("gb18030", "x-user-defined")
        assert labels == labels.lower()


@pytest.mark.parametrize(
    ("body", "header", "name", "text"),
    [
        # A mark counts before all else, then the header, then the page itself.
        (b"\xef\xbb\xbf\xc3\xa9", "koi8-r", "UTF-8", "é"),
        ("é".encode("utf-16"), "utf-8", "UTF-16LE", "é"),
        (b"\xfe\xff" + "é".encode("utf-16-be"), "", "UTF-16BE", "é"),
        ("Привет".encode("koi8-r"), "koi8-r", "KOI8-R", "Привет"),
        (b"<meta charset=koi8-r>\xe9", "iso-8859-1", "windows-1252", "<meta charset=koi8-r>é"),
        (b"<meta charset=iso-8859-1>\x80", "", "windows-1252", "<meta charset=iso-8859-1>€"),
        (
            b"<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=\"koi8-u\"'>\xc1",
            "",
            "KOI8-U",
            "<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=\"koi8-u\"'>а",
        ),
        (b'<?xml version="1.0" encoding="iso-8859-2"?>\xb1', "", "ISO-8859-2", None),
        (b"<!-- <meta charset=koi8-r> --><p>\xc3\xa9", "", "UTF-8", None),
        (b"<meta charset=utf-16><p>\xc3\xa9", "", "UTF-8", None),
        (b"<p>\xc3\xa9", "", "UTF-8", "<p>é"),
        (b"", "", "UTF-8", ""),
        (b"x" * 1_100 + b"<meta charset=koi8-r>", "", "UTF-8", None),
    ],
)
def test_the_first_declared_charset_counts(
    body: bytes, header: str, name: str, text: str | None
) -> None:
    decoded = decode_page(body, header)
    assert (decoded.charset, decoded.is_unknown) == (name, False)
    if text is not None:
        assert decoded.utf8.decode() == text


def test_an_unknown_charset_is_noted_and_passed_over() -> None:
    assert decode_page(b"<p>\xc3\xa9", "klingon") == (b"<p>\xc3\xa9", "UTF-8", True)
    decoded = decode_page(b"<meta charset=klingon>abc")
    assert (decoded.charset, decoded.is_unknown) == ("UTF-8", True)


def test_without_a_guess_what_is_no_utf8_is_windows_1252(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charset, "detect_encoding", None)
    assert decode_page(b"\xe9t\xe9 \x80") == ("été €".encode(), "windows-1252", False)


def test_a_guess_counts_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charset, "detect_encoding", lambda _: "cp1251")
    assert decode_page("Привет".encode("cp1251")).charset == "windows-1251"
    monkeypatch.setattr(charset, "detect_encoding", lambda _: "rot13-ish")
    assert decode_page("Привет".encode("cp1251")).charset == "windows-1252"


@given(st.binary(max_size=300), st.sampled_from(sorted(charset._BY_LABEL)))
def test_any_bytes_in_any_charset_become_text(body: bytes, label: str) -> None:
    decoded = decode_page(body, label)
    if decoded.charset != "UTF-8":
        decoded.utf8.decode()
