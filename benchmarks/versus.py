"""Old code against new code: the same steps by two checkouts, in turns, by processor time.

Each checkout has an environment of its own (`make setup`). One process for each side runs the
steps. The sides alternate step by step, and their order changes from round to round, so that other
work on the machine affects both. The figure is the least time of new divided by the least time of
old.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.harness import Bench, Figure, Target
from benchmarks.hbase import cluster
from benchmarks.pages import sample_files
from benchmarks.pages_ceiling import warc_files
from benchmarks.versus_heads import write_long_heads
from benchmarks.versus_side import HBASE_STEPS, STEPS

__all__ = ["run"]

MOST = Target(1.05, at_most=True)
MOST_BYTES = Target(1.15, at_most=True)


def run(
    bench: Bench,
    old: Path,
    *,
    with_hbase: bool,
    crawl: Path | None = None,
    only: Sequence[str] | None = None,
) -> None:
    """Compares the checkout in `old` with this one, in all steps or in those named in `only`."""
    steps = [*STEPS, *(HBASE_STEPS if with_hbase else ())]
    if unknown := set(only or ()) - set(steps):
        raise SystemExit(f"no step {', '.join(sorted(unknown))}; there are: {', '.join(steps)}")
    steps = [step for step in steps if only is None or step in only]
    seconds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    pythons = {"old": _python_of(old), "new": Path(sys.executable)}
    for python in pythons.values():
        _compile_bytecode(python)
    with contextlib.ExitStack() as stack:
        location = stack.enter_context(cluster(bench)) if with_hbase else None
        crawl = crawl or _made_crawl(bench)
        assert warc_files(crawl), f"no WARC files under {crawl}"
        heads = bench.scratch / "heads"
        write_long_heads(warc_files(crawl), heads)
        sides = {
            name: stack.enter_context(_side(bench, name, python, (crawl, heads), location))
            for name, python in pythons.items()
        }
        for turn in range(bench.rounds + 1):
            what = f"round {turn} of {bench.rounds}" if turn else "warming up"
            bench.say(f"old and new: {what}")
            for step in steps:
                # The side that runs first finds the caches of the step before.
                for name in random.Random(f"{turn} {step}").sample(sorted(sides), 2):
                    step_seconds = _run_step(sides[name], step)
                    if turn:
                        seconds[step][name].append(step_seconds)
    for step in steps:
        # Other work on the machine only ever adds: the smallest of several is the cost of the step.
        new, before = min(seconds[step]["new"]), min(seconds[step]["old"])
        name = f"old and new: {step}"
        unit, target = ("bytes", MOST_BYTES) if step == "disk" else ("s", MOST)
        bench.figures.append(Figure(name, new, unit, "the old code", new / before, target))


def _python_of(checkout: Path) -> Path:
    python = checkout.absolute() / ".venv" / "bin" / "python"
    if not python.exists():
        raise SystemExit(f"no {python}; run `make setup` in {checkout}")
    return python


def _compile_bytecode(python: Path) -> None:
    """Compiles the modules of a checkout, or its processes may do so at every start."""
    code = "import compileall, webtable; compileall.compile_dir(webtable.__path__[0], quiet=1)"
    subprocess.run([python, "-c", code], check=True)


def _made_crawl(bench: Bench) -> Path:
    folder = bench.scratch / "crawl"
    folder.mkdir()
    sample_files(folder, is_quick=bench.is_quick)
    return folder


@contextlib.contextmanager
def _side(
    bench: Bench, name: str, python: Path, crawls: tuple[Path, Path], location: str | None
) -> Iterator[subprocess.Popen[str]]:
    folder = bench.scratch / name
    folder.mkdir()
    command = [str(python), "-m", "benchmarks.versus_side", *map(str, (folder, *crawls))]
    if location is not None:
        mark = "&" if "?" in location else "?"
        command.append(f"{location}{mark}namespace=versus_{name}_{uuid.uuid4().hex[:6]}")
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _run_step(side: subprocess.Popen[str], step: str) -> float:
    assert side.stdin is not None
    assert side.stdout is not None
    side.stdin.write(step + "\n")
    side.stdin.flush()
    line = side.stdout.readline()
    if not line:
        raise SystemExit(f"the step {step} failed, see above")
    return float(line)
