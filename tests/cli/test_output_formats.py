from __future__ import annotations

import json
import shlex

import pytest

from webtable.cli.output_formats import Column, print_items, show_bytes, show_size
from webtable.cli.shared_options import Format

COLUMNS = (
    Column("row", "ROW"),
    Column("size_bytes", "SIZE", "size"),
    Column("cells", "CELLS", "count"),
)
ITEMS = [
    {"row": b"com.example\x00", "size_bytes": 1_234_567, "cells": 1500},
    {"row": "ü,b", "size_bytes": 12, "cells": None},
]


def printed(capsys: pytest.CaptureFixture[str], form: Format, next_key: str | None = None) -> str:
    print_items(ITEMS, COLUMNS, form, next_key=next_key)
    return capsys.readouterr().out


def test_table_aligns_text_left_and_numbers_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "table").splitlines() == [
        "ROW                SIZE  CELLS",
        "com.example\\x00  1.2 MB  1,500",
        "ü,b                12 B      -",
    ]


def test_json_is_one_object_that_says_where_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    items = [
        {"row": "com.example\\x00", "size_bytes": 1_234_567, "cells": 1500},
        {"row": "ü,b", "size_bytes": 12, "cells": None},
    ]
    complete = json.loads(printed(capsys, "json"))
    assert complete == {"items": items, "next": None, "truncated": False}
    limited = json.loads(printed(capsys, "json", next_key="z"))
    assert limited == {"items": items, "next": "z", "truncated": True}


def test_jsonl_is_the_items_only(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "jsonl", next_key="z").splitlines()
    assert [json.loads(line)["size_bytes"] for line in lines] == [1_234_567, 12]


def test_csv_has_the_keys_first_and_quotes_what_needs_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert printed(capsys, "csv").splitlines() == [
        "row,size_bytes,cells",
        "com.example\\x00,1234567,1500",
        '"ü,b",12,',
    ]


def test_a_list_in_one_field(capsys: pytest.CaptureFixture[str]) -> None:
    print_items([{"families": ["a", "b"]}], (Column("families", "FAMILIES"),), "csv")
    assert capsys.readouterr().out == 'families\n"a, b"\n'


def test_more_is_printed_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    print_items(ITEMS, COLUMNS, "jsonl", next_key="z")
    assert capsys.readouterr().err == "more results follow: continue with --start 'z'\n"


def test_how_to_go_on_can_be_pasted_into_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    cursor = r"com.example/it's\x09$HOME"
    print_items(ITEMS, COLUMNS, "jsonl", next_key=cursor, go_on="--after")
    said = capsys.readouterr().err.removeprefix("more results follow: continue with ")
    assert shlex.split(said) == ["--after", cursor]


def test_bytes_look_as_in_hbase() -> None:
    # What Bytes.toStringBinary of HBase 2.6.4 gives for all 256 bytes, in three pieces.
    assert show_bytes(bytes(range(0x20))) == "".join(f"\\x{byte:02X}" for byte in range(0x20))
    assert show_bytes(bytes(range(0x20, 0x7F))) == (
        " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\x5C]^_`"
        "abcdefghijklmnopqrstuvwxyz{|}~"
    )
    assert show_bytes(bytes(range(0x7F, 0x100))) == "".join(
        f"\\x{byte:02X}" for byte in range(0x7F, 0x100)
    )


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (1_500_000_000, "1.5 GB"),
        (2 * 10**15, "2000.0 TB"),
    ],
)
def test_sizes(size_bytes: int, shown: str) -> None:
    assert show_size(size_bytes) == shown
