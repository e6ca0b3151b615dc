"""Where ours does something else than happybase on purpose; the how-to page has the same list.

Each test says what happybase does, and what we do instead.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.happybase.conftest import Flavour, Whole, counting, new_prefix
from webtable import WebTableError
from webtable.filters import PrefixFilter


@pytest.mark.parametrize(
    ("prefix", "found", "right"),
    [
        # happybase leaves out the key that is the prefix, and lets in the one after the range.
        (b"a", [b"b", b"a2", b"a1"], [b"a2", b"a1", b"a"]),
        (b"\xff", [b"\xff\xff1"], [b"\xff\xff1", b"\xff"]),
    ],
)
def test_reverse_prefix(
    flavour: Flavour, fixed: Any, prefix: bytes, found: list[bytes], right: list[bytes]
) -> None:
    keys = [row for row, _ in fixed.scan(row_prefix=prefix, reverse=True)]
    assert keys == (found if flavour.name == "real" else right)


def test_prefix_may_be_text(flavour: Flavour, fixed: Any) -> None:
    if flavour.name == "real":
        with pytest.raises(AssertionError):
            list(fixed.scan(row_prefix="a"))
    else:
        assert len(list(fixed.scan(row_prefix="a"))) == 3


def test_a_family_and_a_column_of_it(flavour: Flavour, table: Any, key: bytes) -> None:
    table.put(key, {b"f:a": b"1", b"f:b": b"2"})
    both, last = {b"f:a": b"1", b"f:b": b"2"}, {b"f:a": b"1"}
    assert table.row(key, [b"f:a", b"f"]) == both
    assert table.row(key, [b"f", b"f:a"]) == (last if flavour.name == "real" else both)


@pytest.mark.parametrize(
    ("option", "given"),
    [("max_versions", "5"), ("time_to_live", "60"), ("compression", 5), ("bloom_filter_type", 5)],
)
def test_options_of_a_wrong_kind_are_named(flavour: Flavour, option: str, given: Any) -> None:
    connection = flavour.connect()
    kind = flavour.errors.TException if flavour.name == "real" else TypeError
    with pytest.raises(kind) as raised:
        connection.create_table("refused", {"f": {option: given}})
    if flavour.name != "real":
        assert f"option '{option}' of family 'f'" in str(raised.value)
    connection.close()


def test_fractions_are_not_cut_off(flavour: Flavour, fixed: Any, table: Any, key: bytes) -> None:
    connection = flavour.connect()
    calls = (
        lambda: list(fixed.scan(limit=2.5)),
        lambda: list(fixed.scan(batch_size=2.5)),
        lambda: list(fixed.scan(scan_batching=2.5)),
        lambda: table.counter_inc(key, b"f:n", 1.5),
        lambda: connection.create_table("fractions", {"f": {"time_to_live": 60.5}}),
    )
    for call in calls:
        if flavour.name == "real":
            call()
        else:
            with pytest.raises(TypeError, match="must be an integer"):
                call()
    if flavour.name == "real":
        connection.delete_table("fractions", disable=True)
    connection.close()


def test_versions_may_be_another_whole_number(flavour: Flavour, table: Any, key: bytes) -> None:
    table.put(key, {b"f:a": b"1"})
    if flavour.name == "real":
        with pytest.raises(TypeError):
            table.cells(key, b"f:a", versions=Whole(2))
    else:
        assert table.cells(key, b"f:a", versions=Whole(2)) == [b"1"]


@pytest.mark.parametrize(
    "call",
    [
        lambda table: table.row(5),
        lambda table: table.row(b"row", [5]),
        lambda table: table.put(b"row", {b"f:a": 5}),
        lambda table: table.delete(b"row", b"f:a"),
        lambda table: list(table.scan(columns=b"f")),
        lambda table: list(table.scan(columns="f:a")),
        lambda table: table.counter_inc(b"row", b"f:a", "1"),
    ],
)
def test_things_of_a_wrong_kind_are_type_errors(flavour: Flavour, table: Any, call: Any) -> None:
    with pytest.raises(flavour.errors.TException if flavour.name == "real" else TypeError):
        call(table)


def test_a_closed_connection_says_so(flavour: Flavour) -> None:
    connection = flavour.connect()
    connection.close()
    with pytest.raises(
        AssertionError if flavour.name == "real" else flavour.errors.TTransportException
    ):
        connection.tables()


def test_family_names_may_be_bytes(flavour: Flavour) -> None:
    connection = flavour.connect()
    if flavour.name == "real":
        with pytest.raises(TypeError):
            connection.create_table("bytes", {b"f": {}})
    else:
        connection.create_table("bytes", {b"f": {}})
        assert list(connection.table("bytes").families()) == [b"f"]
        connection.delete_table("bytes", disable=True)
    connection.close()


def test_setting_a_counter_that_is_ahead_of_the_clock(
    flavour: Flavour, table: Any, key: bytes
) -> None:
    ahead = int(time.time() * 1000) + 60_000  # as after very many increments in a short time
    table.put(key, {b"f:n": (5).to_bytes(8, "big")}, timestamp=ahead)
    table.counter_set(key, b"f:n", 7)
    assert table.counter_get(key, b"f:n") == (5 if flavour.name == "real" else 7)


def test_deleting_a_row_alone_is_one_call(flavour: Flavour, table: Any, key: bytes) -> None:
    asked = counting(flavour, table)
    asked.put(key, {b"f:a": b"1"}, timestamp=1)
    asked.delete(key)
    assert asked.row(key) == {}
    assert asked.count == (1 if flavour.name == "real" else 0)


def test_a_namespace_is_made_with_its_table(flavour: Flavour) -> None:
    connection = flavour.connect(table_prefix=None)
    namespace = new_prefix()
    if flavour.name == "real":
        with pytest.raises(flavour.errors.IOError):
            connection.create_table(f"{namespace}:t", {"f": {}})
    else:
        connection.create_table(f"{namespace}:t", {"f": {}})
        assert f"{namespace}:t".encode() in connection.tables()
        connection.delete_table(f"{namespace}:t", disable=True)
        connection.store.admin.drop_namespace(namespace)
    connection.close()


def test_messages_are_text_with_a_hint(flavour: Flavour, connection: Any) -> None:
    with pytest.raises(flavour.errors.IOError) as raised:
        connection.table("nowhere").row(b"row")
    if flavour.name == "real":
        assert type(raised.value.message) is bytes
    else:
        assert isinstance(raised.value, WebTableError)
        assert "nowhere' does not exist" in raised.value.message
        assert raised.value.hint.startswith("known tables: ")
        assert raised.value.code == "table-not-found"


def test_bad_arguments_are_illegal_arguments(flavour: Flavour, table: Any, fixed: Any) -> None:
    calls = (
        lambda: table.row(b""),
        lambda: table.put(b"row", {b"f": b"1"}),
        lambda: list(fixed.scan(filter="Nope()")),
    )
    for call in calls:
        with pytest.raises(flavour.errors.TException) as raised:
            call()
        expected = "TApplicationException" if flavour.name == "real" else "IllegalArgument"
        assert type(raised.value).__name__ == expected


def test_messages_say_what_is_wrong(flavour: Flavour, table: Any, fixed: Any) -> None:
    def refused(kind: type[Exception], message: str) -> Any:
        if flavour.name == "real":  # whose messages are Java's
            return pytest.raises(flavour.errors.TException)
        return pytest.raises(kind, match=message)

    with refused(TypeError, "'columns' must be a list of columns"):
        list(fixed.scan(columns="f:q"))
    with refused(flavour.errors.IllegalArgument, "b'f' names only a family"):
        table.put(b"row", {b"f": b"1"})
    connection = flavour.connect()
    connection.create_table("twice", {"f": {}})
    connection.disable_table("twice")
    with refused(flavour.errors.IOError, "twice' is disabled already"):
        connection.disable_table("twice")
    connection.delete_table("twice")
    connection.close()


def test_a_filter_may_be_a_value(flavour: Flavour, fixed: Any) -> None:
    if flavour.name == "real":
        with pytest.raises(flavour.errors.TException):
            list(fixed.scan(filter=PrefixFilter(b"a")))
    else:
        keys = [row for row, _ in fixed.scan(filter=PrefixFilter(b"a"))]
        assert keys == [b"a", b"a1", b"a2"]
        with pytest.raises(flavour.errors.IllegalArgument, match=r"a filter of webtable\.filters"):
            list(fixed.scan(filter=5))
