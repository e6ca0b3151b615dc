"""`webtable load`: crawls into a store of pages."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import click
import msgspec

from webtable.cli.options import Format, format_option, open_for_writing, store_option
from webtable.cli.output import print_item, talk
from webtable.errors import NotFound
from webtable.links.graph import LinkIndex
from webtable.links.keeper import LinkKeeper
from webtable.pages.captures import EXPECTED_REASONS, REASONS, Position, Skipped
from webtable.pages.ingest import Loader, LoadReport
from webtable.pages.parsing import parse_stored
from webtable.pages.sources import STANDARD_INPUT
from webtable.pages.table import PageTable

__all__ = ["load"]

NOTHING_READ = 1
_KEYS = (
    "records",
    "captures",
    "new",
    "changed",
    "unchanged",
    "older",
    "pages",
    "skipped",
    "expired",
    "links",
    "seconds",
    "pages_per_second",
)


@click.command(short_help="Load crawls: WARC, ARC, WAT or JSON lines.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@store_option
@format_option
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(min=0),
    default=os.cpu_count() or 1,
    show_default="the number of cores",
    help="Processes that read and parse; 0: none but this one.",
)
@click.option(
    "--skipped-to",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True),
    help="Write a line of JSON for each record that is not stored, with the reason.",
)
@click.pass_context
def load(
    ctx: click.Context,
    files: tuple[str, ...],
    location: str,
    form: Format,
    *,
    workers: int,
    skipped_to: str | None,
) -> None:
    """Load FILEs into a store that `webtable init` made; - is the standard input.

    Files may be compressed, by gzip or zstd. What is there already stays as it is, so that a file
    can be loaded again; a load that was stopped goes on where it was.
    """
    with open_for_writing(location) as store, contextlib.ExitStack() as stack:
        pages = PageTable.open(store, parse_stored)
        _follow_links(pages)
        tell: Callable[[Skipped], None] = _nothing
        if skipped_to is not None:
            out = stack.enter_context(Path(skipped_to).open("w", encoding="utf-8"))
            tell = _writer(out)
        show = stack.enter_context(_progress(files))
        loader = Loader(pages, workers=workers, on_skipped=tell, on_progress=show)
        show.watch(loader.report)
        report = loader.load(files)
    _warn(report, skipped_to)
    _print(report, form)
    if not report.captures and (report.failed or set(report.skipped) - EXPECTED_REASONS):
        ctx.exit(NOTHING_READ)


def _follow_links(pages: PageTable) -> None:
    """Lets the link index follow what is loaded."""
    try:
        index = LinkIndex.open(pages)
    except NotFound:
        talk("this store has no link index; `webtable links rebuild` makes one")
        return
    if not index.is_ready:
        talk("the link index lacks pages; `webtable links rebuild` takes them in")
    pages.hook = LinkKeeper(index)


def _nothing(_: Skipped) -> None:
    pass


def _writer(out: TextIO) -> Callable[[Skipped], None]:
    def write(skipped: Skipped) -> None:
        item = {
            "source": skipped.source,
            "position": str(skipped.position),
            "reason": skipped.reason,
            "why": skipped.why,
            "url": skipped.url,
            "record_id": skipped.record_id,
        }
        out.write(json.dumps(item, ensure_ascii=False) + "\n")

    return write


class _Shown:
    """Shows how far a load is, where somebody watches."""

    def __init__(self, update: Callable[[int, str], None] | None) -> None:
        self._update = update
        self._done: dict[str, int] = {}
        self._report: LoadReport | None = None

    def watch(self, report: LoadReport) -> None:
        """Takes the figures from a report."""
        self._report = report

    def __call__(self, path: str, position: Position) -> None:
        """Is told how far a file is."""
        if self._update is None or self._report is None:
            return
        self._done[path] = position.offset
        report = self._report
        skipped = sum(n for reason, n in report.skipped.items() if reason not in EXPECTED_REASONS)
        text = f"{report.captures:,} pages  {skipped:,} skipped  {report.pages_per_second:,.0f}/s"
        self._update(sum(self._done.values()), text)


@contextlib.contextmanager
def _progress(files: tuple[str, ...]) -> Iterator[_Shown]:
    if not sys.stderr.isatty():
        yield _Shown(None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    total = sum(Path(path).stat().st_size for path in files if Path(path).is_file())
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("reading", total=total if STANDARD_INPUT not in files else None)
        yield _Shown(lambda done, text: bar.update(task, completed=done, description=text))


def _warn(report: LoadReport, skipped_to: str | None) -> None:
    for path, why in report.failed.items():
        talk(f"webtable: '{path}' was not read to its end: {why}")
    for reason, count in sorted(report.skipped.items()):
        if reason not in EXPECTED_REASONS:
            talk(f"{count:,} not stored ({reason}): {REASONS.get(reason, reason)}")
    if set(report.skipped) - EXPECTED_REASONS and skipped_to is None:
        talk("see --skipped-to for each of them")
    if report.expired:
        talk(
            f"{report.expired:,} bodies are older than this store keeps them, and are gone already:"
            " load them into a store made with `webtable init --profile archive`"
        )


def _print(report: LoadReport, form: Format) -> None:
    item = msgspec.to_builtins(report)
    item["seconds"] = round(report.seconds, 3)
    item["pages_per_second"] = round(report.pages_per_second, 1)
    shown = {key: item[key] for key in _KEYS}
    shown["skipped"] = sum(report.skipped.values())
    print_item(item, form, shown=shown)
