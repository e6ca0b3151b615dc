"""The commands that change a table: alter and what belongs to it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from webtable import Family, TableSchema
from webtable.cli.shell.commands.schema_options import TableOptions, family_of
from webtable.cli.shell.language.ruby_values import Value, to_hash, to_text
from webtable.cli.shell.session import Session
from webtable.errors import FamilyNotFound, InvalidRequest


def alter(session: Session, table: Value, *rest: Value) -> None:
    """Adds, changes and removes families of a table, and changes its options.

    alter 'webtable', NAME => 'content', VERSIONS => 5
    alter 'webtable', 'inlinks', {NAME => 'content', TTL => '90 DAYS'}
    alter 'webtable', 'delete' => 'inlinks'
    alter 'webtable', NAME => 'inlinks', METHOD => 'delete'
    alter 'webtable', MAX_FILESIZE => '4 GB'
    alter 'webtable', CONFIGURATION => {'hbase.hstore.time.to.purge.deletes' => '3600000'}
    alter 'webtable', METHOD => 'table_att_unset', NAME => 'MAX_FILESIZE'
    """
    schema = _changed(session, table, rest)
    session.out.line("Updating all regions with the new schema...")
    session.out.flush()
    session.store.alter_table(schema)


def alter_async(session: Session, table: Value, *rest: Value) -> None:
    """Does what `alter` does; here it waits until all regions have the new schema.

    alter_async 'webtable', NAME => 'content', VERSIONS => 5
    """
    session.store.alter_table(_changed(session, table, rest))


def alter_status(session: Session, table: Value) -> None:
    """Shows how many regions of a table have its new schema.

    alter_status 'webtable'
    """
    regions = session.store.admin.regions(to_text(table, "the table's name"))
    ready = sum(region.state == "OPEN" for region in regions)
    session.out.line(f"{ready}/{len(regions)} regions updated.")
    session.out.line("Done.")


def _changed(session: Session, table: Value, rest: Sequence[Value]) -> TableSchema:
    schema = session.store.describe_table(to_text(table, "the table's name"))
    if not rest:
        raise InvalidRequest(
            f"{session.command} has nothing to change", hint=f"see `help '{session.command}'`"
        )
    for given in rest:
        schema = _altered(session, schema, given)
    return schema


def _altered(session: Session, schema: TableSchema, given: Value) -> TableSchema:
    """Returns the schema with one argument of `alter` applied."""
    if not isinstance(given, dict):
        name = to_text(given, "the family")
        return schema.with_family(schema.family(name) or Family(name=name))
    options = dict(to_hash(given, "the change"))
    if "delete" in options:
        options = {"METHOD": b"delete", "NAME": options["delete"]}
    method = options.pop("METHOD", None)
    if method is None and "NAME" in options:
        family = schema.family(to_text(options["NAME"], "NAME"))
        return schema.with_family(family_of(options, family, session.out.line))
    if method in (None, b"table_att"):
        read = TableOptions.read(options, schema)
        for key in read.ignored:
            session.out.line(f"Unknown argument ignored: {key}")
        return msgspec.structs.replace(schema, attributes=read.attributes, **read.changes)
    names = options.pop("NAME", None)
    listed = [to_text(each, "NAME") for each in (names if isinstance(names, list) else [names])]
    for key in options:
        session.out.line(f"Unknown argument ignored: {key}")
    return _without(schema, to_text(method, "METHOD"), listed)


def _without(schema: TableSchema, method: str, names: list[str]) -> TableSchema:
    attributes = dict(schema.attributes)
    for name in names:
        if method == "delete":
            if schema.family(name) is None:
                families = [family.name for family in schema.families]
                raise FamilyNotFound(schema.name, name, families)
            schema = schema.without_family(name)
        elif method not in ("table_att_unset", "table_conf_unset"):
            raise InvalidRequest(
                f"METHOD '{method:.60}' is not valid",
                hint="delete, table_att, table_att_unset or table_conf_unset",
            )
        elif name in ("MAX_FILESIZE", "MEMSTORE_FLUSHSIZE"):
            schema = msgspec.structs.replace(schema, **{name.lower(): None})
        elif attributes.pop(name, None) is None:
            raise InvalidRequest(
                f"table '{schema.name}' has no option {name:.80}",
                hint=f"it has {', '.join(sorted(schema.attributes)) or 'none'}",
            )
    return msgspec.structs.replace(schema, attributes=attributes)
