"""`webtable export`: pages out of a store."""

from __future__ import annotations

import codecs
import contextlib
import json
import sys
from collections.abc import Iterator
from typing import BinaryIO, TextIO, cast

import click

from webtable.cli.options import open_for_reading, store_option
from webtable.cli.output import talk
from webtable.cli.output_file import new_file
from webtable.errors import InvalidRequest, InvalidUrl
from webtable.pages.asking.export import (
    FORMS,
    ExportReport,
    Form,
    all_urls,
    export_cdxj,
    export_jsonl,
    export_warc,
)
from webtable.pages.asking.queries import PageQueries
from webtable.pages.storing.capture_parser import parse_stored
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

    OUT must not exist yet, and appears when all of it is written.

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
    # Not a TextIOWrapper: after a write that failed, that would fail and close the file once more.
    text = cast("TextIO", codecs.getwriter("utf-8")(file))
    return (export_jsonl if form == "jsonl" else export_cdxj)(pages, urls, text)


@contextlib.contextmanager
def _opened(out: str) -> Iterator[BinaryIO]:
    if out != "-":
        with new_file(out) as file:
            yield file
        return
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def _under(pages: PageTable, domain: str) -> Iterator[str]:
    questions, after = PageQueries(pages), None
    while True:
        answer = questions.under(domain, limit=_AT_A_TIME, after=after)
        for page in answer.items:
            yield page.url
        after = answer.next
        if after is None:
            return


def _listed(source: str) -> Iterator[str]:
    try:
        file = click.open_file(source, encoding="utf-8", errors="surrogateescape")
        with file:
            for number, line in enumerate(file, 1):
                if url := _listed_url(line.strip(), f"line {number} of '{source}'"):
                    yield url
    except (OSError, ValueError) as exc:
        why = getattr(exc, "strerror", None) or str(exc)
        raise InvalidRequest(
            f"the list of URLs '{source}' cannot be read: {why}",
            hint="give --urls a file with a URL a line, or - for standard input",
        ) from exc


def _listed_url(text: str, where: str) -> str:
    """Returns the URL that a line of a list names; nothing where it is empty."""
    if text.startswith("{"):
        try:
            text = json.loads(text)["url"]
        except (ValueError, KeyError) as exc:
            raise InvalidRequest(f"{where} has no url", hint="a URL a line, or JSON lines") from exc
        if not isinstance(text, str):
            raise InvalidRequest(f"the url of {where} is not a text", hint="write it in quotes")
    if not text:
        return ""
    try:
        return typed_url(text)
    except InvalidUrl as exc:
        raise InvalidUrl(f"{where}: {exc.message}", hint=exc.hint) from exc
