"""Reading in worker processes: what one page does must not end a load."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from webtable.pages.captures import Capture, Position, Skipped
from webtable.pages.loading.capture_batches import Task, read_batches

REFUSED = """
from webtable.pages.loading.worker_process import limit_memory
limit_memory(256 * 1024 * 1024)
kept = bytearray(1024 * 1024)
try:
    bytearray(512 * 1024 * 1024)
except MemoryError:
    print("refused")
"""


def capture(number: int, url: str) -> Capture:
    after = Position(number + 1)
    return Capture(
        url=url,
        fetched=1_788_264_000,
        status=200,
        digest="sha1:A",
        body=b"<title>x</title><a href='y'>y</a>",
        content_type="text/html",
        source="crawl",
        position=Position(number),
        after=after,
    )


def test_a_page_that_cannot_be_parsed_is_skipped_and_the_rest_is_read() -> None:
    def source(_: Task) -> Iterator[Capture | Skipped]:
        # No reader gives such a URL; a mistake of the parser would look the same from here.
        for number, url in enumerate(
            ("https://example.com/", "not a URL", "https://example.com/b")
        ):
            yield capture(number, url)

    (batch,) = read_batches(Task("crawl"), source)
    assert [each.url for each in batch.captures] == [
        "https://example.com/",
        "https://example.com/b",
    ]
    (skipped,) = batch.skipped
    assert (skipped.reason, skipped.url, skipped.position) == ("crashed", "not a URL", Position(1))
    assert "parsing it failed" in skipped.why
    assert (batch.is_last, batch.after, batch.error) == (True, Position(3), None)


def test_a_worker_that_wants_too_much_memory_is_rejected() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFUSED], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "refused\n", done.stderr
