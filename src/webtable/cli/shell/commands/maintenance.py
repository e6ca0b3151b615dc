"""The commands of upkeep: flush, compact, the balancer, the cache."""

from __future__ import annotations

import time
from datetime import datetime

from webtable.cli.shell.command_catalog import Command
from webtable.cli.shell.commands.regions import region_by_name
from webtable.cli.shell.language.values import Value, inspect_value, to_bool, to_text
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest

__all__ = ["COMMANDS"]


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


def clear_block_cache(session: Session, table: Value) -> None:
    """Drops what servers keep of a table's files in memory; the next reads are slower.

    clear_block_cache 'webtable'
    """
    done = session.store.admin.clear_block_cache(to_text(table, "the table's name"))
    session.out.row(
        f"CacheEvictionStats{{evictedBlocks={done.blocks}, maxCacheSize={done.cache_bytes}, "
        f"failedRegionsSize={len(done.failed)}, failedRegions=[{', '.join(done.failed)}]}}"
    )


def trace(_: Session, action: Value = b"status", _name: Value = None) -> bool:
    """Shows whether calls are traced: never. Tracing needs an agent inside a JVM.

    trace
    trace 'status'
    """
    word = to_text(action, "what to do")
    if word not in ("start", "status", "stop"):
        raise InvalidRequest(f"trace '{word:.40}' is not valid", hint="'start', 'status', 'stop'")
    if word == "start":
        raise InvalidRequest(
            "calls cannot be traced from here",
            hint="HBase's shell hands its spans to an agent of OpenTelemetry inside its JVM; "
            "there is no JVM behind this one",
        )
    return False


def rit(session: Session) -> None:
    """Lists the regions that are on their way from one server to another.

    rit
    """
    moving = session.store.admin.report().in_transition
    session.out.heading()
    now = time.time()
    for each in moving:
        since = (each.since_ms or 0) / 1000
        date = datetime.fromtimestamp(since).astimezone()
        session.out.row(
            f"{each.region} state={each.state}, ts={date:%a %b %d %H:%M:%S %Z %Y} "
            f"({now - since:.0f}s ago), server=null"
        )
    session.out.footer()


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


COMMANDS: dict[str, Command] = {
    "balance_switch": balance_switch,
    "balancer": balancer,
    "balancer_enabled": balancer_enabled,
    "clear_block_cache": clear_block_cache,
    "compact": compact,
    "compact_rs": compact_rs,
    "compaction_state": compaction_state,
    "flush": flush,
    "major_compact": major_compact,
    "rit": rit,
    "trace": trace,
}
