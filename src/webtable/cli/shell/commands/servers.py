"""The commands about servers: which there are, what they do, and taking them out of service."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime

from webtable import ServerTask
from webtable.cli.shell.language.ruby_values import Value, to_bool, to_list, to_text
from webtable.cli.shell.session import Session
from webtable.errors import InvalidRequest, NotFound

__all__ = ["names_in", "servers_named"]

_RPC = "RpcServer."
_READS_AND_WRITES = ("Get", "Multi", "Mutate", "Scan")
_KINDS = ("all", "general", "handler", "rpc", "operation")


def list_liveservers(session: Session) -> None:
    """Lists the servers that are alive.

    list_liveservers
    """
    _print_servers(session, "SERVERNAME", [each.name for each in session.store.admin.servers()])


def list_deadservers(session: Session) -> None:
    """Lists the servers that died.

    list_deadservers
    """
    _print_servers(session, "SERVERNAME", session.store.admin.report().dead_servers)


def list_unknownservers(session: Session) -> None:
    """Lists servers that regions are assigned to, though the master does not know them.

    list_unknownservers
    """
    is_cluster = session.store.capabilities.cluster
    names = session.store.admin.load().unknown_servers if is_cluster else ()
    _print_servers(session, "SERVERNAME", names)


def clear_deadservers(session: Session, *servers: Value) -> list[Value]:
    """Forgets the servers that died, or some of them; shows those that are still needed.

    clear_deadservers
    clear_deadservers 'host187.example.com,60020,1289493121758'
    """
    left = session.store.admin.clear_dead_servers(names_in(servers))
    if left:
        session.out.heading()
        session.out.row("Some dead server clear failed")
        _print_servers(session, "SERVERNAME", left)
    else:
        session.out.row("true")
    return [name.encode() for name in left]


def list_decommissioned_regionservers(session: Session) -> None:
    """Lists the servers that get no regions.

    list_decommissioned_regionservers
    """
    names = session.store.admin.decommissioned()
    _print_servers(session, "DECOMMISSIONED REGION SERVERS", names)


def decommission_regionservers(session: Session, servers: Value, offload: Value = False) -> None:
    """Gives servers no more regions; with true it also moves theirs away.

    decommission_regionservers 'host187.example.com'
    decommission_regionservers 'host187.example.com,60020', true
    decommission_regionservers ['host187.example.com', 'host188.example.com'], true
    """
    names = servers_named(session, servers)
    is_offloaded = to_bool(offload, "whether to move regions away")
    session.store.admin.decommission(names, offload=is_offloaded)


def recommission_regionserver(session: Session, server: Value, regions: Value = None) -> None:
    """Lets a server have regions again, and moves some to it if they are named.

    recommission_regionserver 'host187.example.com,60020'
    recommission_regionserver 'host187.example.com,60020', ['527db22f95c8a9e0116f0cc13c680396']
    """
    names = servers_named(session, to_text(server, "the server's name").encode())
    wanted = [] if regions is None else names_in(to_list(regions, "the regions"))
    session.store.admin.recommission(names[0], wanted)


def stop_regionserver(session: Session, server: Value) -> None:
    """Ends a server; its regions open elsewhere.

    stop_regionserver 'host187.example.com:60020'
    """
    session.store.admin.stop_server(to_text(server, "the server's name"))


def wal_roll(session: Session, server: Value) -> None:
    """Lets a server begin a new file for its log of writes.

    wal_roll 'host187.example.com,60020,1289493121758'
    """
    session.store.admin.roll_wal(to_text(server, "the server's name"))


def clear_block_cache(session: Session, table: Value) -> None:
    """Drops what servers keep of a table's files in memory; the next reads are slower.

    clear_block_cache 'webtable'
    """
    done = session.store.admin.clear_block_cache(to_text(table, "the table's name"))
    session.out.row(
        f"CacheEvictionStats{{evictedBlocks={done.blocks}, maxCacheSize={done.cache_bytes}, "
        f"failedRegionsSize={len(done.failed)}, failedRegions=[{', '.join(done.failed)}]}}"
    )


def processlist(session: Session, *arguments: Value) -> None:
    """Shows what servers do: all, general (flushes, compactions), handler, rpc or operation.

    processlist
    processlist 'all'
    processlist 'rpc', 'host187.example.com'
    processlist 'host187.example.com,16020'
    """
    texts = names_in(arguments)
    kind = "general"
    if texts and texts[0] in _KINDS:
        kind, *texts = texts
    tasks = session.store.admin.tasks()
    if texts:
        names = {each.server for each in tasks}
        chosen = {name for name in names for word in texts if _fits(name, word)}
        tasks = [each for each in tasks if each.server in chosen]
    tasks = [each for each in tasks if _is_of_kind(each, kind)]
    now = time.time()
    session.out.line(f"{len(tasks)} tasks as of: {_date(now)}")
    if tasks:
        _print_tasks(session, tasks, now)
    else:
        session.out.line(f"No {kind} tasks currently running.")


def servers_named(session: Session, value: Value) -> list[str]:
    """Returns the servers that are alive of a name, or of several; a host alone means all there.

    Raises:
        NotFound: no server has such a name.
    """
    texts = names_in([value])
    if not session.store.capabilities.cluster:
        return texts  # the request will be rejected, with the reason
    live = [each.name for each in session.store.admin.servers()]
    found: list[str] = []
    for word in texts:
        fitting = [name for name in live if _fits(name, word)]
        if not fitting:
            raise NotFound("server", word, live)
        found += [name for name in fitting if name not in found]
    if not found:
        raise InvalidRequest("no server is named", hint="see `list_liveservers`")
    return found


def _fits(name: str, word: str) -> bool:
    parts = name.split(",")
    wanted = word.replace(":", ",").split(",")
    return parts[: len(wanted)] == wanted


def names_in(values: Sequence[Value]) -> list[str]:
    """Returns the names in a list, also those in lists inside it."""
    names: list[str] = []
    for each in values:
        if isinstance(each, list):
            names += [to_text(inner, "a name") for inner in each]
        else:
            names.append(to_text(each, "a name"))
    return names


def _print_servers(session: Session, title: str, names: Sequence[str]) -> None:
    session.out.heading(title)
    for name in names:
        session.out.row(name)
    session.out.footer()


def _is_of_kind(task: ServerTask, kind: str) -> bool:
    is_handler = task.description.startswith(_RPC)
    if kind == "all":
        return True
    if kind == "general":
        return not is_handler
    is_wanted = is_handler and (kind == "handler" or task.state == "RUNNING")
    if kind != "operation":
        return is_wanted
    return is_wanted and task.status.rpartition(": ")[2] in _READS_AND_WRITES


def _print_tasks(session: Session, tasks: Sequence[ServerTask], now: float) -> None:
    description = min(32, max(len(each.description) for each in tasks))
    status = min(36, max(len(each.status) for each in tasks) + 27)
    widths = (15, 19, 8, description, status)
    border = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    rows = [("Host", "Start Time", "State", "Description", "Status")]
    for each in tasks:
        since = now - (each.ended_ms or each.started_ms) / 1000
        rows.append(
            (
                each.server.partition(",")[0],
                _date(each.started_ms / 1000),
                each.state,
                each.description,
                f"{each.status} (since {since:.0f} seconds ago)",
            )
        )
    for row in rows:
        session.out.line(border)
        cells = (_cell(text, width) for text, width in zip(row, widths, strict=True))
        session.out.line(f"| {' | '.join(cells)} |")
    session.out.line(border)


def _cell(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 3] + "..."


def _date(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M:%S}"
