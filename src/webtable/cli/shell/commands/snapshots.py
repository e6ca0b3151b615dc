"""The commands about snapshots; they need a cluster."""

from __future__ import annotations

from datetime import datetime

from webtable import Snapshot, WebTableError
from webtable.cli.shell.commands.tables import confirmed, matching
from webtable.cli.shell.language.ruby_values import (
    Value,
    check_keys,
    to_bool,
    to_hash,
    to_int,
    to_text,
)
from webtable.cli.shell.session import Session


def snapshot(session: Session, table: Value, name: Value, options: Value = None) -> Value:
    """Keeps a table as it is now under a name, for ever or for a time in seconds.

    snapshot 'webtable', 'webtable_before_load'
    snapshot 'webtable', 'webtable_before_load', {TTL => 86400}
    snapshot 'webtable', 'webtable_before_load', {SKIP_FLUSH => true, MAX_FILESIZE => 4294967296}
    """
    given = {} if options is None else to_hash(options, "the options")
    check_keys("snapshot", given, {"MAX_FILESIZE", "SKIP_FLUSH", "TTL"})
    session.store.admin.take_snapshot(
        to_text(name, "the snapshot's name"),
        to_text(table, "the table's name"),
        flush=not to_bool(given.get("SKIP_FLUSH", False), "SKIP_FLUSH"),
        ttl_seconds=to_int(given["TTL"], "TTL") if "TTL" in given else None,
        max_file_size=to_int(given["MAX_FILESIZE"], "MAX_FILESIZE")
        if "MAX_FILESIZE" in given
        else None,
    )
    return None if options is None else [options]


def clone_snapshot(session: Session, name: Value, table: Value, options: Value = None) -> None:
    """Makes a new table of a snapshot.

    clone_snapshot 'webtable_before_load', 'webtable_copy'
    clone_snapshot 'webtable_before_load', 'webtable_copy', {RESTORE_ACL => true}
    clone_snapshot 'webtable_before_load', 'webtable_copy', {CLONE_SFT => 'FILE'}
    """
    given = {} if options is None else to_hash(options, "the options")
    check_keys("clone_snapshot", given, {"CLONE_SFT", "RESTORE_ACL"})
    session.store.admin.clone_snapshot(
        to_text(name, "the snapshot's name"),
        to_text(table, "the table's name"),
        with_permissions=to_bool(given.get("RESTORE_ACL", False), "RESTORE_ACL"),
        file_tracker=to_text(given["CLONE_SFT"], "CLONE_SFT") if "CLONE_SFT" in given else None,
    )


def restore_snapshot(session: Session, name: Value, options: Value = None) -> None:
    """Makes a table what it was; the table must be disabled, and stays so.

    restore_snapshot 'webtable_before_load'
    restore_snapshot 'webtable_before_load', {RESTORE_ACL => true}
    """
    given = {} if options is None else to_hash(options, "the options")
    check_keys("restore_snapshot", given, {"RESTORE_ACL"})
    session.store.admin.restore_snapshot(
        to_text(name, "the snapshot's name"),
        with_permissions=to_bool(given.get("RESTORE_ACL", False), "RESTORE_ACL"),
    )


def delete_snapshot(session: Session, name: Value) -> None:
    """Removes a snapshot.

    delete_snapshot 'webtable_before_load'
    """
    session.store.admin.delete_snapshot(to_text(name, "the snapshot's name"))


def list_snapshots(session: Session, regex: Value = b".*") -> list[Value]:
    """Lists the snapshots, or those that match.

    list_snapshots
    list_snapshots 'webtable_.*'
    """
    return _listed(session, _matching(session, regex))


def list_table_snapshots(session: Session, tables: Value, regex: Value = b".*") -> list[Value]:
    """Lists the snapshots of the tables that match.

    list_table_snapshots 'web.*'
    list_table_snapshots 'web.*', '.*_before_load'
    """
    return _listed(session, _matching(session, regex, tables))


def delete_all_snapshot(session: Session, regex: Value) -> None:
    """Removes all snapshots that match, after confirmation.

    delete_all_snapshot 'webtable_.*'
    """
    found = _matching(session, regex)
    _print(session, found)
    if not found:
        session.out.line(f"No snapshots matched the regex {to_text(regex, 'the regex')}")
        return
    if not confirmed(session, f"Delete the above {len(found)} snapshots"):
        return
    for each in found:
        session.store.admin.delete_snapshot(each.name)
    session.out.line(f"{len(found)} snapshots successfully deleted.")


def delete_table_snapshots(session: Session, tables: Value, regex: Value = b".*") -> None:
    """Removes all snapshots of the tables that match, after confirmation.

    delete_table_snapshots 'web.*'
    """
    found = _matching(session, regex, tables)
    _print(session, found)
    if not found:
        session.out.line(
            "No snapshots matched the table name regular expression "
            f"{to_text(tables, 'the regex')} and the snapshot name regular expression "
            f"{to_text(regex, 'the regex')}"
        )
        return
    if not confirmed(session, f"Delete the above {len(found)} snapshots"):
        return
    for each in found:
        try:
            session.store.admin.delete_snapshot(each.name)
            session.out.line(f"Successfully deleted snapshot: {each.name}\n")
        except WebTableError as error:
            session.out.line(f"Failed to delete snapshot: {each.name}, due to {error}\n")


def _matching(session: Session, regex: Value, tables: Value = None) -> list[Snapshot]:
    found = session.store.admin.snapshots()
    names = set(matching(regex, [each.name for each in found]))
    if tables is not None:
        wanted = set(matching(tables, [each.table for each in found]))
        found = [each for each in found if each.table in wanted]
    return [each for each in found if each.name in names]


def _print(session: Session, found: list[Snapshot]) -> None:
    session.out.heading("SNAPSHOT", "TABLE + CREATION TIME")
    for each in found:
        session.out.row(each.name, f"{each.table} ({_time(each.created_ms)})")


def _listed(session: Session, found: list[Snapshot]) -> list[Value]:
    _print(session, found)
    session.out.footer()
    return [each.name.encode() for each in found]


def _time(milliseconds: int | None) -> str:
    moment = datetime.fromtimestamp((milliseconds or 0) // 1000).astimezone()
    zone = "UTC" if moment.tzname() == "UTC" else f"{moment:%z}"
    return f"{moment:%Y-%m-%d %H:%M:%S} {zone}"
