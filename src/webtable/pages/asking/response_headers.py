"""The status line and the headers of a response, as the server sent them."""

from __future__ import annotations

import msgspec

from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_cells import encode_time
from webtable.result_base import Value

__all__ = ["Header", "ResponseHeaders", "headers_at"]


class Header(Value, msgspec.Struct, frozen=True):
    """One header of a response.

    Attributes:
        name: its name, in the spelling of the server.
        value: its value, without white space around it.
    """

    name: str
    value: str


class ResponseHeaders(Value, msgspec.Struct, frozen=True):
    """The head of the response of one capture.

    Attributes:
        url: the canonical URL of the page.
        fetched: the time of the capture.
        status_line: such as `HTTP/1.1 200 OK`.
        headers: all headers in the order of the response. A name may occur several times.
    """

    url: str
    fetched: str
    status_line: str
    headers: list[Header]

    def get(self, name: str) -> str | None:
        """Returns the last value of a name, in any case; None where it does not occur."""
        values = self.get_all(name)
        return values[-1] if values else None

    def get_all(self, name: str) -> list[str]:
        """Returns all values of a name, in any case."""
        lower = name.lower()
        return [each.value for each in self.headers if each.name.lower() == lower]


def headers_at(pages: PageTable, url: str, second: int | None) -> ResponseHeaders | None:
    """Returns the head of the newest capture, or of the newest one up to a second.

    None when the page was not captured up to then, and when the head is not stored: the record had
    none, it has expired, or it was loaded before heads were stored.
    """
    found = pages.head(url, second)
    if found is None or found.head is None:
        return None
    status_line, *lines = _text(found.head).replace("\r\n", "\n").split("\n")
    headers: list[Header] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and headers:  # continues the line before
            name, value = headers[-1].name, f"{headers[-1].value} {line.strip()}"
            headers[-1] = Header(name, value)
        elif colon:
            headers.append(Header(name.strip(), value.strip()))
    return ResponseHeaders(url, encode_time(found.note.time), status_line.strip(), headers)


def _text(head: bytes) -> str:
    try:
        return head.decode()
    except UnicodeDecodeError:
        return head.decode("latin-1")
