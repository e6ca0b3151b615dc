"""`webtable schema …`: compares the tables of a store with what is declared, and alters them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

import webtable
from webtable.cli.open_store import open_for_reading
from webtable.cli.output_formats import Column, Item, print_items, talk
from webtable.cli.shared_options import (
    Format,
    SuggestingChoice,
    format_option,
    group_store_option,
    store_option,
)
from webtable.cli.store.record_maintenance import record_class_here
from webtable.config import Config, load_config
from webtable.operations.schema_update.compare_and_alter import SchemaUpdate
from webtable.operations.schema_update.send_notices import send_notices
from webtable.operations.schema_update.start_up import notices_of
from webtable.operations.schema_update.update_plan import SchemaDiff
from webtable.records import Record
from webtable.webtable import ProfileName

__all__ = ["schema"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

COLUMNS = (
    Column("outcome", "OUTCOME"),
    Column("switch", "SWITCH"),
    Column("table", "TABLE", "name"),
    Column("statement", "STATEMENT"),
    Column("lost_cells", "LOST CELLS", "count"),
)
_SWITCHES = {
    "create": "Create tables and families that are missing.",
    "ttl": "Change the TTL of families.",
    "versions": "Change VERSIONS and MIN_VERSIONS of families.",
    "options": "Change all other options of tables and families.",
    "splits": "Split tables at their declared split keys, on a cluster.",
}


def _switches(function: _Command) -> _Command:
    """Gives a command the switches of a schema update, and what it compares."""
    for name, text in reversed(_SWITCHES.items()):
        option = click.option(f"--{name}/--no-{name}", default=None, help=text)
        function = option(function)
    ignore = click.option(
        "--ignore",
        "ignored",
        metavar="PATTERN",
        multiple=True,
        help="Ignore these tables, such as test_*; may be repeated.",
    )
    records = click.option(
        "--record",
        "records",
        metavar="MODULE:CLASS",
        multiple=True,
        help="Declare this record class; MODULE is imported from the current directory.",
    )
    return _drop_option(ignore(records(function)))


def _drop_option(function: _Command) -> _Command:
    return click.option(
        "--drop-data/--no-drop-data",
        default=None,
        help="Also make changes that drop data: a shorter TTL, fewer versions.",
    )(function)


def _count_option(function: _Command) -> _Command:
    return click.option(
        "--count/--no-count",
        "with_counts",
        default=True,
        help="Count the cells that would be dropped, which reads all keys.  [default: count]",
    )(function)


@click.group(short_help="Compare the tables with what is declared, and alter them.")
@group_store_option
def schema() -> None:
    """Compare the tables of a store with what is declared, and alter them.

    Declared are the tables of pages and links, record classes, and tables of the configuration,
    which also has the defaults of the switches.
    """


@schema.command(short_help="Print the statements that would run.")
@_switches
@_count_option
@store_option
@format_option
def diff(
    *,
    records: tuple[str, ...],
    with_counts: bool,
    location: str,
    form: Format,
    **switches: Any,
) -> None:
    """Print the statements that `webtable schema apply` would run, in the shell's language.

    With --format table they alone are on stdout, ready for `webtable shell`; what a switch
    withholds is on stderr.
    """
    with open_for_reading(location) as store:
        config = _config(switches)
        update = SchemaUpdate(
            store, config, record_classes=_classes(records), on_progress=_progress()
        )
        found = update.diff(with_counts=with_counts)
    _print(found, form, "would run")


@schema.command(short_help="Run the statements.")
@_switches
@_count_option
@store_option
@format_option
def apply(
    *,
    records: tuple[str, ...],
    with_counts: bool,
    location: str,
    form: Format,
    **switches: Any,
) -> None:
    """Run the statements that `webtable schema diff` prints.

    An apply that was stopped is completed by the next one.
    """
    with webtable.open(location, create=False) as store:
        config = _config(switches)
        update = SchemaUpdate(
            store, config, record_classes=_classes(records), on_progress=_progress()
        )
        found = update.diff(with_counts=with_counts)
        update.run(found)
        send_notices(config.schema_update, store.location, notices_of(found, is_run=True))
    _print(found, form, "run")


@schema.command(short_help="Change how long a store of pages keeps versions.")
@click.argument("name", metavar="PROFILE", type=SuggestingChoice(["live", "archive"]))
@_drop_option
@click.option("--dry-run", is_flag=True, help="Print the statements, and change nothing.")
@store_option
@format_option
def profile(
    name: ProfileName, *, drop_data: bool | None, dry_run: bool, location: str, form: Format
) -> None:
    """Change the profile of a store of pages: `live` or `archive`.

    A change to `live` drops old versions, and needs --drop-data. Start loaders again afterwards.
    """
    opened = open_for_reading(location) if dry_run else webtable.open(location, create=False)
    with opened as store:
        update = SchemaUpdate(store, _config({"drop_data": drop_data}), on_progress=_progress())
        found = update.change_profile(name, dry_run=dry_run)
    _print(found, form, "would run" if dry_run else "run")


def _config(switches: dict[str, Any]) -> Config:
    """Returns the configuration with the switches of the command line."""
    config = load_config()
    options = config.schema_update
    ignored = (*options.ignore, *switches.pop("ignored", ()))
    given = {name: value for name, value in switches.items() if value is not None}
    options = msgspec.structs.replace(options, ignore=ignored, **given)
    return msgspec.structs.replace(config, schema_update=options)


def _classes(records: tuple[str, ...]) -> list[type[Record]]:
    return [record_class_here(text) for text in records]


def _print(found: SchemaDiff, form: Format, outcome: str) -> None:
    for each in found.withheld:
        lost = "" if not each.lost_cells else f", {each.lost_cells:,} cells would go"
        switch = each.switch.replace("_", "-")
        talk(f"not without --{switch}{lost}: {each.statement.text}")
    if form == "table":
        for statement in found.statements:
            click.echo(statement.text)
        sys.stdout.flush()
    else:
        print_items(_items(found, outcome), COLUMNS, form)
    if found.lost_cells:
        verb = "would go" if outcome == "would run" else "are gone"
        talk(f"{found.lost_cells:,} cells {verb}")
    for advice in found.advice:
        talk(advice)
    if found.is_empty:
        talk("the store has everything that is declared")


def _items(found: SchemaDiff, outcome: str) -> list[Item]:
    items: list[Item] = [
        {
            "outcome": outcome,
            "switch": None,
            "table": each.table,
            "statement": each.text,
            "lost_cells": None,
        }
        for each in found.statements
    ]
    items += [
        {
            "outcome": "withheld",
            "switch": each.switch,
            "table": each.statement.table,
            "statement": each.statement.text,
            "lost_cells": each.lost_cells,
        }
        for each in found.withheld
    ]
    return items


def _progress() -> Callable[[str, int], None]:
    """Returns what shows the progress of counting, on a terminal."""
    if not sys.stderr.isatty():
        return lambda _table, _rows: None

    def show(table: str, rows: int) -> None:
        click.echo(f"\rcounting cells of '{table}': {rows:,} rows\x1b[K\r", err=True, nl=False)

    return show
