"""The short way of storing a capture does what the rules do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import webtable
from tests.pages.conftest import parse
from webtable.index.cell_encoding import Revision
from webtable.index.indexed_table import RowState
from webtable.pages import schema
from webtable.pages.page import NewCapture
from webtable.pages.storing.page_versions import CaptureNote
from webtable.pages.storing.row_history import RowHistory
from webtable.pages.storing.row_write import RowWrite, _Attempt
from webtable.store.mutation import Put
from webtable.store.table import Table

URL = "https://example.com/"
BODIES = {"a": b"alpha", "b": b"beta gamma", "c": b""}
ROW = b"com.example_home"


def capture(time: int, digest: str, status: int, header: int | None) -> NewCapture:
    body = BODIES[digest]
    note = CaptureNote(time, digest, status, len(body), "text/html", "", header, False)
    head, origin = f"HTTP/1.1 {status} Some".encode(), f"crawl-{time}.warc.gz\t{time}"
    return NewCapture(URL, note, body, parse(URL, body, ""), head=head, origin=origin)


CAPTURES = st.builds(
    capture,
    st.integers(100, 130),
    st.sampled_from("abc"),
    st.sampled_from((200, 200, 301, 404)),
    st.none() | st.integers(90, 140),
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    path: Path = tmp_path_factory.mktemp("appending") / "store"
    # Nothing is in it: what would have to be read of it is left to the rules by both.
    with webtable.open(str(path)) as store:
        return store.create_table(schema.pages_schema("live", is_embedded=True))


class Row:
    """A row that captures are stored in, one by one, by the rules alone."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.history = RowHistory()
        self.facts: dict[bytes, bytes] = {}
        self.cell: bytes | None = None
        self.schema = schema.pages_schema("live", is_embedded=True)

    def write(self, each: NewCapture) -> RowWrite:
        return RowWrite(self.table, self.schema, [each], parse)

    def state(self) -> RowState:
        return RowState(ROW, dict(self.facts), Revision(1, b"t"), self.cell, b"", 0)

    def ruled(self, each: NewCapture) -> tuple[object, ...]:
        write = self.write(each)
        attempt = _Attempt(write, self.state(), self.history)
        change = attempt.change()
        assert change is not None
        assert change.facts is not None
        (put,) = change.more
        assert isinstance(put, Put)
        return dict(put.values), put.timestamp, change.facts, write.outcomes, attempt.links_change()

    def take(self, each: NewCapture, values: dict[bytes, bytes], facts: dict[bytes, bytes]) -> None:
        self.history.apply([Put(ROW, values, timestamp=each.note.time * 1000)])
        self.facts, self.cell = facts, b"cell"


@given(st.lists(CAPTURES, min_size=1, max_size=5, unique_by=lambda each: each.note.time))
@settings(deadline=None)
def test_a_newer_capture_is_stored_as_the_rules_say(
    table: Table, captures: list[NewCapture]
) -> None:
    row = Row(table)
    for each in sorted(captures, key=lambda each: each.note.time):
        write = row.write(each)
        # The rules read links again that were there before the last ones: left to them by both.
        change = write._appended(row.state(), row.history)
        if change is None:
            assert each.note.digest in row.history.links.by_time.values() or not each.note.is_ok
            return
        (put,) = change.more
        assert isinstance(put, Put)
        assert change.facts is not None
        short = dict(put.values), put.timestamp, change.facts, write.outcomes, write.links
        assert short == row.ruled(each)
        row.take(each, dict(put.values), dict(change.facts))
