"""The index machinery on both engines: writes, reads, unique keys, and what dead writers leave."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Iterator

import pytest

import webtable
from tests.index.people import (
    AGE,
    BY_CITY,
    CITY,
    INDEXES,
    MAIL,
    TABLE,
    AheadClock,
    People,
    Stopped,
    create_people,
    make_people,
)
from webtable import Delete, Put, Store
from webtable.errors import (
    BatchError,
    InvalidRequest,
    NotUnique,
    SchemaMismatch,
    StaleIndex,
)
from webtable.index.build_and_verify import build, explain, explain_row, verify
from webtable.index.cell_encoding import Revision
from webtable.index.indexed_table import Change, Entry, Index, IndexedTable, RowState
from webtable.index.unique_entries import Claims
from webtable.index.write_protocol import REPAIR_AGE_MS
from webtable.local.hbase import LocalHBase
from webtable.store.scan import Scan

# An embedded store commits all of a write or nothing.
ON_A_CLUSTER = pytest.mark.parametrize("engine_name", ["hbase"])


@pytest.fixture(scope="module")
def rocks_people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with webtable.open(str(tmp_path_factory.mktemp("indexes") / "store")) as store:
        create_people(store)
        yield store


@pytest.fixture(scope="module")
def hbase_people(hbase_location: str, local_hbase: LocalHBase | None) -> Iterator[Store]:
    with webtable.open(f"{hbase_location}?namespace=index_{uuid.uuid4().hex[:8]}") as store:
        create_people(store)
        yield store
        if local_hbase is None:
            for name in store.tables():
                store.drop_table(name)


@pytest.fixture(params=["rocks", "hbase"])
def engine_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def store(engine_name: str, request: pytest.FixtureRequest) -> Store:
    shared: Store = request.getfixturevalue(f"{engine_name}_people")
    return shared


@pytest.fixture
def people(store: Store) -> People:
    return People(store)


def test_an_index_follows_its_rows(people: People) -> None:
    people.write(b"ada", city=b"London", age=b"36")
    people.write(b"bob", city=b"Paris")
    assert people.cities() == [(b"London", b"ada"), (b"Paris", b"bob")]
    people.write(b"ada", city=b"Paris")
    assert people.cities() == [(b"Paris", b"ada"), (b"Paris", b"bob")]
    assert people.cities(b"London") == []
    people.table.write(people.row(b"bob"), Change(delete=(CITY,)))
    assert people.cities() == [(b"Paris", b"ada")]


def test_a_hit_has_its_row_and_what_it_covers(people: People) -> None:
    people.write(b"ada", city=b"London", age=b"36")
    people.write(b"bob", city=b"London", age=b"7")
    scan = Scan(prefix=people.own + b"London")
    found = people.table.find("people_by_city", scan, where=lambda hit: hit.cover == b"36")
    (hit,) = found
    assert hit.found is not None
    assert hit.found.value(AGE) == b"36"
    assert (found.counts.entries, found.counts.passed_over, found.counts.rows) == (2, 1, 1)
    people.write(b"ada", age=b"37")
    assert [hit.cover for hit in people.table.find("people_by_city", scan)] == [b"37", b"7"]


def test_limit_and_reverse(people: People) -> None:
    changes = [(people.row(b"p%d" % n), people.change(city=b"c%d" % n)) for n in range(5)]
    people.table.write_many(changes)
    scan = Scan(prefix=people.own, reverse=True, limit=2)
    rows = [hit.row for hit in people.table.find("people_by_city", scan)]
    assert rows == [people.row(b"p4"), people.row(b"p3")]


def test_a_unique_key_has_one_row(people: People) -> None:
    people.write(b"ada", mail=b"a@x", city=b"London")
    with pytest.raises(NotUnique, match="already, for row") as caught:
        people.write(b"bob", mail=b"a@x", city=b"Paris")
    assert caught.value.row == people.row(b"ada")
    assert people.cities() == [(b"London", b"ada")]
    people.write(b"ada", mail=b"b@x")
    people.write(b"bob", mail=b"a@x")
    assert (people.mail(b"a@x"), people.mail(b"b@x"), people.mail(b"c@x")) == (b"bob", b"ada", None)
    people.table.write(people.row(b"bob"), Change(delete=(MAIL,)))
    assert people.mail(b"a@x") is None
    people.write(b"ada", mail=b"a@x")
    assert people.mail(b"a@x") == b"ada"


def test_a_leftover_claim_is_replaced(people: People) -> None:
    claims = Claims(people.table)
    index = people.table.index("people_by_mail")
    entry = Entry(people.own + b"a@x")
    claims.take(index, entry, people.row(b"ghost"), Revision(5, b"12345678"))
    assert people.mail(b"a@x") is None
    people.write(b"ada", mail=b"a@x")
    assert people.mail(b"a@x") == b"ada"


def test_a_deleted_row_keeps_its_revision(people: People) -> None:
    row = people.row(b"ada")
    people.write(b"ada", city=b"London", mail=b"a@x")
    before = people.table.read_state(row).revision
    people.table.write(row, Change(delete=(CITY, MAIL)))
    state = people.table.read_state(row)
    assert state.facts == {}
    assert state.revision.number > before.number
    assert people.cities() == []
    people.write(b"ada", city=b"London")
    assert people.cities() == [(b"London", b"ada")]


def test_a_change_may_be_decided_when_the_row_is_read(people: People) -> None:
    row = people.row(b"ada")
    people.write(b"ada", city=b"London", age=b"36")

    def older(state: RowState) -> Change | None:
        return Change(put={AGE: b"%d" % (int(state.facts[AGE]) + 1)})

    people.table.write_many([(row, older), (row, older)])
    assert people.table.read_state(row).facts[AGE] == b"38"
    assert people.table.write(row, lambda state: None) is None
    assert people.table.read_state(row).facts[AGE] == b"38"


def test_a_batch_names_what_it_did_not_write(people: People) -> None:
    people.write(b"ada", mail=b"a@x")
    changes = [
        (people.row(b"bob"), people.change(mail=b"b@x")),
        (people.row(b"eve"), people.change(mail=b"a@x")),
        (people.row(b"kim"), people.change(mail=b"b@x")),
        (people.row(b"pat"), people.change(mail=b"p@x")),
    ]
    with pytest.raises(BatchError) as caught:
        people.table.write_many(changes)
    failed = [changes[position][0].partition(b".")[2] for position in caught.value.positions]
    # Of the two who want one address in one batch, one gets it.
    assert len(failed) == 2
    assert failed[0] == b"eve" or failed[1] == b"eve"
    assert people.mail(b"b@x") in (b"bob", b"kim")
    assert people.mail(b"p@x") == b"pat"
    assert people.mail(b"a@x") == b"ada"


def test_further_writes_go_into_the_same_commit(people: People, engine_name: str) -> None:
    row, other = people.row(b"ada"), people.row(b"position")
    also = [(TABLE, Put(other, {b"a:at": b"7"}))]
    changes = [(row, people.change(city=b"London"))]
    if engine_name == "hbase":
        with pytest.raises(InvalidRequest, match="no atomic commits"):
            people.table.write_many(changes, also=also)
        return
    people.table.write_many(changes, also=also)
    found = people.store.table(TABLE).get(other)
    assert found is not None
    assert found.value(b"a:at") == b"7"
    people.write(b"eve", mail=b"a@x")
    changes = [(row, people.change(city=b"Paris")), (row, people.change(mail=b"a@x"))]
    with pytest.raises(BatchError):
        people.table.write_many(changes, also=also)
    assert people.cities() == [(b"London", b"ada")]


def test_durability_is_that_of_the_store(people: People, engine_name: str) -> None:
    row = people.row(b"ada")
    people.table.write(row, people.change(city=b"London", mail=b"a@x"), durability="sync")
    if engine_name == "hbase":
        with pytest.raises(InvalidRequest, match="lose entries"):
            people.table.write(row, people.change(city=b"Paris"), durability="none")
    else:
        people.table.write(row, people.change(city=b"Paris"), durability="none")
    with pytest.raises(InvalidRequest, match="durability 'soon'"):
        people.table.write(row, people.change(city=b"Rome"), durability="soon")  # type: ignore[arg-type]
    assert people.cities() == [(b"London" if engine_name == "hbase" else b"Paris", b"ada")]


def test_a_write_of_others_in_between_is_seen(people: People) -> None:
    row = people.row(b"ada")
    people.write(b"ada", city=b"London", age=b"1")
    calls: list[bytes] = []

    def slow(state: RowState) -> Change:
        calls.append(state.facts[AGE])
        if len(calls) == 1 and not people.store.capabilities.atomic_commits:
            People.write(people, b"ada", city=b"Rome", age=b"2")
        return Change(put={AGE: state.facts[AGE] + b"0"})

    people.table.write(row, slow)
    facts = people.table.read_state(row).facts
    assert facts[AGE] == calls[-1] + b"0"
    assert people.cities() == [(facts[CITY][8:], b"ada")]


@ON_A_CLUSTER
def test_what_a_dead_writer_left_pending_is_finished(store: Store, people: People) -> None:
    row = people.row(b"ada")
    people.write(b"ada", city=b"London", mail=b"a@x")
    with pytest.raises(Stopped):
        make_people(store, dies_at="clean_up").write(row, people.change(b"Paris", b"", b"b@x"))
    assert people.table.read_state(row).pending
    # The row is written, and the index right, though the old entries are still there.
    assert people.cities() == [(b"Paris", b"ada")]
    assert (people.mail(b"a@x"), people.mail(b"b@x")) == (None, b"ada")
    assert verify(people.table).is_clean
    people.write(b"ada", age=b"36")
    assert not people.table.read_state(row).pending
    assert _entries(people) == {people.own + b"Paris/" + row}


@ON_A_CLUSTER
def test_pending_work_is_finished_also_by_a_writer_that_changes_nothing(
    store: Store, people: People
) -> None:
    row = people.row(b"ada")
    people.write(b"ada", city=b"London", mail=b"a@x")
    with pytest.raises(Stopped):
        make_people(store, dies_at="clean_up").write(row, people.change(b"Paris", b"", b"b@x"))
    assert people.table.read_state(row).pending
    assert people.table.write(row, lambda _: None) is None
    assert not people.table.read_state(row).pending
    assert _entries(people) == {people.own + b"Paris/" + row}


@ON_A_CLUSTER
def test_repair_removes_leftovers_when_they_are_old(store: Store, people: People) -> None:
    row = people.row(b"ada")
    people.write(b"ada", city=b"London", mail=b"a@x")
    with pytest.raises(Stopped):
        make_people(store, dies_at="swap_rows").write(row, people.change(b"Paris", b"", b"b@x"))
    leftover = people.own + b"Paris/" + row
    assert people.cities() == [(b"London", b"ada")]
    report = verify(people.table, repair=True)
    assert report.is_clean
    assert report.young >= 2
    assert leftover in _entries(people)
    later = make_people(store, clock=AheadClock(REPAIR_AGE_MS + 1_000))
    assert verify(later, repair=True).leftovers >= 2
    assert verify(later).is_tidy
    assert _entries(people) == {people.own + b"London/" + row}
    assert people.mail(b"a@x") == b"ada"
    people.write(b"bob", mail=b"b@x")
    assert people.mail(b"b@x") == b"bob"


def test_verify_finds_missing_entries_and_repair_puts_them(store: Store, people: People) -> None:
    row = people.row(b"ada")
    people.write(b"ada", city=b"London", mail=b"a@x")
    for name, key in (
        (INDEXES[0], people.own + b"London/" + row),
        (INDEXES[1], people.own + b"a@x"),
    ):
        store.table(name).mutate(key, [Delete(key)])
    deleted_ms = time.time_ns() // 1_000_000
    report = verify(people.table)
    assert not report.is_clean
    missing = {(each.name, each.row) for each in report.missing}
    assert missing == {(INDEXES[0], row), (INDEXES[1], row)}
    # A delete marker masks puts of its own millisecond, also those of a repair.
    while time.time_ns() // 1_000_000 <= deleted_ms + 1:
        pass
    _, entries = explain_row(people.table, row)
    assert [entry.is_there for entry in entries] == [False, False]
    verify(people.table, repair=True)
    assert verify(people.table).is_clean
    assert people.cities() == [(b"London", b"ada")]
    assert people.mail(b"a@x") == b"ada"


def test_explain_counts_what_was_read(people: People) -> None:
    people.write(b"ada", city=b"London")
    people.write(b"bob", city=b"London")
    told = explain(people.table, "people_by_city", Scan(prefix=people.own + b"London"))
    assert (told.table, told.start) == ("people_by_city", people.own + b"London")
    assert (told.counts.entries, told.counts.rows, told.counts.shown) == (2, 2, 2)
    state, entries = explain_row(people.table, people.row(b"ada"))
    assert state.facts[CITY] == people.own + b"London"
    assert [(entry.name, entry.is_there) for entry in entries] == [("people_by_city", True)]


def test_an_index_is_built_for_rows_that_were_there(people: People, store: Store) -> None:
    people.write(b"ada", age=b"36")
    people.write(b"bob", age=b"7")
    name = f"people_by_age_{people.own.decode()}"
    by_age = Index(
        name, lambda row, facts: [Entry(facts[AGE] + b"/" + row)] if AGE in facts else []
    )
    with_age = IndexedTable(store, TABLE, [BY_CITY, by_age], columns=(b"a",))
    with pytest.raises(SchemaMismatch, match="create_tables"):
        with_age.write(people.row(b"ada"), Change())
    with_age.create_tables()
    assert with_age.state(name) == "building"
    with pytest.raises(StaleIndex, match="being built"):
        with_age.find(name)
    with_age.write(people.row(b"kim"), Change(put={AGE: b"8"}))
    build(with_age, name)
    mine = [hit.row for hit in with_age.find(name) if hit.row.startswith(people.own)]
    assert mine == [people.row(b"ada"), people.row(b"bob"), people.row(b"kim")]
    with pytest.raises(InvalidRequest, match="built already"):
        build(with_age, name)
    store.drop_table(name)


def test_entries_are_renewed_where_rows_expire(people: People, store: Store) -> None:
    renewing = make_people(store, renew=True)
    row, key = people.row(b"ada"), people.own + b"London/" + people.row(b"ada")
    for table, same in ((people.table, True), (renewing, False)):
        first = table.write(row, people.change(city=b"London"))
        second = table.write(row, people.change(city=b"London"))
        found = store.table(INDEXES[0]).get(key)
        assert found is not None
        assert (found.cells[0].timestamp == first) == same
        assert (found.cells[0].timestamp == second) != same


def test_an_index_may_live_in_the_table_of_its_rows(store: Store) -> None:
    name = f"ranks_{uuid.uuid4().hex[:8]}"
    store.create_table(name, "page", "rank")
    ranks = Index(
        "by_count",
        lambda row, facts: [Entry(b"t:" + facts[b"page:count"] + b":" + row[2:])],
        columns=(b"page:count",),
        table=name,
        prefix=b"t:",
        family="rank",
    )
    table = IndexedTable(
        store, name, [ranks], columns=(b"page:count",), cells=b"page:", prefix=b"p:"
    )
    table.create_tables()
    assert table.state("by_count") == "ready"
    for row, count in ((b"p:a", b"3"), (b"p:b", b"5"), (b"p:a", b"7")):
        table.write(row, Change(put={b"page:count": count}))
    found = table.find("by_count", Scan(reverse=True))
    assert [(hit.key, hit.row) for hit in found] == [(b"t:7:a", b"p:a"), (b"t:5:b", b"p:b")]
    report = verify(table)
    assert (report.rows, report.entries, report.is_tidy) == (2, 2, True)
    store.drop_table(name)


def test_bad_entries_write_nothing(people: People, store: Store) -> None:
    row = people.row(b"ada")
    for index in (
        Index(INDEXES[0], lambda row, facts: [Entry(b"")]),
        Index(INDEXES[0], lambda row, facts: [Entry(b"x" + row)], prefix=b"y"),
        Index(INDEXES[0], lambda row, facts: [Entry(row, b"cover")], unique=True),
    ):
        table = IndexedTable(store, TABLE, [index], columns=(b"a",))
        with pytest.raises(InvalidRequest, match=INDEXES[0]):
            table.write(row, people.change(city=b"London"))
    assert store.table(TABLE).get(row) is None
    with pytest.raises(InvalidRequest, match="known indexes: people_by_city, people_by_mail"):
        people.table.find("by_shoe_size")


def test_writers_at_once_leave_clean_indexes(people: People, store: Store) -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        table = make_people(store)
        try:
            for _ in range(15):
                row = people.row(b"p%d" % chance.randrange(4))
                city, mail = b"c%d" % chance.randrange(3), b"m%d" % chance.randrange(3)
                try:
                    table.write_many([(row, people.change(city=city, mail=mail))])
                except BatchError as error:
                    if error.split(NotUnique)[1] is not None:
                        raise
        except BaseException as error:  # noqa: BLE001 - the test fails with it
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert verify(people.table).is_clean
    rows = {people.row(b"p%d" % n) for n in range(4)}
    states = [people.table.read_state(row) for row in rows]
    mails = [state.facts[MAIL] for state in states if MAIL in state.facts]
    assert len(mails) == len(set(mails))
    assert len(people.cities()) == len([state for state in states if CITY in state.facts])


@pytest.mark.parametrize("is_reverse", [False, True])
def test_ranges_that_are_read_together_are_read_to_their_ends(
    people: People, is_reverse: bool
) -> None:
    for number in range(20):
        people.write(b"p%02d" % number, b"Rome" if number < 9 else b"Oslo")
    name = INDEXES[0]
    for some in (None, 1, 8, 9, 30):
        scans = [
            Scan(prefix=people.own + city, reverse=is_reverse, batch_rows=some)
            for city in (b"Oslo", b"Paris", b"Rome", b"")
        ]
        together = [list(stream) for stream in people.table.hits_of_many(name, scans)]
        assert together == [list(people.table.hits(name, scan)) for scan in scans]
        assert [len(found) for found in together] == [11, 0, 9, 20]


def _entries(people: People) -> set[bytes]:
    """Returns the keys of all city entries of the test, also of those that no row has."""
    return {hit.key for hit in people.table.hits(INDEXES[0], Scan(prefix=people.own))}
