"""JSON lines: a page a line, as scripts and small crawlers write them.

`url` and `fetched` are needed; `fetched` and `last_modified` are ISO 8601 texts or seconds since
1970. `html` is the body as text, `body_base64` the body as bytes. `status` is 200 unless given.
`type` is a media type (`text/html` where there is `html`), `charset` that of the bytes; `redirect`
is where a redirect leads. `digest` is given where the body is not. Other fields are passed over.
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
from webtable.pages.formats.responses import Recorded, Rejected, answer, parse_date, skipped
from webtable.pages.formats.streams import Stream

__all__ = ["read_jsonl"]

# Every character of a body may take six in JSON.
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


_CUT = "Input data was truncated"  # msgspec's words
_URL = re.compile(rb'"url"[ \t]*:[ \t]*"([^"\\]{1,200})')
_DECODER = msgspec.json.Decoder(_Line)


def read_jsonl(
    stream: Stream, source: str, *, passes_over: bool = False
) -> Iterator[Capture | Skipped]:
    """Yields what a file of JSON lines holds; `passes_over`: the first line is only named."""
    take = _take_none if passes_over else _taken
    while True:
        start = stream.position
        end = stream.find(b"\n", _MAX_LINE_BYTES)
        if stream.fault and end < 0:
            reason, why = stream.go_on()
            yield Skipped(reason, why, source=source, position=start, after=stream.position)
            _drop_line(stream)  # it may begin in the middle of one
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
            yield placed(take(line, source, start), stream.position)
            take = _taken


def _drop_line(stream: Stream) -> None:
    while (end := stream.find(b"\n", 65_536)) < 0:
        if not stream.skip(65_536):
            return
    stream.skip(end + 1)


def _taken(line: bytes, source: str, start: Position) -> Capture | Skipped:
    recorded = Recorded("", "", b"", 0, source, start)
    try:
        try:
            said = _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
            raise Rejected(_reason(line, exc), str(exc)[:200]) from exc
        recorded = recorded._replace(url=said.url.strip(), date=_date(said.fetched))
        return _capture(recorded, said)
    except Rejected as rejected:
        return skipped(recorded, rejected)
    except Exception as exc:  # noqa: BLE001  one line must not end a load
        return skipped(recorded, Rejected("crashed", f"reading it failed: {exc!r:.200}"))


def _reason(line: bytes, exc: Exception) -> str:
    """Returns why a line is not taken: for what it says, or because it is damaged."""
    if str(exc) == _CUT and not line.endswith(b"\n"):
        return "truncated"  # the file ends within the line
    try:
        # What a field says may be found wrong before the line was read to its end.
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "garbage"
    except RecursionError:
        return "bad-line"
    is_url_missing = "`url`" in str(exc) and "missing" in str(exc)
    return "no-url" if is_url_missing else "bad-line"


def _take_none(line: bytes, source: str, start: Position) -> Skipped:
    found = _URL.search(line)
    url = "" if found is None else found[1].decode("utf-8", "replace")
    return skipped(Recorded(url, "", b"", 0, source, start), Rejected("crashed", ENDED_PROCESS))


def _capture(recorded: Recorded, said: _Line) -> Capture:
    body = _body(said)
    if not 100 <= said.status <= 999:
        raise Rejected("bad-line", f"{said.status} is not a status of HTTP")
    headers = {
        "Content-Type": _content_type(said),
        "Last-Modified": "" if said.last_modified is None else _http_date(said.last_modified),
        "Location": said.redirect or "",
    }
    lines = [f"{name}: {' '.join(value.split())}" for name, value in headers.items() if value]
    # Bytes of UTF-8, as servers send them.
    head = "\r\n".join([f"HTTP/1.1 {said.status} ", *lines]).encode("utf-8", "replace")
    block = head + b"\r\n\r\n" + (body or b"")
    digest = said.digest if ":" in said.digest else f"sha1:{said.digest}"
    return answer(
        recorded._replace(block=block, length=len(block), digest=digest, is_bodiless=body is None)
    )


def _body(said: _Line) -> bytes | None:
    if said.html is not None:
        return said.html.encode("utf-8", "replace")
    if said.body_base64 is None:
        return None
    try:
        return base64.b64decode(said.body_base64, validate=True)
    except (binascii.Error, ValueError) as exc:
        raise Rejected("bad-line", "body_base64 is not base64") from exc


def _content_type(said: _Line) -> str:
    if said.html is not None:
        return f"{said.type or 'text/html'}; charset=utf-8"
    return f"{said.type}; charset={said.charset}" if said.charset else said.type


def _date(value: str | float) -> str:
    if isinstance(value, str):
        return value
    try:
        return datetime.fromtimestamp(value, UTC).isoformat()
    except (ValueError, OverflowError, OSError) as exc:
        raise Rejected("bad-date", f"{value!r:.40} is not the date of a capture") from exc


def _http_date(value: str | float) -> str:
    """Returns a time as HTTP writes it; as it is where it is none of ours, but may be HTTP's."""
    try:
        seconds = parse_date(_date(value))
    except Rejected:
        seconds = None
    return str(value) if seconds is None else formatdate(seconds, usegmt=True)
