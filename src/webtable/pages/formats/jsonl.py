"""JSON lines: one page on each line, as scripts and small crawlers write them.

`url` and `fetched` are required; `fetched` and `last_modified` are ISO 8601 texts or seconds since
1970. `html` is the body as text, `body_base64` the body as bytes. The default of `status` is 200.
`type` is a media type (default with `html`: `text/html`), `charset` is the charset of the bytes,
`redirect` is the target of a redirect. `digest` is for a line without a body. Other fields are
ignored.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import formatdate

import msgspec

from webtable.pages.captures import (
    ENDED_PROCESS,
    MAX_BODY_BYTES,
    Capture,
    Position,
    Skipped,
    placed,
)
from webtable.pages.formats.response_captures import (
    Recorded,
    Rejected,
    parse_date,
    response_capture,
    skipped,
)
from webtable.pages.formats.unpacked_stream import Stream

__all__ = ["read_jsonl"]

# A character of a body needs up to six characters in JSON.
_MAX_LINE_BYTES = 6 * MAX_BODY_BYTES + 1024 * 1024


class _Line(msgspec.Struct):
    url: str
    fetched: str | int | float = ""
    html: str | None = None
    body_base64: str | None = None
    status: int = 200
    type: str = ""
    charset: str = ""
    last_modified: str | int | float | None = None
    redirect: str | None = None
    digest: str = ""


_CUT = "Input data was truncated"  # the message of msgspec
_URL = re.compile(rb'"url"[ \t]*:[ \t]*"([^"\\]{1,200})')
_DECODER = msgspec.json.Decoder(_Line)


def read_jsonl(
    stream: Stream, source: str, *, skip_first: bool = False
) -> Iterator[Capture | Skipped]:
    """Yields the captures of JSON lines; `skip_first`: reports the first line as `crashed`."""
    convert = _crashed if skip_first else _convert
    while True:
        start = stream.position
        end = stream.find(b"\n", _MAX_LINE_BYTES)
        if stream.fault and end < 0:
            reason, why = stream.go_on()
            yield Skipped(reason, why, source=source, position=start, after=stream.position)
            _drop_line(stream)  # the stream may continue in the middle of a line
            continue
        if end < 0 and len(stream.peek(_MAX_LINE_BYTES)) >= _MAX_LINE_BYTES:
            _drop_line(stream)
            why = f"the line has more than {_MAX_LINE_BYTES:,} bytes"
            yield Skipped("bad-line", why, source=source, position=start, after=stream.position)
            continue
        line = stream.read(end + 1 if end >= 0 else _MAX_LINE_BYTES)
        if not line:
            return
        if line.strip():
            yield placed(convert(line, source, start), stream.position)
            convert = _convert


def _drop_line(stream: Stream) -> None:
    while (end := stream.find(b"\n", 65_536)) < 0:
        if not stream.skip(65_536):
            return
    stream.skip(end + 1)


def _convert(line: bytes, source: str, start: Position) -> Capture | Skipped:
    recorded = Recorded("", "", b"", 0, source, start)
    try:
        try:
            fields = _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
            raise Rejected(_reason(line, exc), str(exc)[:200]) from exc
        recorded = recorded._replace(url=fields.url.strip(), date=_date(fields.fetched))
        return _capture(recorded, fields)
    except Rejected as rejected:
        return skipped(recorded, rejected)
    except Exception as exc:  # noqa: BLE001  one line must not end a load
        return skipped(recorded, Rejected("crashed", f"reading it failed: {exc!r:.200}"))


def _reason(line: bytes, exc: Exception) -> str:
    """Returns the skip reason of a line: wrong fields, or damaged JSON."""
    if str(exc) == _CUT and not line.endswith(b"\n"):
        return "truncated"  # the file ends within the line
    try:
        # The decoder may report a wrong field before it reaches the end of the line.
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "garbage"
    except RecursionError:
        return "bad-line"
    is_url_missing = "`url`" in str(exc) and "missing" in str(exc)
    return "no-url" if is_url_missing else "bad-line"


def _crashed(line: bytes, source: str, start: Position) -> Skipped:
    found = _URL.search(line)
    url = "" if found is None else found[1].decode("utf-8", "replace")
    return skipped(Recorded(url, "", b"", 0, source, start), Rejected("crashed", ENDED_PROCESS))


def _capture(recorded: Recorded, fields: _Line) -> Capture:
    body = _body(fields)
    if not 100 <= fields.status <= 999:
        raise Rejected("bad-line", f"{fields.status} is not an HTTP status")
    headers = {
        "Content-Type": _content_type(fields),
        "Last-Modified": "" if fields.last_modified is None else _http_date(fields.last_modified),
        "Location": fields.redirect or "",
    }
    lines = [f"{name}: {' '.join(value.split())}" for name, value in headers.items() if value]
    # Bytes of UTF-8, as servers send them.
    head = "\r\n".join([f"HTTP/1.1 {fields.status} ", *lines]).encode("utf-8", "replace")
    block = head + b"\r\n\r\n" + (body or b"")
    digest = fields.digest if ":" in fields.digest else f"sha1:{fields.digest}"
    return response_capture(
        recorded._replace(block=block, length=len(block), digest=digest, is_bodiless=body is None)
    )


def _body(fields: _Line) -> bytes | None:
    if fields.html is not None:
        return fields.html.encode("utf-8", "replace")
    if fields.body_base64 is None:
        return None
    try:
        return base64.b64decode(fields.body_base64, validate=True)
    except (binascii.Error, ValueError) as exc:
        raise Rejected("bad-line", "body_base64 is not base64") from exc


def _content_type(fields: _Line) -> str:
    if fields.html is not None:
        return f"{fields.type or 'text/html'}; charset=utf-8"
    return f"{fields.type}; charset={fields.charset}" if fields.charset else fields.type


def _date(value: str | float) -> str:
    if isinstance(value, str):
        return value
    try:
        return datetime.fromtimestamp(value, UTC).isoformat()
    except (ValueError, OverflowError, OSError) as exc:
        raise Rejected("bad-date", f"{value!r:.40} is not the date of a capture") from exc


def _http_date(value: str | float) -> str:
    """Returns a time as HTTP date; unchanged where it is not ISO 8601, but may be an HTTP date."""
    try:
        seconds = parse_date(_date(value))
    except Rejected:
        seconds = None
    return str(value) if seconds is None else formatdate(seconds, usegmt=True)
