"""The commands about the balancer and the other chores of the master: run, switch, show them."""

from __future__ import annotations

from webtable import Switch
from webtable.cli.shell.language.ruby_values import (
    Value,
    check_keys,
    inspect_value,
    to_bool,
    to_hash,
    to_list,
    to_text,
)
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest


def balancer(session: Session, *options: Value) -> bool:
    """Runs the balancer once; it can make a plan only, or run while regions are on their way.

    balancer
    balancer 'dry_run'
    balancer 'ignore_rit'
    balancer 'dry_run', 'ignore_rit'
    """
    chosen = [to_text(each, "an option of the balancer") for each in options]
    for word in chosen:
        if word not in ("dry_run", "ignore_rit", "force"):
            raise InvalidRequest(
                f"balancer has no option '{word:.40}'", hint="'dry_run' or 'ignore_rit'"
            )
    done = session.store.admin.balance(
        dry_run="dry_run" in chosen, ignore_transitions=bool({"ignore_rit", "force"} & {*chosen})
    )
    if done.has_run:
        session.out.row("Balancer ran")
        session.out.row(
            f"Moves calculated: {done.moves_planned}, moves executed: {done.moves_made}"
        )
    else:
        session.out.row("Balancer did not run. See logs for details.")
    return done.has_run


def balance_switch(session: Session, on: Value) -> bool:
    """Lets the cluster spread its regions by itself, or not; shows whether it did before.

    balance_switch true
    balance_switch false
    """
    before = session.store.admin.switch_balancer(on=to_bool(on, "the switch"))
    session.out.row(f"Previous balancer state : {inspect_value(before)}")
    return before


def balancer_enabled(session: Session) -> bool:
    """Shows whether the cluster balances its regions by itself.

    balancer_enabled
    """
    state = session.store.admin.report().is_balancing
    session.out.row(inspect_value(state))
    return state


def normalize(session: Session, *options: Value) -> bool:
    """Splits large regions and merges small ones, of all tables or of those that match.

    normalize
    normalize TABLE_NAME => 'webtable'
    normalize TABLE_NAMES => ['webtable', 'links']
    normalize REGEX => 'web.*'
    normalize NAMESPACE => 'archive', REGEX => '.*_large'
    """
    given: dict[str, Value] = {}
    for each in options:
        given |= to_hash(each, "what to normalize")
    check_keys("normalize", given, {"TABLE_NAME", "TABLE_NAMES", "REGEX", "NAMESPACE"})
    tables = [
        to_text(each, "a table's name")
        for each in to_list(given.get("TABLE_NAMES", []), "TABLE_NAMES")
    ]
    if "TABLE_NAME" in given:
        tables.append(to_text(given["TABLE_NAME"], "TABLE_NAME"))
    has_run = session.store.admin.normalize(
        tables,
        regex=to_text(given["REGEX"], "REGEX") if "REGEX" in given else None,
        namespace=to_text(given["NAMESPACE"], "NAMESPACE") if "NAMESPACE" in given else None,
    )
    return _shown(session, state=has_run)


def normalizer_switch(session: Session, on: Value) -> bool:
    """Lets the master split large regions and merge small ones; shows whether it did before.

    normalizer_switch true
    normalizer_switch false
    """
    return _switched(session, "normalizer", on)


def normalizer_enabled(session: Session) -> bool:
    """Shows whether the master splits large regions and merges small ones by itself.

    normalizer_enabled
    """
    return _is_on(session, "normalizer")


def catalogjanitor_switch(session: Session, on: Value) -> bool:
    """Lets the master remove what splits and merges leave; shows whether it did before.

    catalogjanitor_switch true
    catalogjanitor_switch false
    """
    return _switched(session, "catalog_janitor", on)


def catalogjanitor_enabled(session: Session) -> bool:
    """Shows whether the master removes what splits and merges leave.

    catalogjanitor_enabled
    """
    return _is_on(session, "catalog_janitor")


def catalogjanitor_run(session: Session) -> int:
    """Removes what splits and merges left, now; shows how many.

    catalogjanitor_run
    """
    return session.store.admin.run_catalog_janitor()


def cleaner_chore_switch(session: Session, on: Value) -> bool:
    """Lets the master remove old files and logs; shows whether it did before.

    cleaner_chore_switch true
    cleaner_chore_switch false
    """
    return _switched(session, "cleaner", on)


def cleaner_chore_enabled(session: Session) -> bool:
    """Shows whether the master removes old files and logs.

    cleaner_chore_enabled
    """
    return _is_on(session, "cleaner")


def cleaner_chore_run(session: Session) -> bool:
    """Removes old files and logs, now; shows whether it ran and could remove all.

    cleaner_chore_run
    """
    return session.store.admin.run_cleaner()


def snapshot_cleanup_switch(session: Session, on: Value) -> bool:
    """Lets the master remove snapshots whose time is up; shows whether it did before.

    snapshot_cleanup_switch true
    snapshot_cleanup_switch false
    """
    before = session.store.admin.switch("snapshot_cleanup", on=to_bool(on, "the switch"))
    session.out.row(f"Previous snapshot cleanup state : {inspect_value(before)}")
    return before


def snapshot_cleanup_enabled(session: Session) -> bool:
    """Shows whether the master removes snapshots whose time is up.

    snapshot_cleanup_enabled
    """
    return _is_on(session, "snapshot_cleanup")


def splitormerge_switch(session: Session, kind: Value, on: Value) -> bool:
    """Lets regions be split, or be merged, or not; shows whether they could before.

    splitormerge_switch 'SPLIT', true
    splitormerge_switch 'MERGE', false
    """
    return _switched(session, _split_or_merge(kind), on)


def splitormerge_enabled(session: Session, kind: Value) -> bool:
    """Shows whether regions can be split, or be merged.

    splitormerge_enabled 'SPLIT'
    splitormerge_enabled 'MERGE'
    """
    return _is_on(session, _split_or_merge(kind))


def is_in_maintenance_mode(session: Session) -> bool:
    """Shows whether the master was started for repairs only.

    is_in_maintenance_mode
    """
    return _shown(session, state=session.store.admin.is_in_maintenance())


def hbck_chore_run(session: Session) -> bool:
    """Looks for regions that are lost or in two places; what it finds is in the master's log.

    hbck_chore_run
    """
    return session.store.admin.run_hbck()


def flush_master_store(session: Session) -> None:
    """Writes what the master itself has in memory to files.

    flush_master_store
    """
    session.store.admin.flush_master_store()


def stop_master(session: Session) -> None:
    """Stops the master; a backup master takes over, and the servers go on.

    stop_master
    """
    session.store.admin.stop_master()


def _split_or_merge(kind: Value) -> Switch:
    word = to_text(kind, "the switch")
    if word == "SPLIT":
        return "split"
    if word == "MERGE":
        return "merge"
    raise InvalidRequest(f"switch '{word:.40}' is not valid", hint="'SPLIT' or 'MERGE'")


def _switched(session: Session, switch: Switch, on: Value) -> bool:
    before = session.store.admin.switch(switch, on=to_bool(on, "the switch"))
    return _shown(session, state=before)


def _is_on(session: Session, switch: Switch) -> bool:
    return _shown(session, state=session.store.admin.is_switched_on(switch))


def _shown(session: Session, *, state: bool) -> bool:
    session.out.row(inspect_value(state))
    return state
