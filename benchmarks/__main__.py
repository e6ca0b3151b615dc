"""Runs the benchmarks: prints a table and writes `build/bench.json`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from benchmarks import filters, hbase, links, pages, pages_hbase, records, store, versus
from benchmarks.harness import Bench

GROUPS: dict[str, Callable[[Bench], None]] = {
    "store": store.run,
    "filters": filters.run,
    "hbase": hbase.run,
    "records": records.run,
    "pages": pages.run,
    "pages-hbase": pages_hbase.run,
    "links": links.run,
}


def main(arguments: list[str] | None = None) -> int:
    """Runs the chosen groups and returns the exit code: 1 with --strict when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--rounds", type=int, default=3, help="of each comparison (default 3)")
    parser.add_argument("--quick", action="store_true", help="less work, to try the whole out")
    parser.add_argument("--output", type=Path, default=Path("build/bench.json"))
    parser.add_argument("--strict", action="store_true", help="fail when a target is missed")
    parser.add_argument(
        "--old", type=Path, metavar="CHECKOUT", help="compare this code with that of a checkout"
    )
    parser.add_argument("--steps", metavar="A,B", help="with --old: only these steps")
    options = parser.parse_args(arguments)
    # Programs start as they do for users, from compiled files: without them, each start compiles.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # `make bench ONLY=store` arrives in the environment.
    groups = options.groups or os.environ.get("ONLY", "").replace(",", " ").split() or list(GROUPS)
    if unknown := sorted(set(groups) - set(GROUPS)):
        parser.error(f"no group {', '.join(unknown)}; there are: {', '.join(GROUPS)}")
    with Bench(options.output, rounds=options.rounds, is_quick=options.quick) as bench:
        if options.old:
            corpus = os.environ.get("CORPUS")
            versus.run(
                bench,
                options.old,
                with_hbase="hbase" in groups,
                crawl=Path(corpus).absolute() if corpus else None,
                only=options.steps.split(",") if options.steps else None,
            )
        else:
            for group in groups:
                GROUPS[group](bench)
        bench.write()
    wide = Console(width=None if sys.stdout.isatty() else 120)
    wide.print(bench.table())
    return 1 if options.strict and bench.short() else 0


if __name__ == "__main__":
    sys.exit(main())
