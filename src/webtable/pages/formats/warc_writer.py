"""WARC files written, by warcio, which is imported here only.

What is written depends on the captures alone: record ids are made of what a record says, and the
time of writing is nowhere, so that the same captures give the same bytes.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import BinaryIO, NamedTuple

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

__all__ = ["CrawlWriter", "Response"]

_REVISIT_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


class Response(NamedTuple):
    """An answer of a server, to be written as one record."""

    url: str
    fetched: int
    status: str
    """With its words: `200 OK`."""
    headers: Sequence[tuple[str, str]] = ()
    payload: bytes = b""
    """As it is sent, codings included."""
    digest: str = ""
    """`sha1:` and base32; made of the payload where it is empty."""
    repeats: tuple[str, int] | None = None
    """URL and time of the capture that had the same payload: the record is a revisit."""


class CrawlWriter:
    """Writes records to an open file, each a member of its own if they are to be packed."""

    def __init__(self, file: BinaryIO, *, is_packed: bool = True) -> None:
        self._writer = WARCWriter(file, gzip=is_packed, warc_version="1.1")

    def describe(self, name: str, fetched: int, about: dict[str, str]) -> None:
        """Writes the record that describes the file, which comes first."""
        record = self._writer.create_warcinfo_record(name, about)
        record.rec_headers.replace_header("WARC-Date", _date(fetched))
        record.rec_headers.replace_header("WARC-Record-ID", _record_id("warcinfo", name))
        self._writer.write_record(record)

    def write(self, answer: Response) -> None:
        """Writes one answer."""
        about = {
            "WARC-Date": _date(answer.fetched),
            "WARC-Record-ID": _record_id(answer.url, str(answer.fetched), answer.digest),
        }
        if answer.digest:
            about["WARC-Payload-Digest"] = answer.digest
        kind = "response"
        if answer.repeats is not None:
            kind = "revisit"
            about["WARC-Profile"] = _REVISIT_PROFILE
            about["WARC-Refers-To-Target-URI"] = answer.repeats[0]
            about["WARC-Refers-To-Date"] = _date(answer.repeats[1])
        payload = b"" if answer.repeats else answer.payload
        # Given the length, warcio keeps the digest as it is, and needs no file of its own.
        record = self._writer.create_warc_record(
            answer.url,
            kind,
            payload=io.BytesIO(payload),
            length=len(payload),
            http_headers=StatusAndHeaders(answer.status, list(answer.headers), "HTTP/1.1"),
            warc_headers_dict=about,
        )
        self._writer.write_record(record)


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _record_id(*words: str) -> str:
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, chr(0).join(words))}>"
