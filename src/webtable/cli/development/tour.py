"""`webtable tour`: a short walk through the store, in a table of its own that goes away again."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime

import click
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table as Grid
from rich.text import Text

import webtable
from webtable import CellType, CheckResult, Row, TableSchema
from webtable.cli.development.tour_steps import STEPS, TABLE, StepResult, create
from webtable.cli.output_formats import show_bytes
from webtable.cli.shared_options import complete_files
from webtable.errors import TableExists
from webtable.temporary_folders import scratch_folder

__all__ = ["tour"]

WIDTH = 100


@click.command(short_help="Show what the store can do, step by step.")
@click.option(
    "--store",
    "location",
    metavar="LOCATION",
    envvar="WEBTABLE_STORE",
    show_envvar=True,
    shell_complete=complete_files,
    help="A directory, hbase://HOST or hbase+masters://HOST.  [default: one that is removed again]",
)
def tour(location: str | None) -> None:
    """Show what the store can do, step by step, with the code of each step.

    It works in the table webtable_tour, which it makes and drops again.
    """
    is_plain = click.get_current_context().color is False or None
    console = Console(highlight=False, no_color=is_plain)
    console.width = min(console.width, WIDTH)
    with (
        # Stays empty when the tour goes to a store of the user's.
        scratch_folder("webtable-tour-") as directory,
        webtable.open(location or str(directory / "tour.db")) as store,
    ):
        if TABLE in store.tables():
            # It may be the user's: the tour must not drop it at the end.
            raise TableExists(TABLE)
        console.print(Text("A tour of the store", style="bold"))
        try:
            _show(console, "1. A table has families", create, create(store))
            for number, step in enumerate(STEPS, start=2):
                answer = step.run(store.table(TABLE))
                _show(console, f"{number}. {step.title}", step.run, answer)
        finally:
            if TABLE in store.tables():
                store.drop_table(TABLE)
    console.print("\nThat was the data model. docs/tutorial/first-steps.md goes on from here.")


def _show(console: Console, title: str, run: Callable[..., StepResult], answer: StepResult) -> None:
    console.print()
    console.print(Text(title, style="bold cyan"))
    console.print(Text(" ".join((run.__doc__ or "").split())))
    console.print()
    code = Syntax(_body(run), "python", theme="ansi_dark", background_color="default")
    console.print(Padding(code, (0, 0, 0, 4), expand=False))
    if answer is not None:
        console.print()
        console.print(Padding(_picture(answer), (0, 0, 0, 4), expand=False))


def _body(run: Callable[..., StepResult]) -> str:
    """Returns the code of a step as one would type it: without its head and its return."""
    _, _, rest = inspect.getsource(run).partition('"""')
    _, _, body = rest.partition('"""')
    return re.sub("^return ", "", textwrap.dedent(body.strip("\n")), flags=re.MULTILINE)


def _picture(answer: StepResult) -> RenderableType:
    if isinstance(answer, Row):
        return _grid([answer])
    if isinstance(answer, list):
        return _grid(answer)
    if isinstance(answer, TableSchema):
        return "\n".join(
            f"family {family.name}, {family.versions} version{'s' if family.versions > 1 else ''}"
            for family in answer.families
        )
    if isinstance(answer, CheckResult):
        return Text("made" if answer else "not made: the condition did not hold", style="bold")
    return Text(str(answer), style="bold")


def _grid(rows: list[Row]) -> Grid:
    markers = any(cell.type != CellType.PUT for row in rows for cell in row)
    grid = Grid(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
    for heading in ("row", "column", "timestamp", "value", *(["type"] if markers else [])):
        grid.add_column(heading, no_wrap=True)
    for row in rows:
        shown = show_bytes(row.key)
        for cell in row:
            kind = CellType(cell.type).name.lower().replace("_", " ")
            texts = [shown, show_bytes(cell.column), _date(cell.timestamp), show_bytes(cell.value)]
            grid.add_row(*map(Text, [*texts, kind] if markers else texts))
            shown = ""
    return grid


def _date(timestamp: int) -> str:
    moment = datetime.fromtimestamp(timestamp / 1000, tz=UTC)
    return f"{moment:%Y-%m-%d}"
