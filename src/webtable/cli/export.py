"""`webtable export`: pages out of a store."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import click

from webtable.cli.options import open_for_reading, store_option
from webtable.cli.output import talk
from webtable.errors import InvalidRequest
from webtable.pages.export import (
    FORMS,
    ExportReport,
    Form,
    all_urls,
    export_cdxj,
    export_jsonl,
    export_warc,
)
from webtable.pages.parsing import parse_stored
from webtable.pages.queries import Questions
from webtable.pages.table import PageTable
from webtable.pages.urls import typed_url

__all__ = ["export"]

_AT_A_TIME = 500


@click.command(short_help="Write pages to a file: WARC, JSON lines, CDXJ.")
@click.argument("out", metavar="OUT", type=click.Path(dir_okay=False))
@store_option
@click.option(
    "--as",
    "form",
    type=click.Choice(FORMS),
    default="warc",
    show_default=True,
    help="What to write.",
)
@click.option("--domain", metavar="DOMAIN", help="Only the pages under it.")
@click.option(
    "--urls",
    metavar="FILE",
    help="Only these: a URL a line, or JSON lines as questions print them; - reads stdin.",
)
def export(out: str, location: str, form: Form, *, domain: str | None, urls: str | None) -> None:
    """Write pages to the file OUT, or to standard output as -.

    A WARC file has every capture, and loads back to the same pages. JSON lines have the newest
    capture with its HTML, CDXJ a line a capture; sort it by `LC_ALL=C sort`.
    """
    if domain and urls:
        raise InvalidRequest("both a domain and a list of URLs", hint="name one of them")
    with open_for_reading(location) as store, _opened(out) as file:
        pages = PageTable.open(store, parse_stored)
        if urls is not None:
            chosen = _listed(urls)
        else:
            chosen = _under(pages, domain) if domain else all_urls(pages)
        report = _write(pages, chosen, form, file)
    where = "standard output" if out == "-" else f"'{out}'"
    talk(f"{report.captures:,} captures of {report.pages:,} pages to {where}")
    if report.bodiless:
        talk(f"{report.bodiless:,} captures have no body in the store")
    if report.unknown:
        talk(f"{report.unknown:,} of the URLs are no pages of the store")


def _write(pages: PageTable, urls: Iterator[str], form: Form, file: BinaryIO) -> ExportReport:
    if form == "warc":
        return export_warc(pages, urls, file)
    text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
    write = export_jsonl if form == "jsonl" else export_cdxj
    try:
        return write(pages, urls, text)
    finally:
        text.flush()
        text.detach()


@contextlib.contextmanager
def _opened(out: str) -> Iterator[BinaryIO]:
    if out == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        file = Path(out).open("xb")  # noqa: SIM115 - closed below
    except FileExistsError as exc:
        raise InvalidRequest(f"'{out}' exists already", hint="name a new file") from exc
    except OSError as exc:
        why = exc.strerror or str(exc)
        raise InvalidRequest(f"'{out}' cannot be written: {why}", hint="check the path") from exc
    with file:
        yield file


def _under(pages: PageTable, domain: str) -> Iterator[str]:
    questions, after = Questions(pages), None
    while True:
        answer = questions.under(domain, limit=_AT_A_TIME, after=after)
        for page in answer.items:
            yield page.url
        after = answer.next
        if after is None:
            return


def _listed(source: str) -> Iterator[str]:
    with click.open_file(source, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if text.startswith("{"):
                try:
                    text = json.loads(text)["url"]
                except (ValueError, KeyError) as exc:
                    raise InvalidRequest(
                        f"line {number} of '{source}' has no url",
                        hint="a URL a line, or JSON lines",
                    ) from exc
            if text:
                yield typed_url(text)
