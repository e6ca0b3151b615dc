"""Measuring and reporting: figures, interleaved rounds, the table on the terminal, the JSON file.

A group is a function with a `Bench` as its argument; it adds figures to it. It creates its files
under `Bench.scratch`, which is removed when the run ends, even if it fails.
"""

from __future__ import annotations

import gc
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

__all__ = ["Bench", "Figure", "Target", "rates"]


class Target(NamedTuple):
    """The target of a figure's ratio: at least, or at most, a number."""

    number: float
    at_most: bool = False

    def is_met(self, ratio: float) -> bool:
        return ratio <= self.number if self.at_most else ratio >= self.number

    def __str__(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {self.number:g}"


class Figure(NamedTuple):
    """One result. `ratio` is ours over the peer's; over the limit when the peer is a limit."""

    name: str
    value: float
    unit: str
    against: str
    ratio: float
    target: Target | None = None


class Bench:
    """Collects the figures of a run and owns its scratch directory. Use it in a `with` block.

    A quick run tries the whole out with less work; its figures mean little.
    """

    def __init__(
        self,
        output: Path,
        *,
        rounds: int,
        is_quick: bool = False,
        console: Console | None = None,
    ) -> None:
        self.rounds = rounds
        self.is_quick = is_quick
        self.figures: list[Figure] = []
        self.console = console or Console(stderr=True)
        self._output = output
        self.scratch = output.parent

    def __enter__(self) -> Bench:
        self._output.parent.mkdir(parents=True, exist_ok=True)
        # Beside the result and not in the system's directory for temporary files: that one may be
        # memory, and a store in memory has other figures than a store on disk.
        self.scratch = Path(tempfile.mkdtemp(prefix="bench-", dir=self._output.parent))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)

    def say(self, text: str) -> None:
        """Prints to the terminal what is being measured."""
        self.console.print(text, style="dim")

    def compare(
        self, name: str, unit: str, ours: Sequence[float], peers: Mapping[str, Peer]
    ) -> None:
        """Adds one figure for each peer: the median, and the median ratio over the rounds."""
        for against, (theirs, target) in peers.items():
            ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
            self.figures.append(
                Figure(
                    name, statistics.median(ours), unit, against, statistics.median(ratios), target
                )
            )

    def limit(self, name: str, value: float, unit: str, most: float) -> None:
        """Adds a figure that must not go above a fixed number."""
        against = f"limit {most:g} {unit}"
        self.figures.append(Figure(name, value, unit, against, value / most, Target(1, True)))

    def goal(self, name: str, value: float, unit: str, least: float) -> None:
        """Adds a figure that must reach a fixed number."""
        against = f"goal {least:,.0f} {unit}"
        self.figures.append(Figure(name, value, unit, against, value / least, Target(1)))

    def short(self) -> list[Figure]:
        """Returns the figures that miss their targets."""
        return [each for each in self.figures if each.target and not each.target.is_met(each.ratio)]

    def write(self) -> None:
        """Writes the figures as JSON."""
        fields = ("name", "value", "unit", "against", "ratio")
        entries = [{field: getattr(each, field) for field in fields} for each in self.figures]
        self._output.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n")

    def table(self) -> Table:
        """Returns the figures as a table for the terminal."""
        table = Table(title="benchmarks", title_justify="left")
        for heading in ("figure", "value", "unit", "against", "ratio", "target", ""):
            table.add_column(
                heading, justify="right" if heading in ("value", "ratio", "target") else "left"
            )
        for each in self.figures:
            mark = ""
            if each.target:
                ok = each.target.is_met(each.ratio)
                mark = "[green]ok[/]" if ok else "[bold red]short[/]"
            value = f"{each.value:,.0f}" if each.value >= 100 else f"{each.value:.3g}"
            goal = "" if each.target is None else str(each.target)
            ratio = f"{each.ratio:.2f}"
            table.add_row(each.name, value, each.unit, each.against, ratio, goal, mark)
        return table


Peer = tuple[Sequence[float], Target | None]
"""A peer's measurements, one for each round, and the target ratio against it."""


def rates(
    work: Mapping[str, Sequence[Callable[[], int]]],
    *,
    turn: int = 0,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Runs the work of each contender and returns its rate: the sum of the results per second.

    The contenders alternate piece by piece, so that other work on the machine affects all of them.
    The order changes with `turn`, so that no contender always finds a warm machine. If all work is
    done in this process, `time.process_time` leaves out the work of other processes.
    """
    names = list(work)
    turn %= len(names)
    order = names[turn:] + names[:turn]
    done = dict.fromkeys(order, 0)
    seconds = dict.fromkeys(order, 0.0)
    for pieces in zip(*(work[name] for name in order), strict=True):
        for name, piece in zip(order, pieces, strict=True):
            gc.collect()
            started = clock()
            done[name] += piece()
            seconds[name] += clock() - started
    return {name: done[name] / seconds[name] for name in names}
