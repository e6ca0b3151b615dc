"""Bad calls to the embedded engine: one clear error that names the thing and the next step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, cast

import pytest

import webtable
from tests.store.refusal import refused
from webtable import (
    Append,
    Check,
    Delete,
    Durability,
    Family,
    Increment,
    Put,
    Store,
    Table,
    TableSchema,
)
from webtable.errors import (
    BatchError,
    FamilyNotFound,
    InvalidRequest,
    TableExists,
    TableNotFound,
    WebTableError,
    door,
)
from webtable.filters import Filter

LONG = b"k" * 32_768
VALUES = {b"f:q": b"v"}
TEXT = cast(bytes, "text")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with webtable.open(str(path)) as store:
        table = store.create_table("pages", "f", "g")
        table.put(b"row", {b"f:q": b"v", b"g:q": b"w"}, timestamp=5)
        yield store


class Case(NamedTuple):
    name: str
    call: Callable[[Store], object]
    kind: type[WebTableError]
    names: str
    exit_code: int = 2


def _row_key_cases() -> Iterator[Case]:
    calls: dict[str, Callable[[Store, bytes], object]] = {
        "get": lambda store, row: store.table("pages").get(row),
        "get_many": lambda store, row: store.table("pages").get_many([b"row", row]),
        "put": lambda store, row: store.table("pages").put(row, VALUES),
        "delete": lambda store, row: store.table("pages").delete(row),
        "increment": lambda store, row: store.table("pages").increment(row, b"f:n"),
        "append": lambda store, row: store.table("pages").append(row, b"f:q", b"x"),
        "mutate": lambda store, row: store.table("pages").mutate(row, [Put(row, VALUES)]),
        "check_and_mutate": lambda store, row: store.table("pages").check_and_mutate(
            row, Check.absent(b"f:n"), Put(row, VALUES)
        ),
        "batch": lambda store, row: store.table("pages").batch().put(row, VALUES),
        "commit": lambda store, row: store.commit([("pages", Put(row, VALUES))]),
    }
    for name, call in calls.items():
        for kind, row, says in (
            ("empty", b"", "row key is empty"),
            ("long", LONG, "32,768 bytes"),
            ("text", "row", "'row' is str"),
        ):
            yield Case(
                f"{kind} row, {name}",
                lambda store, call=call, row=row: call(store, row),  # type: ignore[misc]
                InvalidRequest,
                says,
            )
    yield Case(
        "long start", lambda store: store.table("pages").scan(start=LONG), InvalidRequest, "32,768"
    )
    yield Case(
        "long prefix",
        lambda store: store.table("pages").scan(prefix=LONG),
        InvalidRequest,
        "32,768",
    )


def _table_cases() -> Iterator[Case]:
    calls: dict[str, Callable[[Store], object]] = {
        "get": lambda store: store.table("pagse").get(b"row"),
        "scan": lambda store: store.table("pagse").scan(),
        "put": lambda store: store.table("pagse").put(b"row", VALUES),
        "delete": lambda store: store.table("pagse").delete(b"row"),
        "increment": lambda store: store.table("pagse").increment(b"row", b"f:n"),
        "append": lambda store: store.table("pagse").append(b"row", b"f:q", b"x"),
        "check_and_mutate": lambda store: store.table("pagse").check_and_mutate(
            b"row", Check.absent(b"f:n"), Put(b"row", VALUES)
        ),
        "commit": lambda store: store.commit([("pagse", Put(b"row", VALUES))]),
        "schema": lambda store: store.table("pagse").schema(),
        "describe": lambda store: store.describe_table("pagse"),
        "alter": lambda store: store.alter_table(
            TableSchema(name="pagse", families=(Family(name="f"),))
        ),
        "truncate": lambda store: store.truncate_table("pagse"),
        "drop": lambda store: store.drop_table("pagse"),
        "flush": lambda store: store.table("pagse").flush(),
        "major_compact": lambda store: store.table("pagse").major_compact(),
        "regions": lambda store: store.table("pagse").regions(),
        "stats": lambda store: store.table("pagse").stats(),
    }
    for name, call in calls.items():
        yield Case(f"unknown table, {name}", call, TableNotFound, "'pagse'", 3)


def _family_cases() -> Iterator[Case]:
    calls: dict[str, Callable[[Store], object]] = {
        "get": lambda store: store.table("pages").get(b"row", [b"h:q"]),
        "get family": lambda store: store.table("pages").get(b"row", [b"h"]),
        "scan": lambda store: store.table("pages").scan(columns=[b"h:q"]),
        "scan family": lambda store: store.table("pages").scan(columns=[b"f", b"h"]),
        "put": lambda store: store.table("pages").put(b"row", {b"f:q": b"1", b"h:q": b"2"}),
        "delete": lambda store: store.table("pages").delete(b"row", [b"h:q"]),
        "delete family": lambda store: store.table("pages").delete(b"row", [b"h"]),
        "increment": lambda store: store.table("pages").increment(b"row", b"h:n"),
        "append": lambda store: store.table("pages").append(b"row", b"h:q", b"x"),
        "check": lambda store: store.table("pages").check_and_mutate(
            b"row", Check.absent(b"h:n"), Put(b"row", VALUES)
        ),
        "checked put": lambda store: store.table("pages").check_and_mutate(
            b"row", Check.absent(b"f:n"), Put(b"row", {b"h:q": b"v"})
        ),
        "commit": lambda store: store.commit(
            [("pages", Put(b"row", {b"f:q": b"1"})), ("pages", Put(b"row", {b"h:q": b"2"}))]
        ),
    }
    for name, call in calls.items():
        yield Case(f"unknown family, {name}", call, FamilyNotFound, "'h'", 3)


FORMS: dict[str, tuple[Callable[[Store, Table], object], str]] = {
    "put at -1": (lambda s, t: t.put(b"r", VALUES, timestamp=-1), "-1"),
    "delete at -1": (lambda s, t: t.delete(b"r", timestamp=-1), "-1"),
    "get at -1": (lambda s, t: t.get(b"r", timestamp=-1), "-1"),
    "get before 0": (lambda s, t: t.get(b"r", time_range=(-5, 3)), "-5"),
    "scan backwards in time": (lambda s, t: t.scan(time_range=(9, 3)), "[9, 3)"),
    "a time of 64 bits": (lambda s, t: t.put(b"r", VALUES, timestamp=2**63), "timestamp"),
    "family version at -2": (lambda s, t: Delete(b"r").family_version(b"f", -2), "-2"),
    "no versions": (lambda s, t: t.get(b"r", versions=0), "versions 0"),
    "limit below 0": (lambda s, t: t.scan(limit=-1), "limit -1"),
    "column without family": (lambda s, t: t.put(b"r", {b"q": b"v"}), "b'q'"),
    "column text": (lambda s, t: t.put(b"r", {TEXT: b"v"}), "'text'"),
    "value text": (lambda s, t: t.put(b"r", {b"f:q": TEXT}), "f:q"),
    "value None": (lambda s, t: t.put(b"r", {b"f:q": cast(bytes, None)}), "f:q"),
    "append text": (lambda s, t: t.append(b"r", b"f:q", TEXT), "f:q"),
    "batched text": (lambda s, t: s.commit([("pages", Put(b"r", {b"f:q": TEXT}))]), "f:q"),
    "nothing put": (lambda s, t: t.put(b"r", {}), "b'r'"),
    "nothing appended": (lambda s, t: Append(b"r", {}), "b'r'"),
    "increment of text": (lambda s, t: t.increment(b"row", b"f:q"), "f:q"),
    "increment by 2^63": (lambda s, t: t.increment(b"r", b"f:n", 2**63), "f:n"),
    "two rows in one step": (lambda s, t: t.mutate(b"r", [Put(b"x", VALUES)]), "b'x'"),
    "an unknown durability": (
        lambda s, t: t.put(b"r", VALUES, durability=cast(Durability, "disk")),
        "disk",
    ),
    "family with a colon": (lambda s, t: s.create_table("t", "a:b"), "a:b"),
    "family with a dot first": (lambda s, t: s.create_table("t", ".a"), ".a"),
    "family without a name": (lambda s, t: s.create_table("t", ""), "family name ''"),
    "family of 128 bytes": (lambda s, t: s.create_table("t", "a" * 128), "aaa"),
    "no family": (lambda s, t: s.create_table("t"), "'t'"),
    "a family twice": (lambda s, t: s.create_table("t", "a", "a"), "a, a"),
    "table with a blank": (lambda s, t: s.create_table("a b", "f"), "a b"),
    "table without a name": (lambda s, t: s.table(""), "table name ''"),
    "versions 0": (lambda s, t: s.create_table("t", Family(name="f", versions=0)), "versions 0"),
    "ttl 0": (lambda s, t: s.create_table("t", Family(name="f", ttl_seconds=0)), "ttl_seconds 0"),
    "checkpoint onto itself": (lambda s, t: s.checkpoint(s.location), "store"),
}


def _form_cases() -> Iterator[Case]:
    for name, (call, says) in FORMS.items():
        yield Case(
            name,
            lambda store, call=call: call(store, store.table("pages")),  # type: ignore[misc]
            InvalidRequest,
            says,
        )
    yield Case("table twice", lambda s: s.create_table("pages", "f"), TableExists, "'pages'", 4)


CASES = [*_row_key_cases(), *_table_cases(), *_family_cases(), *_form_cases()]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_bad_call_is_rejected_and_changes_nothing(store: Store, case: Case) -> None:
    before = list(store.table("pages").scan(raw=True))
    with refused(case.kind, case.names, exit_code=case.exit_code):
        case.call(store)
    assert list(store.table("pages").scan(raw=True)) == before
    assert store.tables() == ["pages"]


def test_the_longest_row_key_is_stored(store: Store) -> None:
    longest = b"\x00" * 32_767
    store.table("pages").put(longest, VALUES)
    row = store.table("pages").get(longest)
    assert row is not None
    assert row.key == longest
    assert [each.key for each in store.table("pages").scan()] == [longest, b"row"]


def test_an_error_about_an_unknown_name_lists_the_known_ones(store: Store) -> None:
    with pytest.raises(TableNotFound, match="did you mean 'pages'"):
        store.table("pagse").get(b"row")
    with pytest.raises(FamilyNotFound, match="has: f, g"):
        store.table("pages").get(b"row", [b"h:q"])


def test_a_bad_entry_of_a_batch_does_not_stop_the_others(store: Store) -> None:
    table = store.table("pages")
    batch = table.batch()
    batch.put(b"a", VALUES)
    batch.put(b"b", {b"f:q": b"v", b"nope:q": b"v"})
    batch.add(Increment(b"row", {b"f:q": 1}))
    batch.put(b"c", VALUES)
    with pytest.raises(BatchError) as caught:
        batch.send()
    assert caught.value.positions == (1, 2)
    assert [type(error) for error in caught.value.exceptions] == [FamilyNotFound, InvalidRequest]
    assert caught.value.hint
    assert door(caught.value).exit_code == 3
    assert [row.key for row in table.scan()] == [b"a", b"c", b"row"]


class HomeMade(Filter, frozen=True):
    """A filter that no HBase has."""


def test_a_filter_that_is_none_of_hbases(store: Store) -> None:
    with pytest.raises(InvalidRequest, match=r"HomeMade is not one .*webtable\.filters"):
        list(store.table("pages").scan(filter=HomeMade()))
