"""The commands that flush and compact tables, regions and servers."""

from __future__ import annotations

from webtable import CompactionQueue
from webtable.cli.shell.commands.regions import region_by_name
from webtable.cli.shell.commands.servers import names_in
from webtable.cli.shell.language.ruby_values import Value, inspect_value, to_bool, to_text
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest

_QUEUES: dict[str, CompactionQueue] = {"long": "long", "short": "short"}


def flush(session: Session, target: Value, family: Value = None) -> None:
    """Writes what a table, a region or a server has in memory to files, or one family of it.

    flush 'webtable'
    flush 'webtable', 'content'
    flush '527db22f95c8a9e0116f0cc13c680396'
    flush 'host187.example.com,60020,1289493121758'
    """
    chosen = None if family is None else to_text(family, "the family")
    name = to_text(target, "the table, region or server")
    admin = session.store.admin
    if name in session.store.tables():
        admin.flush(name, chosen)
    elif name in {server.name for server in admin.servers()} or _is_server(name):
        if chosen is not None:
            raise InvalidRequest(
                "a server is flushed with all families", hint="name a table or a region instead"
            )
        admin.flush_server(name)
    else:
        admin.flush_region(region_by_name(session, target), chosen)


def compact(session: Session, target: Value, family: Value = None, kind: Value = b"NORMAL") -> None:
    """Merges files of a table or a region, or of one family of it.

    compact 'webtable'
    compact 'webtable', 'content'
    compact '527db22f95c8a9e0116f0cc13c680396'
    """
    _compact(session, target, family, kind, major=False)


def major_compact(
    session: Session, target: Value, family: Value = None, kind: Value = b"NORMAL"
) -> None:
    """Rewrites a table or a region without deleted, expired and surplus cells.

    major_compact 'webtable'
    major_compact 'webtable', 'content'
    major_compact '527db22f95c8a9e0116f0cc13c680396'
    """
    _compact(session, target, family, kind, major=True)


def compact_rs(session: Session, server: Value, major: Value = False) -> None:
    """Merges files of all regions on a server.

    compact_rs 'host187.example.com,60020,1289493121758'
    compact_rs 'host187.example.com,60020,1289493121758', true
    """
    admin = session.store.admin
    is_major = to_bool(major, "whether it is a major compaction")
    for region in admin.regions(server=to_text(server, "the server's name")):
        admin.compact_region(region, major=is_major, wait=False)


def compaction_state(session: Session, table: Value) -> bytes:
    """Shows what is being compacted in a table: NONE, MINOR, MAJOR or MAJOR_AND_MINOR.

    compaction_state 'webtable'
    """
    state = session.store.admin.compaction_state(to_text(table, "the table's name"))
    session.out.row(state)
    return state.encode()


def compaction_switch(session: Session, on: Value, *servers: Value) -> None:
    """Lets servers compact, or stops them; shows whether each did before.

    compaction_switch true
    compaction_switch false, 'host187.example.com,60020,1289493121758'
    """
    is_on = to_bool(on, "the switch")
    before = session.store.admin.switch_compactions(on=is_on, servers=names_in(servers))
    session.out.heading("['SERVER'", "'PREV_STATE']")
    for name, state in before.items():
        session.out.row(name, inspect_value(state))
    session.out.footer()


def clear_compaction_queues(session: Session, server: Value, queues: Value = None) -> None:
    """Drops the compactions that wait on a server: the long ones, the short ones, or both.

    clear_compaction_queues 'host187.example.com,60020'
    clear_compaction_queues 'host187.example.com,60020', 'long'
    clear_compaction_queues 'host187.example.com,60020', ['long', 'short']
    """
    names = list(_QUEUES) if queues is None else names_in([queues])
    for name in names:
        if name not in _QUEUES:
            raise InvalidRequest(f"queue '{name:.40}' is not valid", hint="'long' or 'short'")
    chosen = [_QUEUES[name] for name in names]
    session.store.admin.clear_compaction_queues(to_text(server, "the server's name"), chosen)


def _compact(session: Session, target: Value, family: Value, kind: Value, *, major: bool) -> None:
    if kind not in (b"NORMAL", None):
        hint = "NORMAL"
        if kind == b"MOB":
            hint = "HBase 2.6 makes none either (HBASE-23571): those of kind NORMAL do it"
        raise InvalidRequest(f"there are no compactions of kind {inspect_value(kind)}", hint=hint)
    chosen = None if family is None else to_text(family, "the family")
    name = to_text(target, "the table or region")
    admin = session.store.admin
    if name in session.store.tables():
        admin.compact(name, chosen, major=major, wait=False)
    else:
        admin.compact_region(region_by_name(session, target), chosen, major=major, wait=False)


def _is_server(name: str) -> bool:
    """Whether a name has the form of a server's, also of one that does not exist."""
    return name.count(",") == 2 and not name.endswith(".")
