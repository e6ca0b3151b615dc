"""The filter language and the messages of filters, compared with HBase's own parser in Java."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.filter_values import filters_with_text
from webtable.errors import InvalidRequest
from webtable.filters import Filter, filter_text, parse_filter
from webtable.local.hbase_jars import hbase_jars
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.wire.filter_messages import fill_filter

Parser = Callable[[str], str]


@pytest.fixture(scope="module")
def java() -> Iterator[Parser]:
    """HBase's parser: from a text to the message of its filter in hex, or "refused"."""
    jars = hbase_jars(print)
    source = Path(__file__).parent / "ParseFilters.java"
    # Most of its time is starting and compiling.
    quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    with subprocess.Popen(
        ["java", *quick, "-cp", f"{jars}/*", str(source)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def parse(text: str) -> str:
            stdin.write(text.encode("utf-8", "surrogateescape").hex() + "\n")
            stdin.flush()
            return stdout.readline().strip()

        yield parse
        stdin.close()
        process.wait(timeout=20)


def ours(text: str) -> str:
    """What our parser makes of a text, in the form that Java's results have."""
    try:
        return message(parse_filter(text))
    except InvalidRequest:
        return "refused"


def message(filter: Filter) -> str:
    into = client_pb2.Filter()
    fill_filter(into, filter)
    return into.SerializeToString().hex()


@settings(max_examples=300, deadline=None)
@given(filter=filters_with_text)
def test_a_filter_as_text_is_the_same_to_hbase(java: Parser, filter: Filter) -> None:
    assert java(filter_text(filter)) == message(filter)


PARTS = (
    "PrefixFilter('a')",
    "PageFilter(5)",
    "KeyOnlyFilter()",
    "(",
    ")",
    " ",
    " AND ",
    " OR ",
    "SKIP ",
    " WHILE ",
    "and",
)


@settings(max_examples=300, deadline=None)
@given(parts=st.lists(st.sampled_from(PARTS), max_size=8))
def test_no_text_is_read_differently(java: Parser, parts: list[str]) -> None:
    """HBase's parser stumbles over some parentheses, and reads operators behind their filters."""
    text = "".join(parts)
    if (read := ours(text)) != "refused":
        assert java(text) in ({read, "refused"} if "(" in parts else {read}), text


@pytest.mark.parametrize(
    "text",
    [
        "PrefixFilter ('a')",
        "PrefixFilter('it''s')",
        "PrefixFilter('')",
        "PrefixFilter('a)b(')",
        "((PrefixFilter('a')))",
        "(PrefixFilter('a') AND PageFilter(1) OR PageFilter(2))",
        "PageFilter(1) OR PageFilter(2) AND PageFilter(3)",
        "PageFilter(1) AND (PageFilter(2) AND PageFilter(3)) AND PageFilter(4)",
        "SKIP (PageFilter(1) AND PageFilter(2))",
        "SKIP SKIP PageFilter(1)",
        "PageFilter(1)AND PageFilter(2)",
        "PageFilter(1) AND(PageFilter(2))",
        "TimestampsFilter(3, 1 2)",
        "KeyOnlyFilter(TRUE)",
        "ColumnRangeFilter('', true, 'x', false)",
        "SingleColumnValueFilter('f', 'q', >=, 'binary:a:b')",
        "DependentColumnFilter('f', 'q', false, =, 'regexstring:^a')",
        "ValueFilter(=, 'regexstringnocase:a')",
        "ValueFilter(=,'binaryprefix:')",
        # rejected by both
        "PageFilter('5')",
        "PageFilter(-1)",
        "PageFilter(99999999999999999999)",
        "ColumnCountGetFilter(2147483648)",
        "PrefixFilter(a)",
        "PrefixFilter()",
        "PrefixFilter('a', 'b')",
        "KeyOnlyFilter(1)",
        "PrefixFilter('a') and PageFilter(1)",
        "NoFilter()",
        "ValueFilter(>, 'substring:a')",
        "ValueFilter(==, 'binary:a')",
        "ValueFilter(=, 'nothing:a')",
        "ValueFilter(=, 'binary')",
        "SingleColumnValueFilter('f', 'q', =, 'binary:a', true)",
        "MultipleColumnPrefixFilter('a', 'a')",
        "PrefixFilter('a",
        "AND",
        "",
    ],
)
def test_a_text_means_what_it_means_to_hbase(java: Parser, text: str) -> None:
    assert ours(text) == java(text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (
            "(PageFilter(1) OR PageFilter(2) AND PageFilter(3))",
            "PageFilter(1) OR PageFilter(2) AND PageFilter(3)",
        ),
        (
            "(PageFilter(1) AND WHILE PageFilter(2))",
            "PageFilter(1) AND WHILE PageFilter(2)",
        ),
        ("PageFilter(1)\nAND\nPageFilter(2)", "PageFilter(1) AND PageFilter(2)"),
    ],
)
def test_what_only_we_read(java: Parser, text: str, same: str) -> None:
    assert java(text) == "refused"
    assert ours(text) == java(same) != "refused"
