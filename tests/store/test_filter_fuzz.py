"""Filter texts that no user would write: they are read or rejected, and nothing else.

Soups of the language's words, and right texts with parts lost, doubled or put elsewhere. What is
read prints back to an equal filter, and an embedded store can work with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import webtable
from tests.store.filter_values import filters_with_text
from webtable import Store, Table
from webtable.errors import InvalidRequest
from webtable.filters import Filter, filter_text, parse_filter
from webtable.store.filtering.filter_text_forms import COMPARATORS, FORMS
from webtable.store.regex import compile_regex

EXAMPLES = 5_000 if os.environ.get("WEBTABLE_SOAK") else 150
often = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

words = st.one_of(
    st.sampled_from([*FORMS, "FuzzyRowFilter", "FilterList", "Filter"]),
    st.sampled_from(["AND", "OR", "SKIP", "WHILE", "and", "NOT", "ANDOR"]),
    st.sampled_from(["(", ")", ",", "'", "''", " ", "\n", "\t", "\x00", "((", "))", ":", "\\"]),
    st.sampled_from(["<", "<=", "=", "!=", ">=", ">", "==", "=>"]),
    st.sampled_from(["true", "FALSE", "yes", "''", "'f'", "'q'", "'it''s'"]),
    st.sampled_from([f"'{kind.decode()}:" for kind in COMPARATORS]),
    st.sampled_from([f"'{kind.decode()}:a.c'" for kind in COMPARATORS]),
    st.integers(-(2**70), 2**70).map(str),
    st.text(max_size=3),
    st.sampled_from(["\udc80", "\ud800", "\U0010ffff", "é", "٣"]),
)
soups = st.lists(words, max_size=25).map("".join)
spaced_soups = st.lists(words, max_size=25).map(" ".join)


@st.composite
def mutants(draw: st.DrawFn) -> str:
    """A right text to which something happened, up to three times."""
    text = filter_text(draw(filters_with_text))
    for _ in range(draw(st.integers(1, 3))):
        start, stop = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        part = text[start:stop]
        match draw(st.sampled_from(("drop", "double", "move", "insert", "case"))):
            case "drop":
                text = text[:start] + text[stop:]
            case "double":
                text = text[:stop] + part + text[stop:]
            case "move":
                text = part + text[:start] + text[stop:]
            case "insert":
                text = text[:start] + draw(words) + text[start:]
            case _:
                text = text[:start] + part.swapcase() + text[stop:]
    return text


def refusal(error: InvalidRequest) -> str:
    """Returns what an error says, which has a hint as every error of ours."""
    assert error.hint
    return error.message


def read(text: str | bytes) -> Filter | None:
    """Returns the filter of a text, None where it is rejected, with a position in the text."""
    found, said = None, ""
    try:
        found = parse_filter(text)
    except InvalidRequest as error:
        said = refusal(error)
    if found is None:
        position = said.removeprefix("filter text, position ").partition(":")[0]
        assert 0 <= int(position) <= len(text)
        return None
    assert parse_filter(filter_text(found)) == found
    return found


@often
@given(text=st.one_of(soups, spaced_soups, mutants()))
@example(text="\ud800")
@example(text="PrefixFilter('\ud800')")
@example(text="(" * 5_000)
@example(text="SKIP " * 5_000 + "KeyOnlyFilter()")
@example(text=" AND ".join(["KeyOnlyFilter()"] * 2_000))
@example(text="PrefixFilter('" + "''" * 5_000)
@example(text="PageFilter(" + "," * 5_000)
def test_a_text_is_read_or_rejected(text: str) -> None:
    read(text)


@often
@given(
    text=st.one_of(
        st.binary(max_size=60), mutants().map(lambda text: text.encode(errors="replace"))
    )
)
def test_so_are_bytes(text: bytes) -> None:
    read(text)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    with webtable.open(str(tmp_path_factory.mktemp("fuzz") / "store")) as store:
        yield filled(store)


def filled(store: Store) -> Table:
    table = store.create_table("t", "f", "g")
    for row in (b"a", b"b", "é".encode(), b"\xff"):
        table.put(row, {b"f:q": row, b"f:": b"", b"g:1": b"it's"})
    return table


@often
@given(text=mutants(), reverse=st.booleans())
def test_what_is_read_works(table: Table, text: str, reverse: bool) -> None:
    filter = read(text)
    if filter is None:
        return
    keys = set()
    try:
        keys = {row.key for row in table.scan(filter=filter, reverse=reverse)}
    except InvalidRequest as error:
        assert "regular expression" in refusal(error)  # noqa: PT017 - any filter may come here
    assert keys <= {b"a", b"b", "é".encode(), b"\xff"}


@often
@given(
    pattern=st.lists(
        st.one_of(
            st.sampled_from(list("()[]{}|*+?^$.\\-,&:=!<>#")),
            st.sampled_from(
                ["(?", "(?<", "(?i)", "(?P<n>", "\\p{L}", "\\Q", "{1,2}", "[^", "\\x4"]
            ),
            st.characters(),
        ),
        max_size=12,
    ).map("".join),
    ignore_case=st.booleans(),
)
@example(pattern="(" * 5_000, ignore_case=False)
@example(pattern="a{99999999999}", ignore_case=False)
@example(pattern="[z-a]", ignore_case=True)
def test_an_expression_is_accepted_or_rejected(pattern: str, ignore_case: bool) -> None:
    said = ""
    try:
        compile_regex(pattern, ignore_case)("a")
    except InvalidRequest as error:
        said = refusal(error)
    assert not said or said.startswith("regular expression ")
