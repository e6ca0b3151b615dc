"""Exports pages: as WARC, which loads back to the same pages, as JSON lines, or as CDXJ."""

from __future__ import annotations

import codecs
import email.utils
import http
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, Literal, TextIO, TypeAlias, cast

import msgspec

from webtable.errors import InvalidRequest
from webtable.output_file import new_file
from webtable.pages.asking.export_heads import adjusted_head
from webtable.pages.columns import URL
from webtable.pages.formats.http_responses import parse_head
from webtable.pages.formats.payload_digests import checked
from webtable.pages.formats.warc_writer import CrawlWriter, Response
from webtable.pages.html.charset import decode_page
from webtable.pages.keys import is_address
from webtable.pages.page import Page, StoredCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import Origin, encode_time
from webtable.pages.storing.page_versions import CaptureNote
from webtable.pages.urls import split_url
from webtable.result_base import Value

__all__ = [
    "FORMS",
    "ExportReport",
    "Form",
    "all_urls",
    "chosen_urls",
    "export",
    "export_cdxj",
    "export_jsonl",
    "export_to",
    "export_warc",
]

Form: TypeAlias = Literal["warc", "jsonl", "cdxj"]
"""The forms of an export."""
FORMS: tuple[Form, ...] = ("warc", "jsonl", "cdxj")


class ExportReport(Value, msgspec.Struct):
    """What an export wrote.

    Attributes:
        pages: the number of pages.
        captures: the number of their captures.
        bodiless: captures whose body has expired, or was never stored. Of these, a WARC file
            contains the revisits only.
        unknown: requested URLs that are not stored.
    """

    pages: int = 0
    captures: int = 0
    bodiless: int = 0
    unknown: int = 0


def all_urls(pages: PageTable) -> Iterator[str]:
    """Yields the URL of every page, in the order of the row keys."""
    for row in pages.rows.table.scan(columns=(URL,)):
        if url := row.value(URL):
            yield url.decode()


def chosen_urls(
    pages: PageTable, of_domain: Iterable[str] | None, urls: Iterable[str] | None
) -> Iterable[str]:
    """Returns the URLs of an export: those of a domain, those of a list, or all.

    Raises:
        InvalidRequest: both are given, or the list is one text.
    """
    if of_domain is not None and urls is not None:
        raise InvalidRequest("both a domain and a list of URLs", hint="name one of them")
    if isinstance(urls, str):
        raise InvalidRequest("urls is one text, not a list of URLs", hint="write urls=[URL]")
    if urls is not None:
        return map(pages.find_url, urls)
    return all_urls(pages) if of_domain is None else of_domain


def export_to(
    pages: PageTable,
    urls: Iterable[str],
    out: str | os.PathLike[str] | BinaryIO,
    form: Form,
    *,
    overwrite: bool,
) -> ExportReport:
    """Writes pages to a path, or to a binary file; see `WebTable.export`."""
    if isinstance(out, str | os.PathLike):
        with new_file(os.fspath(out), overwrite=overwrite) as file:
            return export(pages, urls, file, form)
    return export(pages, urls, out, form)


def export(
    pages: PageTable, urls: Iterable[str], out: BinaryIO, form: Form = "warc"
) -> ExportReport:
    """Writes pages in one of the `FORMS`.

    Raises:
        InvalidRequest: the form is unknown.
    """
    if form not in FORMS:
        raise InvalidRequest(
            f"'{form}' is not a form of an export", hint=f"use one of {', '.join(FORMS)}"
        )
    if form == "warc":
        return export_warc(pages, urls, out)
    # Not a TextIOWrapper: after a failed write, it would fail again and close the file.
    text = cast("TextIO", codecs.getwriter("utf-8")(out))
    return (export_jsonl if form == "jsonl" else export_cdxj)(pages, urls, text)


def export_warc(pages: PageTable, urls: Iterable[str], out: BinaryIO) -> ExportReport:
    """Writes every capture of pages, with its body where that is stored, packed with gzip."""
    report = ExportReport()
    writer = CrawlWriter(out)
    for url, page in _stored_pages(pages, urls, report):
        notes = pages.captures(url)
        brought = {note.digest for note in notes if not note.is_revisit}
        for capture in pages.contents(url):
            response = _response(page, capture, brought)
            if response is None:
                report.bodiless += 1
            else:
                writer.write(response)
                report.captures += 1
    return report


def export_jsonl(pages: PageTable, urls: Iterable[str], out: TextIO) -> ExportReport:
    """Writes the newest capture of each page as one line, with its HTML where that is stored."""
    report = ExportReport()
    for url, page in _stored_pages(pages, urls, report):
        item = msgspec.structs.asdict(page)
        content = pages.content(url)
        item["html"] = None
        if content is not None and content.body is not None:
            decoded = decode_page(content.body, page.charset)
            item["html"] = decoded.utf8.decode("utf-8", "replace")
        else:
            report.bodiless += 1
        out.write(json.dumps(item, ensure_ascii=False) + "\n")
        report.captures += 1
    return report


def export_cdxj(pages: PageTable, urls: Iterable[str], out: TextIO) -> ExportReport:
    """Writes one line for each capture in the format of web archive indexes; not sorted."""
    report = ExportReport()
    for url, page in _stored_pages(pages, urls, report):
        for note in pages.captures(url):
            stamp = encode_time(note.time).translate(_DIGITS_ONLY)
            item = {
                "url": page.url,
                "mime": "warc/revisit" if note.is_revisit else note.type or "unk",
                "status": str(note.status),
                "digest": note.digest,
                "length": str(note.size),
            }
            out.write(f"{_surt(url)} {stamp} {json.dumps(item, ensure_ascii=False)}\n")
            report.captures += 1
    return report


_DIGITS_ONLY = str.maketrans("", "", "-:TZ")


def _stored_pages(
    pages: PageTable, urls: Iterable[str], report: ExportReport
) -> Iterator[tuple[str, Page]]:
    for url in urls:
        page = pages.page(url)
        if page is None:
            report.unknown += 1
        else:
            report.pages += 1
            yield url, page


def _response(page: Page, capture: StoredCapture, brought: set[str]) -> Response | None:
    """Returns a capture as a record; None where its body is not stored.

    Args:
        brought: the digests whose bodies other records of the page have. A revisit of another URL
            becomes a response, so that the file has its body. The digest is added.
    """
    note, origin, body, _ = capture
    if body is None and not note.is_revisit:
        return None
    repeats = None
    if note.is_revisit and (body is None or note.digest in brought):
        at = note.time if origin.revisited_time is None else origin.revisited_time
        repeats = origin.revisited_url or page.url, at
    brought.add(note.digest)
    # The exported body has no codings, so its digest may differ from the recorded one.
    digest = note.digest if body is None else checked(note.digest, body).digest
    headers = _headers(page, note)
    return Response(
        page.url, note.time, _status(note.status), headers, body or b"", digest, repeats,
        _head(capture, headers, is_revisit=repeats is not None), _about(origin),
    )  # fmt: skip


def _head(capture: StoredCapture, headers: Sequence[tuple[str, str]], *, is_revisit: bool) -> bytes:
    """Returns the stored head, adjusted to the written body; empty where it is not stored."""
    note, _, body, head = capture
    if not head:
        return b""
    # A revisit may have the status 304; a response with a body has the status of the page.
    parsed = parse_head(head)
    if not is_revisit and (parsed is None or parsed.status != note.status):
        head = f"HTTP/1.1 {_status(note.status)}".encode() + head[len(head.splitlines()[0]) :]
    types = [f"{name}: {value}" for name, value in headers if name == "Content-Type"]
    size = None if body is None else len(body)
    return adjusted_head(head, size, "".join(types).encode())


def _about(origin: Origin) -> list[tuple[str, str]]:
    """Returns what a record has besides its response."""
    values = (
        ("WARC-IP-Address", origin.address),
        ("WARC-Truncated", origin.truncated),
        ("WARC-Protocol", origin.protocol),
    )
    return [(name, value) for name, value in values if value]


def _headers(page: Page, note: CaptureNote) -> list[tuple[str, str]]:
    headers: list[tuple[str, str]] = []
    if note.type:
        # Only the charset of the newest body is stored.
        charset = f"; charset={page.charset}" if page.charset and note.digest == page.digest else ""
        headers.append(("Content-Type", note.type + charset))
    if note.last_modified is not None:
        headers.append(("Last-Modified", email.utils.formatdate(note.last_modified, usegmt=True)))
    if note.redirect:
        headers.append(("Location", note.redirect))
    return headers


def _status(status: int) -> str:
    try:
        return f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status} Unknown"


def _surt(url: str) -> str:
    """Returns a URL in the sort form of web archive indexes (SURT)."""
    _, host, port, path = split_url(url)
    name = host if is_address(host) else ",".join(reversed(host.split(".")))
    return f"{name}{':' + port if port else ''}){path.lower()}"
