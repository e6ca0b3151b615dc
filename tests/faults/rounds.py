"""One round: a new table, the load on it, chaos for a while, then quiet, and the judgement."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from time import monotonic
from typing import NamedTuple

import webtable
from tests.faults import rows
from tests.faults.chaos import Chaos, Story
from tests.faults.checker import ChainEnd, Final, check
from tests.faults.history import History, Read
from tests.faults.load import Keys, Load
from tests.faults.proxy import Proxy
from tests.faults.regions import RegionHand
from webtable import Row, Table
from webtable.local.hbase import LocalHBase
from webtable.store.hbase.wire.errors_and_responses import Server

__all__ = ["Plan", "Report", "play"]

QUIET_SECONDS = 150.0


class Plan(NamedTuple):
    """How a round is to be.

    Attributes:
        seed: where everything that is chosen comes from.
        seconds: how long chaos reigns.
        kills: the mean time between two kills, in seconds.
        is_gentle: whether the master is spared while it moves a region: such a region is away for
            minutes on a slow machine.
        timeout: the time-out of every call, in seconds.
        pace: the pause of each thread between two calls, in seconds.
    """

    seed: int
    seconds: float
    kills: float
    timeout: float = 30.0
    pace: float = 0.005
    scale: int = 1
    is_gentle: bool = False


class Report(NamedTuple):
    """What a round gave; `findings` must be empty."""

    findings: list[str]
    counts: dict[str, int]
    events: dict[str, int]
    story: Story

    def write(self, path: Path) -> None:
        """Writes it all down, for who wants to find out why."""
        lines = [*self.findings, "", str(self.counts), str(self.events), "", *self.story.lines]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def play(cluster: LocalHBase, plan: Plan, table: str) -> Report:
    """Plays one round on a cluster of three region servers."""
    story = Story()
    with _proxies(cluster) as proxies, contextlib.ExitStack() as closing:
        stores = [
            closing.enter_context(webtable.open(location))
            for location in _locations(cluster, proxies, plan.timeout)
        ]
        *clients, hasty, calm = stores
        keys = Keys.of_size(plan.scale)
        calm.create_table(rows.schema(table), splits=rows.SPLITS)
        with calm.table(table).batch() as batch:
            for key in keys.stable:
                batch.put(key, rows.numbered(0))
        history = History()
        load = Load([store.table(table) for store in clients], keys, history, plan.seed)
        chaos = Chaos(cluster, RegionHand(hasty, table), proxies, story, plan.seed)
        load.start(plan.timeout, plan.pace)
        chaos.start(plan.kills, is_gentle=plan.is_gentle)
        Event().wait(plan.seconds)
        story.tell("quiet")
        chaos.finish()
        load.finish(QUIET_SECONDS)
        story.tell("read")
        final = _read_all(calm.table(table), keys, history)
        findings = [*chaos.failures, *check(history, final)]
        if not findings:
            calm.drop_table(table)
        return Report(findings, history.counts(), dict(story.counts), story)


@contextlib.contextmanager
def _proxies(cluster: LocalHBase) -> Iterator[list[Proxy]]:
    proxies = [
        Proxy(Server("127.0.0.1", process.port))
        for process in cluster.status().processes
        if process.name.startswith("region-server-") or process.name == "master"
    ]
    yield proxies
    for proxy in proxies:
        proxy.close()


def _locations(cluster: LocalHBase, proxies: list[Proxy], timeout: float) -> Iterator[str]:
    """Yields a location through proxies, one by the masters through proxies, and a direct one.

    The second does not wait for a dead master; the last is for callers that need a result.
    """
    status = cluster.status()
    host_map = ",".join(f"{proxy.target}={proxy.address}" for proxy in proxies)
    yield f"{status.location}?timeout={timeout}&host_map={host_map}"
    yield f"{status.masters_location}?timeout={timeout}&host_map={host_map}"
    yield f"{status.location}?timeout={timeout}"
    yield f"{status.location}?timeout=5"
    yield f"{status.location}?timeout=60"


def _read_all(table: Table, keys: Keys, history: History) -> Final:
    """Reads everything when all is quiet, and adds the rows with numbers to the reads."""
    began = monotonic()
    found: dict[bytes, Row] = {}
    for row in table.scan():
        if row.key in found:
            history.complain(f"the last scan repeats {row.key!r}")
        found[row.key] = row
    for key in (*keys.owned, *keys.timed, *keys.wide):
        row_found = found.get(key)
        number_in = rows.wide_number_in if key in keys.wide else rows.number_in
        try:
            number = number_in(row_found) if row_found is not None else None
        except rows.Torn as error:
            history.complain(f"in the end: {error}")
            continue
        history.saw(key, Read(number, began, monotonic()))
    for key in keys.stable:
        if key not in found or rows.number_in(found[key]) != 0:
            history.complain(f"in the end the stable row {key!r} is {found.get(key)}")
    known = {key for kind in keys for key in kind}
    for key in found.keys() - known:
        history.complain(f"in the end there is {key!r}, which nobody wrote")

    def value(key: bytes, column: bytes) -> bytes:
        row = found.get(key)
        return (row.value(column) if row is not None else None) or b""

    chains: dict[bytes, ChainEnd] = {key: rows.chain_end(found.get(key)) for key in keys.chains}
    return Final(
        counters={key: int.from_bytes(value(key, rows.COUNT), "big") for key in keys.counters},
        texts={key: value(key, rows.TEXT) for key in (*keys.counters, *keys.texts)},
        chains=chains,
    )
