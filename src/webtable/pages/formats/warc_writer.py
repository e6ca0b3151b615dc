"""Writes WARC files with warcio, which only this module imports.

The output depends on the captures alone: record ids are hashes of the record's values, and the time
of writing is not stored. So the same captures give the same bytes.
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
    """A response of a web server, to be written as one record."""

    url: str
    fetched: int
    status: str
    """With its reason phrase: `200 OK`."""
    headers: Sequence[tuple[str, str]] = ()
    payload: bytes = b""
    """As the server sends it, with codings."""
    digest: str = ""
    """`sha1:` and base32; empty: computed from the payload."""
    repeats: tuple[str, int] | None = None
    """For a revisit: URL and time of the earlier capture with the same payload."""
    head: bytes = b""
    """The head of the response with its empty line, written as it is; empty: it is made of `status`
    and `headers`."""
    about: Sequence[tuple[str, str]] = ()
    """Further headers of the record, such as `WARC-IP-Address`."""


class _Received(StatusAndHeaders):  # type: ignore[misc]  # warcio has no types
    """A head whose bytes are written unchanged; warcio would encode names and values again."""

    def __init__(self, head: bytes) -> None:
        status_line = head.partition(b"\r\n")[0].decode("latin-1")
        super().__init__(status_line.partition(" ")[2], [], status_line.partition(" ")[0])
        self._head = head

    def compute_headers_buffer(self, header_filter: object = None) -> None:
        self.headers_buff = self._head


class CrawlWriter:
    """Writes records to an open file; with `is_packed` each record is a gzip member of its own."""

    def __init__(self, file: BinaryIO, *, is_packed: bool = True) -> None:
        self._writer = WARCWriter(file, gzip=is_packed, warc_version="1.1")

    def describe(self, name: str, fetched: int, about: dict[str, str]) -> None:
        """Writes the record that describes the file; call it first."""
        record = self._writer.create_warcinfo_record(name, about)
        record.rec_headers.replace_header("WARC-Date", _date(fetched))
        record.rec_headers.replace_header("WARC-Record-ID", _record_id("warcinfo", name))
        self._writer.write_record(record)

    def write(self, response: Response) -> None:
        """Writes one response."""
        about = {
            "WARC-Date": _date(response.fetched),
            "WARC-Record-ID": _record_id(response.url, str(response.fetched), response.digest),
        }
        about.update(response.about)
        if response.digest:
            about["WARC-Payload-Digest"] = response.digest
        kind = "response"
        if response.repeats is not None:
            kind = "revisit"
            about["WARC-Profile"] = _REVISIT_PROFILE
            about["WARC-Refers-To-Target-URI"] = response.repeats[0]
            about["WARC-Refers-To-Date"] = _date(response.repeats[1])
        payload = b"" if response.repeats else response.payload
        # With the length given, warcio keeps the digest and needs no temporary file.
        record = self._writer.create_warc_record(
            response.url,
            kind,
            payload=io.BytesIO(payload),
            length=len(payload),
            http_headers=_Received(response.head)
            if response.head
            else StatusAndHeaders(response.status, list(response.headers), "HTTP/1.1"),
            warc_headers_dict=about,
        )
        self._writer.write_record(record)


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _record_id(*parts: str) -> str:
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, chr(0).join(parts))}>"
