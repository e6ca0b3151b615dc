"""Crawls to load, and everything that a store holds after a load."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path

import webtable
from webtable import Row, Scan, Store
from webtable.pages.captures import payload_digest

__all__ = [
    "contents",
    "page",
    "stored_cells",
    "worker_ids",
    "write_jsonl",
    "write_revisits",
    "write_warc",
]

_OF_THE_WRITER = (
    b"metadata:rev",
    b"metadata:pending",
    b"metadata:changed",
    b"metadata:waits",
    b"page:changed",
)
_FEEDS = {
    "webtable_change_idx": ("webtable", b"metadata:changed"),
    "webindex_change_idx": ("webindex", b"page:changed"),
}
"""The tables of the feeds: the table whose rows they list, and the column with their revision."""


def page(number: int, version: int = 0) -> str:
    links = "".join(f'<a href="/page{n}">to {n}</a>' for n in range(number % 7))
    return f"<title>Page {number}</title><p>version {version}</p>{links}"


def write_jsonl(
    path: Path, pages: int, *, day: int = 1, version: int = 0, domain: str = "example.com"
) -> None:
    lines = [
        json.dumps(
            {
                "url": f"https://site{number % 5}.{domain}/page{number}",
                "html": page(number, version if number % 3 == 0 else 0),
                "status": 404 if number % 11 == 0 else 200,
                "fetched": f"2026-09-{day:02}T12:00:00Z",
            }
        )
        for number in range(pages)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_warc(path: Path, pages: int, *, day: int = 1) -> None:
    records = [b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"]
    for number in range(pages):
        body = page(number).encode()
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (
            len(body),
            body,
        )
        head = (
            "WARC/1.1\r\nWARC-Type: response\r\n"
            f"WARC-Target-URI: https://site{number % 5}.example.com/page{number}\r\n"
            f"WARC-Date: 2026-09-{day:02}T12:00:00Z\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            f"Content-Length: {len(answer)}\r\n\r\n"
        )
        records.append(head.encode() + answer + b"\r\n\r\n")
    path.write_bytes(b"".join(map(gzip.compress, records)))


def write_revisits(path: Path, pages: int, *, domain: str = "example.com") -> None:
    """Writes revisits of other pages with the bodies that `write_jsonl` writes on the first day."""
    records = []
    for number in range(pages):
        digest = payload_digest(page(number, 1 if number % 3 == 0 else 0).encode())
        head = (
            "WARC/1.1\r\nWARC-Type: revisit\r\n"
            f"WARC-Target-URI: https://copies.{domain}/page{number}\r\n"
            "WARC-Date: 2026-09-04T12:00:00Z\r\n"
            "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"
            f"WARC-Refers-To-Target-URI: https://site{number % 5}.{domain}/page{number}\r\n"
            "WARC-Refers-To-Date: 2026-09-01T12:00:00Z\r\n"
            f"WARC-Payload-Digest: {digest}\r\nContent-Length: 0\r\n\r\n"
        )
        records.append(head.encode() + b"\r\n\r\n")
    path.write_bytes(b"".join(map(gzip.compress, records)))


def contents(location: str) -> dict[str, list[tuple[bytes, bytes, int, bytes]]]:
    """Everything in a store, but for revisions and what is stamped with them."""
    with webtable.open(location, read_only=True) as opened:
        return stored_cells(opened)


def stored_cells(store: Store, of: bytes = b"") -> dict[str, list[tuple[bytes, bytes, int, bytes]]]:
    """As `contents`; of the rows whose keys have `of` in them."""
    found: dict[str, list[tuple[bytes, bytes, int, bytes]]] = {}
    for name in store.tables():
        if name == "webtable_settings":
            continue
        is_index = name.endswith("_idx")
        is_feed = name in _FEEDS
        found[name] = sorted(
            (
                _feed_key(row.key)[1] if is_feed else row.key,
                column,
                0 if is_index else timestamp,
                value,
            )
            for row in store.table(name).scan(Scan(versions=9))
            for column, timestamp, value, _ in row.raw_cells
            if of in row.key and column not in _OF_THE_WRITER
            if not is_feed or not _is_of_dead_writer(store, name, row)
        )
    return found


def _feed_key(key: bytes) -> tuple[bytes, bytes]:
    """Splits the key of an entry of a feed, without its bucket, into the revision and the row."""
    revision, _, row_key = (key[2:] if key[1:2] == b":" else key).partition(b"_")
    return revision, row_key


def _is_of_dead_writer(store: Store, feed: str, entry: Row) -> bool:
    """Whether an entry of a feed has a revision that its page never got.

    On a cluster a writer puts an entry before its page row. After a kill between the two, the next
    writer chooses another revision, so the first entry stays until a repair removes it. In an
    embedded store both are one commit, so nothing may stay.
    """
    if store.capabilities.atomic_commits:
        return False
    table, column = _FEEDS[feed]
    revision, row_key = _feed_key(entry.key)
    page = store.table(table).get(row_key)
    changed = page and page.value(column)
    return not changed or not changed.startswith(revision)


def worker_ids(process: int | str = "self") -> list[int]:
    """The worker processes that a process has now."""
    found = []
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # that thread has ended meanwhile
            for child in map(int, children.read_text(encoding="ascii").split()):
                with suppress(OSError):  # that process has
                    if b"worker_process" in Path(f"/proc/{child}/cmdline").read_bytes():
                        found.append(child)
    return found
