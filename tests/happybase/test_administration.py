"""Tables: creating, listing, enabling, deleting them; families and regions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.happybase.conftest import Flavour, Whole, new_prefix


@pytest.fixture
def own(flavour: Flavour) -> Iterator[Any]:
    """A connection with a table prefix of its own, so that a test sees only its own tables."""
    connection = flavour.connect(table_prefix=new_prefix())
    yield connection
    for name in connection.tables():
        connection.delete_table(name, disable=True)
    connection.close()


def test_life_of_a_table(flavour: Flavour, own: Any) -> None:
    errors = flavour.errors
    own.create_table("pages", {"f": {}})
    assert own.tables() == [b"pages"]
    with pytest.raises(errors.AlreadyExists):
        own.create_table(b"pages", {"g": {}})
    assert own.is_table_enabled("pages") is True
    with pytest.raises(errors.IOError):
        own.enable_table("pages")  # it is enabled
    with pytest.raises(errors.IOError):
        own.delete_table("pages")  # it is not disabled

    table = own.table("pages")
    table.put(b"row", {b"f:a": b"1"})
    own.disable_table(b"pages")
    assert own.is_table_enabled(b"pages") is False
    with pytest.raises(errors.IOError):
        own.disable_table("pages")
    with pytest.raises(errors.IOError):
        table.row(b"row")
    with pytest.raises(errors.IOError):
        next(table.scan())
    own.enable_table("pages")
    assert table.row(b"row") == {b"f:a": b"1"}

    own.disable_table("pages")
    own.delete_table("pages")
    assert own.tables() == []
    own.create_table("pages", {"f": {}})
    own.delete_table("pages", disable=True)
    assert own.tables() == []


def test_unknown_table(flavour: Flavour, own: Any) -> None:
    for call in (
        own.enable_table,
        own.disable_table,
        own.is_table_enabled,
        own.delete_table,
        lambda name: own.delete_table(name, disable=True),
        own.compact_table,
    ):
        with pytest.raises(flavour.errors.IOError):
            call("nowhere")


def test_compaction_is_requested(table: Any, connection: Any, key: bytes) -> None:
    table.put(key, {b"f:a": b"1"})
    assert connection.compact_table("shared") is None
    assert connection.compact_table("shared", major=True) is None
    assert table.row(key) == {b"f:a": b"1"}


def test_families(own: Any) -> None:
    own.create_table(
        "options",
        {
            "plain": {},
            "none": None,
            "colon:": {"max_versions": 10, "time_to_live": 1000},
            "tuned": {
                "compression": "gz",
                "in_memory": True,
                "bloom_filter_type": "ROWCOL",
                "bloom_filter_vector_size": 7,
                "bloom_filter_nb_hashes": 7,
                "block_cache_enabled": True,
                "time_to_live": -1,
            },
        },
    )
    plain = {
        "name": b"plain:",
        "max_versions": 3,
        "compression": b"NONE",
        "in_memory": False,
        "bloom_filter_type": b"NONE",
        "bloom_filter_vector_size": 0,
        "bloom_filter_nb_hashes": 0,
        "block_cache_enabled": False,
        "time_to_live": 2**31 - 1,
    }
    assert own.table("options").families() == {
        b"plain": plain,
        b"none": {**plain, "name": b"none:"},
        b"colon": {**plain, "name": b"colon:", "max_versions": 10, "time_to_live": 1000},
        b"tuned": {
            **plain,
            "name": b"tuned:",
            "compression": b"GZ",
            "in_memory": True,
            "bloom_filter_type": b"ROWCOL",
            "block_cache_enabled": True,
        },
    }


@pytest.mark.parametrize("whole", [int, Whole])
def test_numbers_of_families(own: Any, whole: Any) -> None:
    own.create_table("numbers", {"f": {"max_versions": whole(7), "time_to_live": whole(60)}})
    family = own.table("numbers").families()[b"f"]
    assert (family["max_versions"], family["time_to_live"]) == (7, 60)


def test_an_option_of_none_was_not_given(own: Any) -> None:
    options = (
        "max_versions",
        "compression",
        "in_memory",
        "bloom_filter_type",
        "bloom_filter_vector_size",
        "bloom_filter_nb_hashes",
        "block_cache_enabled",
        "time_to_live",
    )
    own.create_table("nones", {"f": {}, "g": dict.fromkeys(options)})
    families = own.table("nones").families()
    assert families[b"g"] == {**families[b"f"], "name": b"g:"}
    with pytest.raises(TypeError, match="nope"):
        own.create_table("refused", {"f": {"nope": None}})


@pytest.mark.parametrize("family", ["f00:c", "f00::", "f00:c:d", "f00:/"])
def test_the_part_before_a_colon_is_the_family(own: Any, family: str) -> None:
    own.create_table("colons", {family: {}})
    assert list(own.table("colons").families()) == [b"f00"]


def test_a_family_twice(flavour: Flavour, own: Any) -> None:
    with pytest.raises(flavour.errors.IllegalArgument):
        own.create_table("refused", {"f:a": {}, "f:b": {}})


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("f", {"compression": "NOPE"}),
        ("f", {"bloom_filter_type": "row"}),  # in capital letters only
        ("f", {"max_versions": 0}),
        ("f/x", {}),
        (":f", {}),
    ],
)
def test_families_rejected(
    flavour: Flavour, own: Any, family: str, options: dict[str, object]
) -> None:
    with pytest.raises(flavour.errors.IllegalArgument):
        own.create_table("refused", {family: options})
    assert own.tables() == []


def test_bad_arguments(flavour: Flavour, own: Any) -> None:
    with pytest.raises(TypeError, match="'families' arg must be a dictionary"):
        own.create_table("refused", ["f"])
    with pytest.raises(ValueError, match="no column families specified"):
        own.create_table("refused", {})
    with pytest.raises(TypeError, match="nope"):
        own.create_table("refused", {"f": {"nope": 1}})
    with pytest.raises(flavour.errors.TException):
        own.create_table("a name with blanks", {"f": {}})
    with pytest.raises(TypeError, match="must be a text or byte string, got int"):
        own.table(5)
    assert own.tables() == []


def test_regions(fixed: Any) -> None:
    [region] = fixed.regions()
    assert set(region) == {"start_key", "end_key", "id", "name", "version", "server_name", "port"}
    assert region["start_key"] == region["end_key"] == b""
    assert region["version"] == 1
    assert region["name"].startswith(fixed.name + b",")
    number = re.search(rb",(\d+)(\.|$)", region["name"])
    assert number is not None
    assert region["id"] == int(number[1])
    assert region["server_name"]
    assert type(region["server_name"]) is bytes
    assert type(region["port"]) is int


def test_prefixes(flavour: Flavour) -> None:
    prefix = new_prefix()
    plain = flavour.connect(table_prefix=None)
    first = flavour.connect(table_prefix=prefix)
    second = flavour.connect(table_prefix=prefix.encode(), table_prefix_separator="-")
    assert first.table("t").name == first.table(b"t").name == f"{prefix}_t".encode()
    assert first.table("t", use_prefix=False).name == b"t"
    assert second.table("t").name == f"{prefix}-t".encode()
    assert plain.table("t").name == b"t"
    assert (first.table_prefix, first.table_prefix_separator) == (prefix.encode(), b"_")
    assert plain.table_prefix is None

    first.create_table("t", {"f": {}})
    assert first.tables() == [b"t"]
    assert second.tables() == []
    assert f"{prefix}_t".encode() in plain.tables()
    first.table("t").put(b"row", {b"f:a": b"1"})
    assert plain.table(f"{prefix}_t").row(b"row") == {b"f:a": b"1"}
    first.delete_table("t", disable=True)
    for connection in (plain, first, second):
        connection.close()


def test_the_default_namespace_may_be_named(flavour: Flavour) -> None:
    connection = flavour.connect(table_prefix=None)
    name = new_prefix()
    connection.create_table(f"default:{name}", {"f": {}})
    assert [each for each in connection.tables() if name.encode() in each] == [name.encode()]
    with pytest.raises(flavour.errors.AlreadyExists):
        connection.create_table(name, {"f": {}})
    table = connection.table(f"default:{name}")
    assert table.name == f"default:{name}".encode()
    table.put(b"row", {b"f:a": b"1"})
    assert connection.table(name).row(b"row") == {b"f:a": b"1"}
    assert connection.is_table_enabled(f"default:{name}") is True
    with pytest.raises(flavour.errors.TException):
        connection.table(f"default:default:{name}").row(b"row")
    connection.delete_table(f"default:{name}", disable=True)
    assert name.encode() not in connection.tables()
    connection.close()


def test_a_table_knows_where_it_belongs(connection: Any, table: Any) -> None:
    assert table.connection is connection
    assert type(table.name) is bytes
    assert f"name={table.name!r}" in repr(table)


def test_tables_and_batches_made_by_hand(
    flavour: Flavour, connection: Any, table: Any, key: bytes
) -> None:
    class Pages(flavour.module.Table):  # type: ignore[name-defined, misc]
        pass

    for row, name in ((key + b"1", table.name), (key + b"2", table.name.decode())):
        made = Pages(name, connection)
        assert made.name == name
        assert repr(made).endswith(f"Pages name={name!r}>")
        batch = flavour.module.Batch(made)
        batch.put(row, {b"f:a": b"1"})
        batch.send()
        assert made.row(row) == {b"f:a": b"1"}
        assert list(made.scan(row_prefix=row)) == [(row, {b"f:a": b"1"})]
        assert made.counter_inc(row, b"f:n") == 1
        assert sorted(made.families()) == [b"f", b"g"]
        assert len(made.regions()) == 1
        made.delete(row, [b"f:a"])
        assert list(made.row(row)) == [b"f:n"]
