"""`webtable load`: crawls into a store of pages."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec

from webtable.cli.options import Format, format_option, go_on_with, open_for_writing, store_option
from webtable.cli.output import print_item, talk
from webtable.cli.pages.skipped_file import SkippedFile
from webtable.errors import IncompleteLoad, NotFound
from webtable.links.index import LinkIndex
from webtable.links.updating.hook import LinkHook
from webtable.pages.captures import EXPECTED_REASONS, REASONS, Position
from webtable.pages.formats.crawl_files import STANDARD_INPUT
from webtable.pages.loading.loader import Loader, LoadReport
from webtable.pages.schema import TABLE
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.table import PageTable

__all__ = ["load"]

HIDDEN = 6
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
    help="Processes that read and parse; at least one is started.",
)
@click.option(
    "--skipped-to",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True),
    help="Write a line of JSON for each record that is not stored, or not in full, and why.",
)
def load(
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

    Ends with exit code 1 when a part of a file was not read: it is missing, damaged or cut off,
    or reading it failed. Everything else is stored nevertheless.
    """
    go_on_with("what was read is stored; repeat the same command to load the rest")
    with open_for_writing(location) as store, contextlib.ExitStack() as stack:
        pages = PageTable.open(store, parse_stored)
        _follow_links(pages)
        skipped = stack.enter_context(SkippedFile(skipped_to, files))
        show = stack.enter_context(_progress(files))
        loader = Loader(pages, workers=workers, on_skipped=skipped.write, on_progress=show)
        show.watch(loader.report)
        report = loader.load(files)
    _warn(report, skipped_to)
    _print(report, form)
    _check(report, len(files))
    skipped.check()
    if report.hidden:
        sys.exit(HIDDEN)


def _follow_links(pages: PageTable) -> None:
    """Lets the link index follow what is loaded."""
    try:
        index = LinkIndex.open(pages)
    except NotFound:
        # An `init` that was interrupted, or a store from before there were link indexes.
        index = LinkIndex.create(pages)
    if not index.is_ready:
        talk("the link index lacks pages; `webtable links rebuild` takes them in")
    pages.hook = LinkHook(index)


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


def _check(report: LoadReport, files: int) -> None:
    """Raises an error where something was not read."""
    incomplete = len(report.failed.keys() | report.unread.keys())
    if incomplete:
        raise IncompleteLoad(
            f"{incomplete:,} of {files:,} files were not read completely",
            hint="what was read is stored; mend or fetch these files again, and load them again",
        )
    if refused := report.skipped["refused"]:
        raise IncompleteLoad(
            f"the store refused {refused:,} pages",
            hint="the others are stored; see --skipped-to for the reason of each",
        )
    if not report.captures and set(report.skipped) - EXPECTED_REASONS:
        raise IncompleteLoad(
            "no record could be stored", hint="see --skipped-to for the reason of each"
        )


def _warn(report: LoadReport, skipped_to: str | None) -> None:
    for path, why in report.failed.items():
        talk(f"webtable: '{path}' was not read to its end: {why}")
    for path, reasons in report.unread.items():
        counts = ", ".join(f"{reason} {count:,}" for reason, count in sorted(reasons.items()))
        talk(f"webtable: '{path}' has parts that could not be read: {counts}")
    for reason, count in sorted(report.skipped.items()):
        if reason not in EXPECTED_REASONS:
            talk(f"{count:,} not stored ({reason}): {REASONS.get(reason, reason)}")
    if report.links_cut:
        talk(f"{report.links_cut:,} stored without all links (links-cut): {REASONS['links-cut']}")
    if (set(report.skipped) - EXPECTED_REASONS or report.links_cut) and skipped_to is None:
        talk("see --skipped-to for each of them")
    if report.wrong_digests:
        talk(
            f"{report.wrong_digests:,} captures name a wrong payload digest: they are stored under"
            " the digest of what they hold, and revisits that name the wrong one have no body"
        )
    if report.hidden:
        talk(
            f"webtable: {report.hidden:,} captures are stored and stay hidden, because the rows of"
            f" their pages were deleted by hand: run `webtable compact {TABLE}`, then load again"
        )
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
