"""Rows decoded into records, in plain Python and compiled, also from bytes that are not right."""

from __future__ import annotations

import importlib
from datetime import date
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.errors import CorruptData
from webtable.records import EntityKey, Float32, Int8, Int32, Key, Record, UInt16, UInt64
from webtable.records.reading import row_decoder as plain
from webtable.records.reading.decoder_choice import COMPILED
from webtable.records.record import declaration_of
from webtable.store.cells_and_rows import Row


class Item(Record, table="items"):
    name: EntityKey[str]
    raw: Key[bytes]
    small: Key[Int8]
    last: Key[str]
    big: int | None = None
    huge: UInt64 | None = None
    short: UInt16 | None = None
    number: Int32 | None = None
    ratio: float | None = None
    rough: Float32 | None = None
    flag: bool | None = None
    text: str | None = None
    data: bytes | None = None
    day: date | None = None
    tags: list[int] | None = None


PLAN = declaration_of(Item).plan
FIELDS = [column.partition(b":")[2].decode() for column in PLAN.places]


def forms() -> list[ModuleType]:
    if not COMPILED:
        return [plain]
    return [plain, importlib.import_module("webtable.records.reading._row_decoder")]


def plan_of(form: ModuleType) -> Any:
    """Returns the plan of the class in the form's own type."""
    plan = form.RowPlan()
    for name in plain.RowPlan.__annotations__:
        setattr(plan, name, getattr(PLAN, name))
    plan.template = [form.ABSENT if number < 4 else None for number in range(len(PLAN.names))]
    return plan


def outcome(form: ModuleType, row: Row) -> object:
    try:
        return form.decode_rows(plan_of(form), [row])
    except CorruptData as error:
        return error.message


values = st.fixed_dictionaries(
    {},
    optional={
        "big": st.integers(-(2**63), 2**63 - 1),
        "huge": st.integers(0, 2**64 - 1),
        "short": st.integers(0, 2**16 - 1),
        "number": st.integers(-(2**31), 2**31 - 1),
        "ratio": st.floats(allow_nan=False),
        "rough": st.floats(allow_nan=False, width=32),
        "flag": st.booleans(),
        "text": st.text(alphabet=st.characters(codec="utf-8"), max_size=5),
        "data": st.binary(max_size=5),
        "day": st.dates(),
        "tags": st.lists(st.integers(-5, 5), max_size=3),
    },
)


@given(st.text(alphabet="a\x00\x01é"), st.binary(max_size=3), st.integers(-128, 127), values)
def test_records_come_back(name: str, raw: bytes, small: int, fields: dict[str, Any]) -> None:
    item = Item(name, raw, small, name, **fields)
    put = declaration_of(Item).put(item)
    row = Row(put.row, [(column, 1, value, 4) for column, value in put.values.items()])
    for form in forms():
        assert form.decode_rows(plan_of(form), [row, row]) == [item, item]
        assert form.decode_key(plan_of(form), row.key) == (name, raw, small, name)


@given(
    st.binary(max_size=12),
    st.lists(st.tuples(st.sampled_from(FIELDS), st.binary(max_size=9)), max_size=3),
)
def test_every_form_says_the_same_of_any_bytes(key: bytes, cells: list[tuple[str, bytes]]) -> None:
    row = Row(b"\x00" + key, [(f"a:{name}".encode(), 1, value, 4) for name, value in cells])
    expected = outcome(plain, row)
    for form in forms():
        found = outcome(form, row)
        # Python words it differently when it decodes a part and not the whole.
        if isinstance(expected, str) and "codec can't decode" in expected:
            assert isinstance(found, str)
            assert found.partition("decode: ")[0] == expected.partition("decode: ")[0]
        else:
            assert repr(found) == repr(expected)


@pytest.mark.parametrize("form", forms(), ids=lambda form: form.__name__)
def test_a_row_of_something_else_holds_no_record(form: ModuleType) -> None:
    row = Row(b"\x00no key at all", [(b"a:ghost", 1, b"x", 4), (b"a:.rev", 1, b"y", 4)])
    assert form.decode_rows(plan_of(form), [row]) == []
