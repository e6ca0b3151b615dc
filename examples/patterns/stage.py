"""What the patterns share: a store to run on, and a way to print what is stored.

Each pattern has a `SCHEMA`, a function `write` that stores its rows, and a function `ask` with the
queries that it is good for, and one or two that are expensive. Without `--store` it runs on a
temporary store.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeAlias

import webtable
from webtable import ALL_VERSIONS, Table, TableSchema, WebTableError

__all__ = ["PATTERNS", "answer", "play", "show"]

PATTERNS = (
    "entity",
    "one_to_one",
    "one_to_many_reference",
    "one_to_many_columns",
    "one_to_many_versions",
    "many_to_many_employees",
    "many_to_many_projects",
    "many_to_many_links",
    "mixed_entities",
    "fact",
    "graph",
)
"""The patterns, from the simplest on."""

Step: TypeAlias = Callable[[Table], None]


def play(schema: TableSchema, write: Step, ask: Step, about: str | None) -> None:
    """Runs a pattern: tells about it, makes its table, stores its rows, shows them, asks."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--store", metavar="LOCATION", help="a directory, or hbase://HOST")
    parser.add_argument("--keep", action="store_true", help="leave the table where it is")
    options = parser.parse_args()
    with ExitStack() as cleanup:
        # A store of its own, in a directory that goes when the program ends.
        location = options.store or cleanup.enter_context(tempfile.TemporaryDirectory())
        try:
            store = cleanup.enter_context(webtable.open(location))
            table = store.create_table(schema)
            if not options.keep:
                cleanup.callback(store.drop_table, schema.name)
            print(about)
            write(table)
            show(table)
            ask(table)
        except WebTableError as error:
            parser.exit(1, f"{error}\n")


def show(table: Table) -> None:
    """Prints everything that a table holds, as row, family, qualifier, timestamp, value."""
    print(f"Stored in {table.name}:")
    print(_drawn(table.nested(versions=ALL_VERSIONS, text=True)))


def answer(question: str, found: object) -> None:
    """Prints a query and its results, one result on each line."""
    print(question)
    if isinstance(found, dict):
        lines = [f"{_plain(name)} = {_plain(value)}" for name, value in found.items()]
    elif isinstance(found, list):
        lines = [_plain(each) for each in found]
    else:
        lines = [_plain(found)]
    for line in lines:
        print(f"    {line}")


def _plain(found: object) -> str:
    return found.decode() if isinstance(found, bytes) else str(found)


def _drawn(level: object, margin: str = "") -> str:
    """Returns nested dicts as JSON; timestamps, which are small here, by a label."""
    if not isinstance(level, dict):
        return json.dumps(level, ensure_ascii=False)
    inner = margin + "  "
    parts = [
        f"{json.dumps(_label(name), ensure_ascii=False)}: {_drawn(part, inner)}"
        for name, part in sorted(level.items())  # versions oldest first, the rest is sorted
    ]
    if len(parts) == 1 and not isinstance(next(iter(level.values())), dict):
        return "{" + parts[0] + "}"
    return "{\n" + ",\n".join(inner + part for part in parts) + f"\n{margin}}}"


def _label(name: object) -> str:
    return f"timestamp-{name}" if isinstance(name, int) else str(name)
