"""Records of WARC files made into captures, whichever reader found them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from webtable.pages.answers import Recorded, Rejected, answer, parse_date, resource, skipped
from webtable.pages.captures import Capture, Position, Skipped
from webtable.pages.wat import capture_of_wat

__all__ = ["WarcRecord", "is_read", "take"]

_CAPTURES = frozenset({"response", "resource", "revisit"})


class WarcRecord(NamedTuple):
    """A record: its headers by name in any case, and its block (see `Recorded`)."""

    get: Callable[[str], str | None]
    block: bytes
    length: int
    source: str
    position: Position
    more: Callable[[int], bytes] | None = None


def is_read(get: Callable[[str], str | None]) -> bool:
    """Whether the block of a record is needed: it is a capture, or what a WAT file says of one."""
    kind = get("WARC-Type")
    return kind in _CAPTURES or (
        kind == "metadata" and (get("Content-Type") or "").startswith("application/json")
    )


def take(record: WarcRecord) -> Capture | Skipped:
    """Returns the capture of a record, or why there is none. `after` is not filled in."""
    get = record.get
    kind = get("WARC-Type") or ""
    url = (get("WARC-Target-URI") or "").strip()
    recorded = Recorded(
        # Some writers put brackets around it, as the first standard had them.
        url[1:-1] if url.startswith("<") and url.endswith(">") else url,
        get("WARC-Date") or "",
        record.block,
        record.length,
        record.source,
        record.position,
        digest=get("WARC-Payload-Digest") or "",
        record_id=get("WARC-Record-ID") or "",
        content_type=get("Content-Type") or "",
        more=record.more,
        is_truncated=get("WARC-Truncated") is not None,
    )
    try:
        if kind == "response":
            return answer(recorded)
        if kind == "revisit":
            return _revisit(recorded, get)
        if kind == "resource":
            return resource(recorded)
        if is_read(get):
            return capture_of_wat(recorded)
        raise Rejected("other-type", f"a record of type {kind[:40]!r}")
    except Rejected as rejected:
        return skipped(recorded, rejected)


def _revisit(recorded: Recorded, get: Callable[[str], str | None]) -> Capture:
    date = get("WARC-Refers-To-Date")
    return answer(
        recorded,
        "revisit",
        refers_to=get("WARC-Refers-To") or "",
        refers_to_url=get("WARC-Refers-To-Target-URI") or "",
        refers_to_fetched=parse_date(date) if date else None,
    )
