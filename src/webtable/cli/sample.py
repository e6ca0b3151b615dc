"""`webtable sample`: writes a small, made-up crawl to try things with."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from webtable.cli.options import idle_store_option
from webtable.errors import AlreadyExists, InvalidRequest
from webtable.pages.sample import write_sample

__all__ = ["sample"]


@click.command(short_help="Write a small, made-up crawl to try things with.")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--pages", type=click.IntRange(1), default=500, show_default=True, metavar="N")
@click.option("--seed", type=int, default=0, show_default=True, help="Another one, another crawl.")
@click.option(
    "--until",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day after the newest of its three crawls.  [default: today]",
)
@click.option("--overwrite", is_flag=True, help="Write over a file that is there.")
@idle_store_option
def sample(out: Path, pages: int, seed: int, until: datetime | None, *, overwrite: bool) -> None:
    """Write a made-up crawl of N pages to the file OUT, as WARC packed by gzip.

    No store is touched; `webtable load` puts it into one.

    It has several domains, three crawls of each page, errors, redirects, the same page twice,
    many charsets. The same N, seed and day give the same bytes.
    """
    if out.exists() and not overwrite:
        raise AlreadyExists("file", str(out), hint="add --overwrite to write over it")
    day = (until or datetime.now(UTC)).date()
    try:
        with out.open("wb") as file:
            count = write_sample(file, pages, seed, day)
    except OSError as exc:
        why = exc.strerror or str(exc)
        raise InvalidRequest(f"'{out}' cannot be written: {why}", hint="check the path") from exc
    click.echo(f"{out}: {count:,} captures of {pages:,} pages", err=True)
