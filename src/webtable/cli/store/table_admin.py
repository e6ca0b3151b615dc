"""`webtable table …`: creating and changing tables, and taking them in and out of service."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

import click
import msgspec

from webtable import Family, TableSchema
from webtable.cli.open_store import open_for_reading, open_for_writing
from webtable.cli.output_formats import Column, Item, print_items, talk
from webtable.cli.shared_options import (
    ROW_KEY,
    Format,
    format_option,
    group_store_option,
    store_option,
    yes_option,
)
from webtable.errors import FamilyNotFound, InvalidRequest

__all__ = ["table"]

S = TypeVar("S", Family, TableSchema)

FAMILY_COLUMNS = (
    Column("family", "FAMILY"),
    Column("versions", "VERSIONS", "count"),
    Column("min_versions", "MIN", "count", spare=5),
    Column("ttl_seconds", "TTL", "count"),
    Column("keep_deleted_cells", "KEEP DELETED", spare=3),
    Column("bloomfilter", "BLOOM", spare=1),
    Column("compression", "COMPRESSION"),
    Column("data_block_encoding", "ENCODING", spare=2),
    Column("blocksize", "BLOCK", "size"),
    Column("in_memory", "IN MEMORY", spare=4),
    Column("attributes", "ATTRIBUTES", spare=6),
)
STATE_COLUMNS = (Column("table", "TABLE"), Column("enabled", "ENABLED"))
COMPACTION_COLUMNS = (Column("table", "TABLE"), Column("compaction", "COMPACTION"))


@click.group(short_help="Create, describe, alter, enable, disable and drop tables.")
@group_store_option
def table() -> None:
    """Create, describe, alter, enable, disable and drop tables.

    A family is NAME or NAME:OPTION=VALUE,OPTION=VALUE with the options of `webtable table
    describe`; a name in capitals or with a dot is an option of HBase's own.
    """


@table.command(short_help="Create a table.")
@click.argument("name")
@click.argument("families", metavar="FAMILY...", nargs=-1, required=True)
@click.option(
    "--split",
    "splits",
    metavar="KEY",
    type=ROW_KEY,
    multiple=True,
    help="Start a region at this row key.",
)
@click.option(
    "--set", "options", metavar="OPTION=VALUE", multiple=True, help="Set an option of the table."
)
@store_option
def create(
    name: str,
    *,
    families: tuple[str, ...],
    splits: tuple[bytes, ...],
    options: tuple[str, ...],
    location: str,
) -> None:
    r"""Create table NAME with families.

    webtable table create pages content:versions=3 anchor --split m

    Keys are text, with \xHH for other bytes. --split and --set may be given several times.
    """
    made = tuple(_family(text) for text in families)
    schema = _with_options(TableSchema(name=name, families=made), options)
    with open_for_writing(location) as store:
        store.create_table(schema, splits=splits)
    regions = f"{len(splits) + 1:,} regions" if splits else "1 region"
    talk(f"created table '{name}' with {regions}")


@table.command(short_help="Show the families of a table and their options.")
@click.argument("name")
@store_option
@format_option
def describe(name: str, location: str, form: Format) -> None:
    """Show the families of a table and their options."""
    with open_for_reading(location) as store:
        schema = store.describe_table(name)
    print_items([_family_item(family, form) for family in schema.families], FAMILY_COLUMNS, form)
    if form == "table":
        for option, value in _table_options(schema).items():
            talk(f"{option} = {value}")


@table.command(short_help="Change the families and options of a table.")
@click.argument("name")
@click.option(
    "--family", "families", metavar="FAMILY", multiple=True, help="Add it, or change its options."
)
@click.option(
    "--drop-family",
    "dropped",
    metavar="NAME",
    multiple=True,
    help="Remove this family and its data.",
)
@click.option(
    "--set", "options", metavar="OPTION=VALUE", multiple=True, help="Set an option of the table."
)
@store_option
def alter(
    name: str,
    *,
    families: tuple[str, ...],
    dropped: tuple[str, ...],
    options: tuple[str, ...],
    location: str,
) -> None:
    """Change the families and options of a table; what is not named stays as it is.

    webtable table alter pages --family content:versions=5 --set max_filesize=1000000000
    """
    with open_for_writing(location) as store:
        schema = store.describe_table(name)
        for text in families:
            schema = schema.with_family(_family(text, schema))
        for family in dropped:
            if schema.family(family) is None:
                raise FamilyNotFound(name, family, (each.name for each in schema.families))
            schema = schema.without_family(family)
        store.alter_table(_with_options(schema, options))
    talk(f"altered table '{name}'")


@table.command(short_help="Remove all rows of a table.")
@click.argument("name")
@yes_option
@store_option
def truncate(name: str, location: str) -> None:
    """Remove all rows of a table; its schema and regions stay."""
    with open_for_writing(location) as store:
        store.truncate_table(name)
    talk(f"truncated table '{name}'")


@table.command(short_help="Remove a table and its data.")
@click.argument("name")
@yes_option
@store_option
def drop(name: str, location: str) -> None:
    """Remove a table and its data."""
    with open_for_writing(location) as store:
        store.drop_table(name)
    talk(f"dropped table '{name}'")


@table.command(short_help="Put a table into service.")
@click.argument("name")
@store_option
def enable(name: str, location: str) -> None:
    """Put a table into service."""
    with open_for_writing(location) as store:
        store.admin.enable_table(name)
    talk(f"table '{name}' is enabled")


@table.command(short_help="Take a table out of service.")
@click.argument("name")
@store_option
def disable(name: str, location: str) -> None:
    """Take a table out of service; its data stays, reads and writes of it fail."""
    with open_for_writing(location) as store:
        store.admin.disable_table(name)
    talk(f"table '{name}' is disabled")


@table.command("is-enabled", short_help="Say whether a table is in service.")
@click.argument("name")
@store_option
@format_option
def is_enabled(name: str, location: str, form: Format) -> None:
    """Say whether a table is in service."""
    with open_for_reading(location) as store:
        enabled = store.admin.is_enabled(name)
    print_items([{"table": name, "enabled": enabled}], STATE_COLUMNS, form)


@table.command(short_help="Split regions of a table.")
@click.argument("name")
@click.option("--at", metavar="KEY", type=ROW_KEY, help="Start a region at this row key.")
@store_option
def split(name: str, at: bytes | None, location: str) -> None:
    r"""Split the region of a row key (--at), or every region that is large enough in its middle.

    A key is text, with \xHH for other bytes.
    """
    with open_for_writing(location) as store:
        store.admin.split(name, at)
        count = len(store.admin.regions(name))
    talk(f"table '{name}' has {count:,} regions now")


@table.command(short_help="Say what is being compacted in a table.")
@click.argument("name")
@store_option
@format_option
def compaction(name: str, location: str, form: Format) -> None:
    """Say what is being compacted in a table: NONE, MINOR, MAJOR or MAJOR_AND_MINOR."""
    with open_for_reading(location) as store:
        state = store.admin.compaction_state(name)
    print_items([{"table": name, "compaction": state}], COMPACTION_COLUMNS, form)


def _family(text: str, schema: TableSchema | None = None) -> Family:
    """Returns the family that an argument describes, on the ground of the one there is."""
    name, _, rest = text.partition(":")
    known = schema.family(name) if schema is not None else None
    options = dict(_pair(each) for each in rest.split(",")) if rest else {}
    return _changed(known or Family(name=name), options)


def _with_options(schema: TableSchema, texts: tuple[str, ...]) -> TableSchema:
    return _changed(schema, dict(_pair(text) for text in texts))


def _changed(struct: S, options: dict[str, str]) -> S:
    """Returns a schema with other options, each read as the field's own type."""
    types = {field.name: field.type for field in msgspec.structs.fields(struct)}
    fixed = {"name", "families", "attributes"}
    changes: dict[str, Any] = {}
    attributes = dict(struct.attributes)
    for option, text in options.items():
        if option in types and option not in fixed:
            changes[option] = _value(option, text, types[option])
        elif option.isupper() or "." in option:
            attributes[option] = text
        else:
            known = ", ".join(sorted(types.keys() - fixed))
            raise InvalidRequest(
                f"option '{option}' does not exist",
                hint=f"use one of {known}, or an option of HBase in capitals",
            )
    return msgspec.structs.replace(struct, attributes=attributes, **changes)


def _value(option: str, text: str, kind: Any) -> object:
    try:
        return msgspec.convert(None if text == "none" else text, kind, strict=False)
    except msgspec.ValidationError as exc:
        choices = [each for each in get_args(kind) if isinstance(each, str)]
        wanted = "one of " + ", ".join(choices) if choices else "a whole number, such as 3"
        if kind is bool:
            wanted = "true or false"
        raise InvalidRequest(
            f"'{text}' is not a value of {option}", hint=f"{option} takes {wanted}"
        ) from exc


def _pair(text: str) -> tuple[str, str]:
    option, equals, value = text.partition("=")
    if not option or not equals:
        raise InvalidRequest(f"'{text}' is not OPTION=VALUE", hint="such as versions=3")
    return option, value


def _family_item(family: Family, form: Format) -> Item:
    item = {"family" if key == "name" else key: value for key, value in _plain(family).items()}
    if form in ("table", "csv"):
        item["attributes"] = [f"{key}={value}" for key, value in family.attributes.items()]
    return item


def _table_options(schema: TableSchema) -> dict[str, Any]:
    options = {key: value for key, value in _plain(schema).items() if value is not None}
    return {**schema.attributes} | {
        key: value
        for key, value in options.items()
        if key in ("max_filesize", "memstore_flushsize")
    }


def _plain(struct: msgspec.Struct) -> dict[str, Any]:
    return msgspec.structs.asdict(struct)
