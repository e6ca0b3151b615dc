"""The group `hbase`: our client against happybase over a Thrift gateway, and the Java client.

All clients use the same tables of one cluster on this machine, and alternate.
"""

from __future__ import annotations

import contextlib
import os
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import webtable
from benchmarks.harness import Bench, Target, rates
from benchmarks.hbase_clients import (
    COLUMNS,
    PAGES,
    ROWS,
    STATE,
    VALUE,
    WRITES,
    Client,
    HappyBase,
    Java,
    WebTable,
)
from tools.thrift_gateway import ThriftGateway
from webtable.local.hbase import LocalHBase
from webtable.local.hbase_state import ClusterSettings
from webtable.store.hbase.wire.cell_blocks import COMPILED

__all__ = ["cluster", "run"]

OURS, HAPPYBASE, JAVA = "webtable", "happybase", "Java client"
SPLITS = [b"%x0" % number for number in range(1, 16)]
PAGE_BYTES = 20_000
UNDER_A_PREFIX = 20
QUICK = 10


class Step:
    """One operation: its name, its amount of work, and its targets.

    `pieces` is the number of pieces of work in a round, `size` the number of keys of each; a step
    without a size reads a whole table.
    """

    def __init__(
        self,
        name: str,
        method: str,
        work: tuple[int, int],
        targets: tuple[float, float],
        unit: str = "rows/s",
    ) -> None:
        self.name = name
        self.method = method
        self.pieces, self.size = work
        self.unit = unit
        self.targets = {HAPPYBASE: Target(targets[0]), JAVA: Target(targets[1])}


STEPS = [
    Step("scan", "scan", (2, 0), (2.0, 0.75), "cells/s"),
    Step("scan of 20 KB cells", "scan_pages", (1, 0), (2.8, 1.5)),
    Step("scan, cells not read", "scan_unread", (2, 0), (5, 1.5)),
    Step("scan, keys only", "scan_keys", (2, 0), (5, 1.5)),
    Step("prefix scan of 20 rows", "prefix_scan", (8, 250), (2.7, 1.2)),
    Step("batched put", "put", (8, 10_000), (1.8, 1.0)),
    Step("get, 1 thread", "get", (8, 600), (1.6, 1.1)),
    Step("get, 16 threads", "get_threads", (16, 1_600), (1.6, 1.0)),
    Step("multi-get of 100", "get_many", (4, 4_000), (1.3, 0.95)),
    Step("increment", "increment", (8, 500), (1.2, 1.0), "calls/s"),
    Step("check-and-put", "check_and_put", (8, 500), (1.2, 1.0), "calls/s"),
]


class Data:
    """The keys of the tables: 256 salts over 16 regions, and twenty rows under each prefix."""

    def __init__(self, rows: int, pages: int) -> None:
        sites = rows // UNDER_A_PREFIX
        self.prefixes = [b"%02x:com.example%05d/" % (n * 97 % 256, n) for n in range(sites)]
        self.keys = [
            b"%bpage%02d" % (prefix, page)
            for prefix in self.prefixes
            for page in range(UNDER_A_PREFIX)
        ]
        self.pages = [b"%02x:page%06d" % (n * 97 % 256, n) for n in range(pages)]

    def load(self, location: str) -> None:
        """Creates the tables and flushes their rows to files."""
        chance = random.Random(4)
        text = b" ".join(b"%x" % chance.getrandbits(40) for _ in range(100_000))
        span = len(text) - PAGE_BYTES
        with webtable.open(location) as store:
            for name in {ROWS, PAGES, WRITES} & set(store.tables()):
                store.drop_table(name)
            rows, pages, writes = (
                store.create_table(name, "f", splits=SPLITS) for name in (ROWS, PAGES, WRITES)
            )
            with rows.batch() as batch, writes.batch() as states:
                for number, key in enumerate(self.keys):
                    at = number * 7919 % span
                    values = {
                        column: text[at + place * 32 : at + place * 32 + 32]
                        for place, column in enumerate(COLUMNS)
                    }
                    batch.put(key, values)
                    states.put(key, {STATE: VALUE})
            with pages.batch(size=100) as batch:
                for number, key in enumerate(self.pages):
                    at = number * 7919 % span
                    batch.put(key, {COLUMNS[0]: text[at : at + PAGE_BYTES]})
            for table in (rows, pages):
                table.major_compact()


def run(bench: Bench) -> None:
    """Measures the client."""
    share = QUICK if bench.is_quick else 1
    bench.say(f"hbase: the codec of cells is {'compiled' if COMPILED else 'plain Python'}")
    data = Data(200_000 // share, 20_000 // share)
    measured: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with cluster(bench) as location, contextlib.ExitStack() as stack:
        bench.say("hbase: loading the tables")
        data.load(location)
        bench.say("hbase: starting the Thrift gateway and the Java client")
        gateway = ThriftGateway(location, heap_mb=1024, is_optimised=True)
        stack.enter_context(gateway)
        java = stack.enter_context(Java(location, bench.scratch / "java.txt"))
        clients: dict[str, Client] = {
            OURS: stack.enter_context(contextlib.closing(WebTable(location))),
            HAPPYBASE: stack.enter_context(
                contextlib.closing(HappyBase(gateway.host, gateway.port))
            ),
            JAVA: java,
        }
        # The first round lets Java compile, on all sides, and fills the caches; it does not count.
        for turn in range(bench.rounds + 1):
            what = f"round {turn} of {bench.rounds}" if turn else "warming up"
            bench.say(f"hbase: {what}")
            for step in STEPS:
                work = _work(step, data, clients, random.Random(turn), share)
                for name, rate in rates(work, turn=turn).items():
                    if turn:
                        measured[step.name][name].append(rate)
    for step in STEPS:
        found = measured[step.name]
        peers = {name: (found[name], target) for name, target in step.targets.items()}
        bench.compare(f"hbase {step.name}", step.unit, found[OURS], peers)


def _work(
    step: Step, data: Data, clients: Mapping[str, Client], chance: random.Random, share: int
) -> dict[str, Sequence[Callable[[], int]]]:
    if not step.size:
        want = {
            "scan": len(data.keys) * len(COLUMNS),
            "scan_pages": len(data.pages),
        }.get(step.method, len(data.keys))
        return {
            name: [_checked(getattr(client, step.method), want)] * step.pieces
            for name, client in clients.items()
        }
    source = data.prefixes if step.method == "prefix_scan" else data.keys
    rows_each = UNDER_A_PREFIX if step.method == "prefix_scan" else 1
    size = max(step.size // share, 100)
    pieces = [chance.sample(source, size) for _ in range(step.pieces)]
    java = clients[JAVA]
    assert isinstance(java, Java)
    for piece in pieces:
        java.send_keys(piece)
    return {
        name: [
            _checked(partial(getattr(client, step.method), piece), size * rows_each)
            for piece in pieces
        ]
        for name, client in clients.items()
    }


def _checked(work: Callable[[], int], want: int) -> Callable[[], int]:
    def run_once() -> int:
        done = work()
        assert done == want, f"{work} handled {done} of {want}"
        return done

    return run_once


# On local files: without HDFS in between less of the machine is busy with other things.
_SETTINGS = ClusterSettings(profile="bench", storage="local", ends_with_caller=True)


@contextlib.contextmanager
def cluster(bench: Bench, settings: ClusterSettings = _SETTINGS) -> Iterator[str]:
    """Yields the location of a cluster: a new cluster on this machine, unless one is given."""
    if named := os.environ.get("WEBTABLE_BENCH_HBASE"):
        yield named
        return
    bench.say("hbase: starting a cluster")
    local = LocalHBase(bench.scratch / "hbase", settings, bench.say)
    local.up()
    try:
        yield local.location
    finally:
        local.down(delete=True)
