"""Makes captures of the records of WARC files, for both readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from webtable.pages.captures import ENDED_PROCESS, Capture, Position, Skipped
from webtable.pages.formats.response_captures import (
    Recorded,
    Rejected,
    parse_date,
    resource_capture,
    response_capture,
    skipped,
)
from webtable.pages.formats.wat_records import capture_of_wat

__all__ = ["WarcRecord", "capture_of_record", "crashed_record", "is_read"]

_CAPTURES = frozenset({"response", "resource", "revisit"})


class WarcRecord(NamedTuple):
    """A record: its headers by name in lower case, and its block (see `Recorded`)."""

    headers: Mapping[str, str]
    block: bytes
    length: int
    source: str
    position: Position
    more: Callable[[int], bytes] | None = None


def is_read(headers: Mapping[str, str]) -> bool:
    """Whether the block of a record is needed: it is a capture, or WAT data of a capture."""
    kind = headers.get("warc-type")
    return kind in _CAPTURES or (
        kind == "metadata" and headers.get("content-type", "").startswith("application/json")
    )


def capture_of_record(record: WarcRecord) -> Capture | Skipped:
    """Returns the capture of a record, or the reason why it has none. `after` is not set yet."""
    headers = record.headers
    kind = headers.get("warc-type", "")
    recorded = _recorded(record)
    try:
        if kind == "response":
            return response_capture(recorded)
        if kind == "revisit":
            return _revisit(recorded, headers)
        if kind == "resource":
            return resource_capture(recorded)
        if is_read(headers):
            return capture_of_wat(recorded)
        raise Rejected("other-type", f"a record of type {kind[:40]!r}")
    except Rejected as rejected:
        return skipped(recorded, rejected)
    except Exception as exc:  # noqa: BLE001  one record must not end a load
        return skipped(recorded, Rejected("crashed", f"reading it failed: {exc!r:.200}"))


def crashed_record(record: WarcRecord) -> Skipped:
    """Reports a record as `crashed`: the process that parsed it died."""
    return skipped(_recorded(record), Rejected("crashed", ENDED_PROCESS))


def _recorded(record: WarcRecord) -> Recorded:
    get = record.headers.get
    url = get("warc-target-uri", "")
    truncated = get("warc-truncated")
    return Recorded(
        # Some writers put the URL into angle brackets, as the first standard did.
        url[1:-1] if url.startswith("<") and url.endswith(">") else url,
        get("warc-date", ""),
        record.block,
        record.length,
        record.source,
        record.position,
        get("warc-payload-digest", ""),
        get("warc-record-id", ""),
        get("content-type", ""),
        record.more,
        "" if truncated is None else truncated or "unspecified",
        address=get("warc-ip-address", ""),
        protocol=get("warc-protocol", "").replace("\n", " "),
    )


def _revisit(recorded: Recorded, headers: Mapping[str, str]) -> Capture:
    date = headers.get("warc-refers-to-date")
    return response_capture(
        recorded,
        "revisit",
        refers_to=headers.get("warc-refers-to", ""),
        refers_to_url=headers.get("warc-refers-to-target-uri", ""),
        refers_to_fetched=parse_date(date) if date else None,
    )
