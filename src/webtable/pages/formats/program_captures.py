"""Makes captures of the pages that a program fetched itself; see `WebTable.put`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from webtable.errors import InvalidRequest, InvalidUrl
from webtable.pages.captures import START, Capture
from webtable.pages.formats.response_captures import Recorded, Rejected, response_capture
from webtable.pages.storing.capture_cells import encode_time

__all__ = ["Headers", "capture_of_program"]

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
"""HTTP headers by name, or as pairs where a name may occur more than once."""


def capture_of_program(
    url: str, body: bytes | str, status: int, headers: Headers, fetched: int | None
) -> Capture:
    """Returns the capture that a reader of crawl files would make of the same response.

    Args:
        body: text is UTF-8, and HTML unless the headers have another type.
        fetched: seconds since 1970; None: now.

    Raises:
        InvalidUrl: the URL is not valid for a page.
        InvalidRequest: the status, the headers or the time are not valid.
    """
    pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    for name, value in pairs:
        if not isinstance(name, str) or not isinstance(value, str):
            raise InvalidRequest(
                f"header {name!r:.80} with the value {value!r:.80} is not text",
                hint="decode names and values; give a header with several values as several pairs",
            )
    given = len(pairs)
    if isinstance(body, str):
        body = body.encode("utf-8", "replace")
        if not any(name.lower() == "content-type" for name, _ in pairs):
            pairs.append(("Content-Type", "text/html; charset=utf-8"))
    if not 100 <= status <= 999:
        raise InvalidRequest(
            f"{status} is not an HTTP status", hint="use the status that the server sent"
        )
    lines = [f"{name}: {value}" for name, value in pairs]
    if any("\n" in line or "\r" in line for line in lines):
        raise InvalidRequest(
            "a header has more than one line", hint="give each header as one name and one value"
        )
    # Bytes of UTF-8, as servers send them.
    sent = [line.encode("utf-8", "replace") for line in (f"HTTP/1.1 {status} ", *lines)]
    block = b"\r\n".join([*sent, b"", body])
    received = b"\r\n".join(sent[: given + 1])
    date = encode_time(int(time.time()) if fetched is None else fetched)
    try:
        recorded = Recorded(url, date, block, len(block), "", START)
        return response_capture(recorded, received=received)
    except Rejected as rejected:
        if rejected.reason in ("bad-url", "no-url"):
            raise InvalidUrl(rejected.why, hint="use https://HOST/PATH") from rejected
        raise InvalidRequest(
            f"the capture of '{url:.200}' cannot be stored: {rejected.why}",
            hint="give status, headers and time as the crawler received them",
        ) from rejected
