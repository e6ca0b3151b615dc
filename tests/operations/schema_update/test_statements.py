"""Statements: their texts, and that the shell does with a text what `run` does."""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import webtable
from webtable.cli.shell.hbase_layout import Printer
from webtable.cli.shell.language.lexer import Lexer
from webtable.cli.shell.session import Session
from webtable.operations.schema_update.statements import (
    AlterTable,
    CreateTable,
    FamilyChange,
    PutCell,
    SplitTable,
    Statement,
)
from webtable.store.schema import Family, TableSchema
from webtable.store.store import Store

PLAIN = TableSchema(name="t", families=(Family(name="a"),))
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with webtable.open(str(tmp_path_factory.mktemp("statements") / "store")) as opened:
        yield opened


def run_in_shell(store: Store, text: str) -> None:
    session = Session(store, Printer(io.StringIO()), lambda _: "n", with_times=False)
    lexer = Lexer()
    lexer.feed(text)
    assert not lexer.is_open, text
    session.run(lexer)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            CreateTable(TableSchema(name="t", families=(Family(name="a"),))),
            "create 't', {NAME => 'a'}",
        ),
        (
            CreateTable(
                TableSchema(
                    name="t",
                    families=(
                        Family(name="b", versions=3, ttl_seconds=60, in_memory=True),
                        Family(name="a", compression="GZ", attributes={"x.y": "1", "Z": "it's"}),
                    ),
                    max_filesize=2**32,
                    attributes={"hbase.hstore.time.to.purge.deletes": "3600000"},
                ),
                [b"m", b"\x0f'"],
            ),
            "create 't', {NAME => 'a', COMPRESSION => 'GZ', METADATA => {'Z' => \"it's\"},"
            " CONFIGURATION => {'x.y' => '1'}}, {NAME => 'b', VERSIONS => 3, TTL => 60,"
            " IN_MEMORY => true}, {MAX_FILESIZE => 4294967296, CONFIGURATION =>"
            " {'hbase.hstore.time.to.purge.deletes' => '3600000'}, SPLITS => ['m', '\\x0F\\x27']}",
        ),
        (
            AlterTable(
                "t",
                {"a": FamilyChange({"ttl_seconds": None, "versions": 2**31 - 1}, {})},
                {"memstore_flushsize": 5},
                {},
            ),
            "alter 't', {NAME => 'a', TTL => 'FOREVER', VERSIONS => 2147483647},"
            " {MEMSTORE_FLUSHSIZE => 5}",
        ),
        (SplitTable("ns:t", b"a\x00#"), "split 'ns:t', \"a\\x00\\#\""),
        (PutCell("t", b"r", b"a:b", b'"\\'), "put 't', 'r', 'a:b', \"\\\"\\\\\""),
    ],
)
def test_the_text_of_a_statement(statement: Statement, text: str) -> None:
    assert statement.text == text


names = st.text(
    st.characters(codec="utf-8", exclude_characters=":/\\", exclude_categories=["C", "Z"]),
    min_size=1,
    max_size=12,
).filter(lambda name: name[0] != "." and name != "recovered.edits")
attribute_names = st.one_of(
    st.sampled_from(["hbase.x.y", "owner.of.this", "NOTE", "it's", 'a "b" #{c}'])
)
values = st.text(st.characters(codec="utf-8"), max_size=12)
attributes = st.dictionaries(attribute_names, values, max_size=2)
ttls = st.one_of(st.none(), st.integers(1, 2**31 - 2))


@st.composite
def families(draw: st.DrawFn) -> Family:
    versions = draw(st.one_of(st.integers(1, 9), st.just(2**31 - 1)))
    return Family(
        name=draw(names),
        versions=versions,
        min_versions=draw(st.integers(0, min(versions, 9))),
        ttl_seconds=draw(ttls),
        keep_deleted_cells=draw(st.sampled_from(["FALSE", "TRUE", "TTL"])),
        bloomfilter=draw(st.sampled_from(["NONE", "ROW", "ROWCOL"])),
        compression=draw(st.sampled_from(["NONE", "GZ", "ZSTD"])),
        data_block_encoding=draw(st.sampled_from(["NONE", "FAST_DIFF"])),
        blocksize=draw(st.integers(1024, 2**20)),
        in_memory=draw(st.booleans()),
        attributes=draw(attributes),
    )


def schemas(name: str) -> st.SearchStrategy[TableSchema]:
    return st.builds(
        lambda *given: TableSchema(
            name=name,
            families=tuple({each.name: each for each in given[0]}.values()),
            max_filesize=given[1],
            memstore_flushsize=given[2],
            attributes=given[3],
        ),
        st.lists(families(), min_size=1, max_size=3),
        st.one_of(st.none(), st.integers(1, 2**40)),
        st.one_of(st.none(), st.integers(1, 2**40)),
        attributes,
    )


# Each example makes tables, whose files take their time.
few = settings(
    max_examples=200 if os.environ.get("WEBTABLE_SOAK") else 10,
    deadline=None,
)


@few
@given(schema=schemas("t"), splits=st.sets(st.binary(min_size=1, max_size=4), max_size=4))
def test_the_shell_creates_the_same_table(
    shared: Store, schema: TableSchema, splits: set[bytes]
) -> None:
    number = next(NUMBERS)
    created = []
    for way in ("run", "shell"):
        named = msgspec.structs.replace(schema, name=f"{way}{number}")
        statement = CreateTable(named, sorted(splits))
        statement.run(shared) if way == "run" else run_in_shell(shared, statement.text)
        starts = [region.start for region in shared.admin.regions(named.name)]
        found = shared.describe_table(named.name)
        created.append((msgspec.structs.replace(found, name="t"), starts))
        shared.drop_table(named.name)
    assert created[0] == created[1]
    assert created[0] == (schema, [b"", *sorted(splits)])


@few
@given(before=schemas("t"), after=schemas("t"))
def test_the_shell_alters_a_table_in_the_same_way(
    shared: Store, before: TableSchema, after: TableSchema
) -> None:
    number = next(NUMBERS)
    changes = {
        family.name: FamilyChange(
            {
                field: getattr(family, field)
                for field in Family.__struct_fields__
                if field not in ("name", "attributes")
            },
            family.attributes,
        )
        for family in after.families
    }
    options = {
        field: value
        for field in ("max_filesize", "memstore_flushsize")
        if (value := getattr(after, field)) is not None
    }
    altered = []
    for way in ("run", "shell"):
        name = f"{way}{number}"
        shared.create_table(msgspec.structs.replace(before, name=name))
        statement = AlterTable(name, changes, options, after.attributes)
        statement.run(shared) if way == "run" else run_in_shell(shared, statement.text)
        altered.append(msgspec.structs.replace(shared.describe_table(name), name="t"))
        shared.drop_table(name)
    assert altered[0] == altered[1]


@few
@given(row=st.binary(min_size=1, max_size=8), value=st.binary(max_size=8))
def test_the_shell_puts_the_same_cell(shared: Store, row: bytes, value: bytes) -> None:
    name = f"put{next(NUMBERS)}"
    table = shared.create_table(name, "a")
    run_in_shell(shared, PutCell(name, row, b"a:q", value).text)
    found = table.get(row)
    assert found is not None
    assert found.values() == {b"a:q": value}
    PutCell(name, row, b"a:q", value + b"2").run(shared)
    found = table.get(row)
    assert found is not None
    assert found.values() == {b"a:q": value + b"2"}
    shared.drop_table(name)


def test_a_table_that_was_created_meanwhile_is_no_error(shared: Store) -> None:
    schema = TableSchema(name="twice", families=(Family(name="a"),))
    CreateTable(schema).run(shared)
    CreateTable(schema).run(shared)
    assert shared.describe_table("twice") == schema
