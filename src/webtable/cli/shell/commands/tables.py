"""The commands about tables: create, describe, drop, enable, disable, list."""

from __future__ import annotations

import msgspec

from webtable import Family, TableSchema, WebTableError
from webtable.cli.shell.command_catalog import Command
from webtable.cli.shell.commands.describe_text import describe_family, describe_table
from webtable.cli.shell.commands.schema_options import TableOptions, family_of, split_keys
from webtable.cli.shell.language.ruby_values import TableRef, Value, inspect_value, to_bool, to_text
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest
from webtable.store.regex import compile_regex

__all__ = ["confirmed", "matching"]


def create(session: Session, table: Value, *rest: Value) -> TableRef:
    """Creates a table; a family is a name, or a hash with NAME and options.

    create 'webtable', 'content', 'metadata'
    create 'webtable', {NAME => 'content', VERSIONS => 3, TTL => 7776000}, {NAME => 'metadata'}
    create 'webtable', 'content', SPLITS => ['com.', 'net.', 'org.']
    create 'webtable', 'content', SPLITS_FILE => 'splits.txt'
    create 'webtable', 'content', {NUMREGIONS => 16, SPLITALGO => 'HexStringSplit'}
    create 'webtable', {NAME => 'content', COMPRESSION => 'GZ'}, MAX_FILESIZE => '4 GB'
    """
    name = to_text(table, "the table's name")
    families: dict[str, Family] = {}
    splits: list[bytes] = []
    changes: dict[str, int] = {}
    attributes: dict[str, str] = {}
    for given in _flat(rest):
        if not isinstance(given, dict) or "NAME" in given:
            family = family_of(given, None, session.out.line)
            if family.name in families:
                session.out.line(
                    f"Family '{family.name}' already exists, the old one will be replaced"
                )
            families[family.name] = family
            continue
        options = dict(given)
        method = options.pop("METHOD", b"table_att")
        if method != b"table_att":
            raise InvalidRequest(f"create has no METHOD {inspect_value(method)}", hint="leave it")
        splits = split_keys(options, attributes) or splits
        read = TableOptions.read(options)
        changes |= read.changes
        attributes |= read.attributes
        for key in read.ignored:
            session.out.line(f"An argument ignored (unknown or overridden): {key}")
    schema = TableSchema(
        name=name, families=tuple(families.values()), attributes=attributes, **changes
    )
    session.store.create_table(schema, splits=splits)
    session.out.line(f"Created table {name}")
    return TableRef(name)


def describe(session: Session, table: Value) -> None:
    """Shows a table's state, options and families; `desc` is the same.

    describe 'webtable'
    desc 'webtable'
    """
    name = to_text(table, "the table's name")
    schema = session.store.describe_table(name)
    state = "ENABLED" if session.store.admin.is_enabled(name) else "DISABLED"
    session.out.heading(f"Table {name} is {state}")
    session.out.row(describe_table(schema))
    session.out.heading("COLUMN FAMILIES DESCRIPTION")
    for family in schema.families:
        session.out.row(describe_family(family))
        session.out.line()
    session.out.footer()
    session.out.line("Quota is disabled")


def drop(session: Session, table: Value) -> None:
    """Removes a table and its data; it must be disabled.

    drop 'webtable'
    """
    name = to_text(table, "the table's name")
    if session.store.admin.is_enabled(name):
        raise InvalidRequest(f"table '{name}' is enabled", hint=f"disable '{name}' first")
    session.store.drop_table(name)


def enable(session: Session, table: Value) -> None:
    """Puts a table into service.

    enable 'webtable'
    """
    session.store.admin.enable_table(to_text(table, "the table's name"))


def disable(session: Session, table: Value) -> None:
    """Takes a table out of service; its data stays.

    disable 'webtable'
    """
    session.store.admin.disable_table(to_text(table, "the table's name"))


def drop_all(session: Session, regex: Value) -> None:
    """Removes all tables that match, after confirmation; they must be disabled.

    drop_all 'test_.*'
    """
    _for_all(session, regex, "Drop", "dropped", drop)


def enable_all(session: Session, regex: Value) -> None:
    """Puts all tables that match into service, after confirmation.

    enable_all 'test_.*'
    """
    _for_all(session, regex, "Enable", "enabled", enable)


def disable_all(session: Session, regex: Value) -> None:
    """Takes all tables that match out of service, after confirmation.

    disable_all 'test_.*'
    """
    _for_all(session, regex, "Disable", "disabled", disable)


def is_enabled(session: Session, table: Value) -> bool:
    """Shows whether a table is in service.

    is_enabled 'webtable'
    """
    state = session.store.admin.is_enabled(to_text(table, "the table's name"))
    session.out.row(inspect_value(state))
    return state


def is_disabled(session: Session, table: Value) -> bool:
    """Shows whether a table is out of service.

    is_disabled 'webtable'
    """
    state = not session.store.admin.is_enabled(to_text(table, "the table's name"))
    session.out.row(inspect_value(state))
    return state


def exists(session: Session, table: Value) -> bool:
    """Shows whether a table exists.

    exists 'webtable'
    """
    name = to_text(table, "the table's name")
    does_exist = name in session.store.tables()
    session.out.row(f"Table {name} {'does exist' if does_exist else 'does not exist'}")
    return does_exist


def list_tables(session: Session, regex: Value = b".*") -> list[Value]:
    """Lists the tables, or those whose whole names match.

    list
    list 'web.*'
    list 'archive:.*'
    """
    return _listed(session, matching(regex, session.store.tables()))


def list_enabled_tables(session: Session) -> list[Value]:
    """Lists the tables that are in service.

    list_enabled_tables
    """
    store = session.store
    return _listed(session, [name for name in store.tables() if store.admin.is_enabled(name)])


def list_disabled_tables(session: Session) -> list[Value]:
    """Lists the tables that are out of service.

    list_disabled_tables
    """
    store = session.store
    return _listed(session, [name for name in store.tables() if not store.admin.is_enabled(name)])


def get_table(session: Session, table: Value) -> TableRef:
    """Returns a table to call commands on.

    t = get_table 'webtable'
    t.scan LIMIT => 10
    t.put 'com.example_about', 'metadata:title', 'About us'
    """
    return TableRef(session.table(table).name)


def clone_table_schema(
    session: Session, table: Value, new_table: Value, preserve_splits: Value = True
) -> None:
    """Creates an empty table with the schema of another, and its split keys by default.

    clone_table_schema 'webtable', 'webtable_copy'
    clone_table_schema 'webtable', 'webtable_copy', false
    """
    name = to_text(table, "the table's name")
    schema = session.store.describe_table(name)
    copy = msgspec.structs.replace(schema, name=to_text(new_table, "the new table's name"))
    splits: list[bytes] = []
    if to_bool(preserve_splits, "whether to keep the split keys"):
        splits = [region.start for region in session.store.admin.regions(name) if region.start]
    session.store.create_table(copy, splits=splits)


def matching(regex: Value, names: list[str]) -> list[str]:
    """Returns the names that a regular expression matches as a whole.

    Raises:
        InvalidRequest: it is not a regular expression, or could take too many steps.
    """
    search = compile_regex(to_text(regex, "the regular expression"), whole=True)
    return [name for name in names if search(name) is not None]


def confirmed(session: Session, prompt: str) -> bool:
    """Asks for confirmation of a change of many tables; returns True for a reply with a y."""
    session.out.line(f"\n{prompt} (y/n)?")
    session.out.flush()
    return "y" in session.ask("").lower()


def _for_all(session: Session, regex: Value, verb: str, done: str, command: Command) -> None:
    names = matching(regex, session.store.tables())
    for name in names:
        session.out.row(name)
    if not names:
        session.out.line(f"No tables matched the regex {to_text(regex, 'the regular expression')}")
        return
    if not confirmed(session, f"{verb} the above {len(names)} tables"):
        return
    failed = []
    for name in names:
        try:
            command(session, name.encode())
        except WebTableError as error:
            session.out.line(f"table:{name}, error:{error}")
            failed.append(name)
    session.out.line(f"{len(names) - len(failed)} tables successfully {done}")
    if failed:
        listed = ",".join(failed)
        session.out.line(f"{len(failed)} tables not {done} due to an exception: {listed}")


def _flat(values: tuple[Value, ...]) -> list[Value]:
    flat: list[Value] = []
    for value in values:
        flat += _flat(tuple(value)) if isinstance(value, list) else [value]
    return [value for value in flat if value is not None]


def _listed(session: Session, names: list[str]) -> list[Value]:
    session.out.heading("TABLE")
    for name in names:
        session.out.row(name)
    session.out.footer()
    return [name.encode() for name in names]
