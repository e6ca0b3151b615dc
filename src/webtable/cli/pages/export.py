"""`webtable export`: pages out of a store."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import click

from webtable.cli.list_options import domain_option
from webtable.cli.output_formats import talk
from webtable.cli.shared_options import SuggestingChoice, complete_files, store_option
from webtable.errors import InvalidRequest, InvalidUrl
from webtable.pages.asking.export import FORMS, Form
from webtable.pages.urls import typed_url
from webtable.webtable import WebTable

__all__ = ["export"]


@click.command(short_help="Write pages to a file: WARC, JSON lines, CDXJ.")
@click.argument("out", metavar="OUT", type=click.Path(dir_okay=False))
@store_option
@click.option(
    "--as",
    "form",
    type=SuggestingChoice(FORMS),
    default="warc",
    show_default=True,
    help="The format of the file.",
)
@domain_option("Only pages of this domain.")
@click.option(
    "--urls",
    metavar="FILE",
    shell_complete=complete_files,
    help="Only pages of this list: a URL on each line, or the JSON lines of a query; - is stdin.",
)
def export(out: str, location: str, form: Form, *, domain: str, urls: str | None) -> None:
    """Write pages to the file OUT; - is the standard output.

    OUT must not exist yet. It appears when it is complete.

    warc has every capture; loading the file gives the same pages again. jsonl has the newest
    capture of each page with its HTML. cdxj has one line for each capture, not sorted: use
    `LC_ALL=C sort`.
    """
    with WebTable.open(location, read_only=True) as web:
        chosen = None if urls is None else _listed(urls)
        target = sys.stdout.buffer if out == "-" else out
        report = web.export(target, form=form, domain=domain, urls=chosen)
    sys.stdout.buffer.flush()
    where = "standard output" if out == "-" else f"'{out}'"
    talk(f"wrote {report.captures:,} captures of {report.pages:,} pages to {where}")
    if report.bodiless:
        talk(f"{report.bodiless:,} captures were written without a body: it is not stored")
    if report.unknown:
        talk(f"{report.unknown:,} of the listed URLs are not stored, and were left out")


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
