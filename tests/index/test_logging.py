"""What looking after indexes logs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from tests.index.people import CITY, create_people, make_people
from webtable.index.build_and_verify import build, verify
from webtable.index.cell_encoding import Removal, encode_pending
from webtable.index.indexed_table import Change, IndexedTable


@pytest.fixture
def people(tmp_path: Path) -> Iterator[IndexedTable]:
    with webtable.open(str(tmp_path / "store")) as store:
        create_people(store)
        yield make_people(store)


@pytest.fixture(autouse=True)
def _all_levels(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.DEBUG, "webtable"):
        yield


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "webtable.index"]


def test_pending_work_that_is_finished_is_logged_once(
    people: IndexedTable, caplog: pytest.LogCaptureFixture
) -> None:
    people.write(b"ada", Change(put={CITY: b"London"}))
    state = people.read_state(b"ada")
    # As a writer leaves it on a cluster that dies before it has removed the old entry.
    gone = Removal("people_by_city", b"Paris/ada", people.index("people_by_city").column)
    pending = encode_pending(state.revision.number - 1, [gone])
    people.table.put(b"ada", {people.pending_column: pending}, timestamp=state.revision.number)
    assert logged(caplog) == []
    for _ in range(2):
        verify(people, repair=True)
    finished = [each for each in logged(caplog) if "pending in" in each]
    assert finished == [
        "table 'people': removed index entries that other writers had left pending in 1 rows,"
        " first b'ada'"
    ]


def test_the_steps_of_building_and_verifying(
    people: IndexedTable, caplog: pytest.LogCaptureFixture
) -> None:
    people.write(b"ada", Change(put={CITY: b"London"}))
    people.set_state("people_by_city", "building")
    build(people, "people_by_city")
    verify(people, names=["people_by_city"])
    assert logged(caplog) == [
        "table 'people': building index 'people_by_city'",
        "table 'people': index 'people_by_city' is built, rows read: 1",
        "table 'people': verifying the indexes people_by_city",
        "table 'people': verifying its indexes is done; entries missing: 0, in conflict: 0,"
        " left over: 0, rows with pending work: 0",
    ]
