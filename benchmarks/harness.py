"""Measuring and reporting: figures, interleaved rounds, the table on the terminal, the JSON file.

A group is a function that takes a `Bench` and adds figures to it. It makes its files under
`Bench.scratch`, which is gone when the run ends, also when it fails.
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
    """What a figure's ratio should be: at least, or at most, a number."""

    number: float
    at_most: bool = False

    def holds(self, ratio: float) -> bool:
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
        # memory, and a store in memory says nothing about a store on disk.
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
        """Tells the person at the terminal what is being measured."""
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
        return [each for each in self.figures if each.target and not each.target.holds(each.ratio)]

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
                ok = each.target.holds(each.ratio)
                mark = "[green]ok[/]" if ok else "[bold red]short[/]"
            value = f"{each.value:,.0f}" if each.value >= 100 else f"{each.value:.3g}"
            goal = "" if each.target is None else str(each.target)
            ratio = f"{each.ratio:.2f}"
            table.add_row(each.name, value, each.unit, each.against, ratio, goal, mark)
        return table


Peer = tuple[Sequence[float], Target | None]
"""A peer's measurements, one a round, and the ratio that we should reach against it."""


def rates(
    work: Mapping[str, Sequence[Callable[[], int]]],
    *,
    turn: int = 0,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Runs each contender's pieces of work and returns its rate: what they return, a second.

    The contenders take turns piece by piece, so that what else the machine does meets all of them;
    the order moves with `turn`, so that none is always the one that finds a warm machine. Where all
    of the work is done in this process, `time.process_time` leaves out what others do.
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
