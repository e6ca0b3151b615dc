"""`webtable sample`: writes a small, made-up crawl to try things with."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from webtable.cli.output_formats import talk
from webtable.cli.shared_options import count_option, idle_store_option
from webtable.errors import InvalidRequest
from webtable.output_file import new_file
from webtable.pages.sample.generate_crawl import write_sample

__all__ = ["sample"]

_FIRST_YEAR = 1992


@click.command(short_help="Write a small, made-up crawl.")
@click.argument("out", type=click.Path(path_type=Path))
@count_option("--pages", "The number of pages.", default=500)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Another seed gives another crawl."
)
@click.option(
    "--until",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day after the newest of its three crawls.  [default: today]",
)
@click.option("--overwrite", is_flag=True, help="Replace a file of that name.")
@idle_store_option
def sample(out: Path, pages: int, seed: int, until: datetime | None, *, overwrite: bool) -> None:
    """Write a made-up crawl of N pages to the file OUT, a WARC file compressed with gzip.

    `webtable load OUT` loads it into a store.

    It has several domains, three crawls of each page, errors, redirects, the same page twice,
    many charsets. The same N, seed and day give the same bytes.
    """
    day = (until or datetime.now(UTC)).date()
    if day.year < _FIRST_YEAR:
        raise InvalidRequest(
            f"--until {day} is before the first web page", hint="give a day such as 2026-09-01"
        )
    remedy = "add --overwrite to replace it"
    with new_file(str(out), overwrite=overwrite, remedy=remedy) as file:
        count = write_sample(file, pages, seed, day)
    talk(f"{out}: {count:,} captures of {pages:,} pages")
