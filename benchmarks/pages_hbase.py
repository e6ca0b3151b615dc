"""The group `pages-hbase`: creating a store of pages on a local cluster, and its queries.

The cluster is what `webtable hbase up` starts: one region server on HDFS. The store has the 681
pages of a made-up crawl, with salted keys, so each index table has 16 regions. Queries run in one
process, on a store that stays open.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

import webtable
from benchmarks.harness import Bench
from benchmarks.hbase import cluster
from benchmarks.pages import milliseconds_of, queries_of
from webtable.local.hbase_state import ClusterSettings
from webtable.pages.asking.change_feed import ChangeFeed
from webtable.pages.asking.page_feed import PageFeed
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

__all__ = ["run"]

CRAWLED_PAGES = 600
"""The crawl has 681 URLs with its redirects and errors."""
WARM_UP_RUNS, QUERY_RUNS, QUICK_RUNS = 50, 300, 30
MOST_QUERY_MS = 8.0
MOST_INIT_SECONDS = 5.0
LIMIT = 20
NAMESPACE = "bench_pages"


def run(bench: Bench) -> None:
    """Measures `webtable init` and queries."""
    settings = ClusterSettings(profile="normal", storage="hdfs", ends_with_caller=True)
    with cluster(bench, settings) as location:
        stores = [f"{location}?namespace={NAMESPACE}_{n}" for n in range(bench.rounds)]
        try:
            _create(bench, stores)
            _ask(bench, stores[-1])
        finally:
            if os.environ.get("WEBTABLE_BENCH_HBASE"):
                _drop(location, stores)


def _create(bench: Bench, stores: list[str]) -> None:
    bench.say(f"pages-hbase: creating {len(stores)} stores")
    seconds = []
    for store in stores:
        began = time.perf_counter()
        _webtable("init", "--store", store)
        seconds.append(time.perf_counter() - began)
    # The servers of a new cluster compile their code during the first one.
    bench.limit("pages on HBase, the first init", seconds[0], "s", MOST_INIT_SECONDS)
    bench.limit("pages on HBase, init, the least", min(seconds), "s", MOST_INIT_SECONDS)


def _ask(bench: Bench, location: str) -> None:
    crawl = str(bench.scratch / "681-pages.warc.gz")
    _webtable("sample", "--pages", str(CRAWLED_PAGES), crawl)
    _webtable("load", "--store", location, crawl)
    with webtable.open(location, read_only=True) as store:
        pages = PageTable.open(store, parse_stored)
        feed = ChangeFeed(PageFeed(pages))
        bench.say(f"pages-hbase: queries of {len(list(feed)):,} pages")
        calls = {
            **queries_of(pages),
            "changes": lambda: ChangeFeed(PageFeed(pages)).read(LIMIT),
            "changes, no new ones": lambda: feed.read(LIMIT),
        }
        milliseconds_of(calls, WARM_UP_RUNS)
        runs = QUICK_RUNS if bench.is_quick else QUERY_RUNS
        for name, times in milliseconds_of(calls, runs).items():
            p50 = statistics.median(times)
            bench.limit(f"pages on HBase, {name}, p50", p50, "ms", MOST_QUERY_MS)


def _webtable(*arguments: str) -> None:
    command = [sys.executable, "-m", "webtable", *arguments]
    subprocess.run(command, check=True, capture_output=True)


def _drop(location: str, stores: list[str]) -> None:
    for each in stores:
        with webtable.open(each) as store:
            for name in store.tables():
                store.drop_table(name)
    with webtable.open(location) as store:
        for namespace in store.admin.namespaces():
            if namespace.name.startswith(NAMESPACE):
                store.admin.drop_namespace(namespace.name)
