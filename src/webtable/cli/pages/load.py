"""`webtable load`: crawls into a store of pages."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec

from webtable.cli.output_formats import print_item, talk
from webtable.cli.pages.skipped_file import SkippedFile
from webtable.cli.shared_options import (
    Format,
    complete_files,
    count_option,
    format_option,
    go_on_with,
    store_option,
)
from webtable.errors import NotFound, StoreNotFound
from webtable.pages.captures import EXPECTED_REASONS, REASONS, Position
from webtable.pages.formats.crawl_files import STANDARD_INPUT
from webtable.pages.loading.loader import LoadReport
from webtable.webtable import WebTable

__all__ = ["load"]

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
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_files)
@store_option
@format_option
@count_option(
    "--workers",
    "The number of processes that read and parse; at least one is started.",
    least=0,
    default=os.cpu_count() or 1,
    show_default="the number of cores",
)
@click.option(
    "--skipped-to",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True),
    help="Write a line of JSON for each record that is not stored completely, and why.",
)
def load(
    files: tuple[str, ...],
    location: str,
    form: Format,
    *,
    workers: int,
    skipped_to: str | None,
) -> None:
    """Load each FILE into the store; - is the standard input. Creates the store if necessary.

    Files may be compressed with gzip or zstd. A file that is loaded again changes nothing. A load
    that was stopped continues where it stopped.

    The exit code is 1 if a part of a file was not read, because it is missing, damaged or cut off.
    Everything else is stored.
    """
    go_on_with("what was read is stored; repeat the same command to load the rest")
    with contextlib.ExitStack() as stack:
        web = stack.enter_context(_opened(location, files))
        if not web.links.is_ready:
            talk("the link index does not have all pages; `webtable links rebuild` adds them")
        skipped = stack.enter_context(SkippedFile(skipped_to, files))
        show = stack.enter_context(_progress(files))
        report = web.load(
            *files, workers=workers, on_skipped=skipped.write, on_progress=show, check=False
        )
    _warn(report, skipped_to)
    _print(report, form)
    report.check()
    skipped.check()


def _opened(location: str, files: tuple[str, ...]) -> WebTable:
    """Opens the store; creates it only where there is a file to load.

    Raises:
        NotFound: there is neither a store nor a file: the command is probably misspelt.
    """
    is_any_there = STANDARD_INPUT in files or any(Path(path).exists() for path in files)
    try:
        return WebTable.open(location, create=is_any_there)
    except StoreNotFound as exc:
        raise NotFound(
            "file", files[0], hint=f"check its path; no store was created at '{location}'"
        ) from exc


class _Progress:
    """Shows the progress of a load, if standard error is a terminal."""

    def __init__(self, update: Callable[[int, str], None] | None) -> None:
        self._update = update
        self._done: dict[str, int] = {}

    def __call__(self, path: str, position: Position, report: LoadReport) -> None:
        """Shows how far a file is."""
        if self._update is None:
            return
        self._done[path] = position.offset
        skipped = sum(n for reason, n in report.skipped.items() if reason not in EXPECTED_REASONS)
        text = f"{report.captures:,} pages  {skipped:,} skipped  {report.pages_per_second:,.0f}/s"
        self._update(sum(self._done.values()), text)


@contextlib.contextmanager
def _progress(files: tuple[str, ...]) -> Iterator[_Progress]:
    if not sys.stderr.isatty():
        yield _Progress(None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    # rich follows NO_COLOR by itself, but does not know --no-color.
    is_plain = click.get_current_context().color is False or None
    total = sum(Path(path).stat().st_size for path in files if Path(path).is_file())
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, no_color=is_plain),
        transient=True,
    ) as bar:
        task = bar.add_task("reading", total=total if STANDARD_INPUT not in files else None)
        yield _Progress(lambda done, text: bar.update(task, completed=done, description=text))


def _warn(report: LoadReport, skipped_to: str | None) -> None:
    for problem in report.problems():
        talk(f"webtable: {problem}")
    for reason, count in sorted(report.skipped.items()):
        if reason not in EXPECTED_REASONS or reason == "blocked":
            talk(f"{count:,} not stored ({reason}): {REASONS.get(reason, reason)}")
    if report.links_cut:
        talk(f"{report.links_cut:,} stored without all links (links-cut): {REASONS['links-cut']}")
    if (set(report.skipped) - EXPECTED_REASONS or report.links_cut) and skipped_to is None:
        talk("--skipped-to FILE lists each of them")
    if report.wrong_digests:
        talk(
            f"{report.wrong_digests:,} captures have a wrong payload digest: they are stored with"
            " the digest of their real payload; revisits with the wrong digest have no body"
        )
    if report.expired:
        talk(
            f"{report.expired:,} bodies are older than the store keeps bodies, and cannot be read:"
            " load them into a store created with `webtable init --profile archive`"
        )


def _print(report: LoadReport, form: Format) -> None:
    item = msgspec.to_builtins(report)
    item["seconds"] = round(report.seconds, 3)
    item["pages_per_second"] = round(report.pages_per_second, 1)
    shown = {key: item[key] for key in _KEYS}
    shown["skipped"] = sum(report.skipped.values())
    print_item(item, form, shown=shown)
