"""`webtable verify`: whether a store of pages is right."""

from __future__ import annotations

import click
import msgspec

from webtable.cli.output_formats import print_item, show_bytes, talk
from webtable.cli.shared_options import (
    Format,
    count_option,
    format_option,
    store_option,
)
from webtable.links.checking.verify import LinkReport
from webtable.links.whole_store_verification import StoreReport
from webtable.pages.checking.verify import Difference, PageReport
from webtable.webtable import WebTable

__all__ = ["verify"]

DIFFERENT = 6
_SHOWN = 20


@click.command(short_help="Verify everything stored, and repair it.")
@store_option
@format_option
@click.option("--repair", is_flag=True, help="Repair what can be repaired, and remove leftovers.")
@click.option(
    "--quick", is_flag=True, help="Verify rows and indexes only; read no bodies and no whole files."
)
@count_option("--sample", "Verify N random pages and their links only.")
@click.pass_context
def verify(
    ctx: click.Context,
    location: str,
    form: Format,
    *,
    repair: bool,
    quick: bool,
    sample: int | None,
) -> None:
    """Read everything and verify it: files, bodies, pages, indexes, links.

    Compares every block of every file with its checksum (in an embedded store), every body with its
    digest, pages with their captures, indexes with pages, and the link index with both. Entries
    that killed writers left behind are counted as leftovers, not as differences. Link updates that
    loads have not finished are counted as link_work. What --repair changed is verified again. The
    exit code is 6 if something is wrong and was not repaired.
    """
    with WebTable.open(location, read_only=not repair, create=False) as web:
        report = web.verify(repair=repair, quick=quick, sample=sample)
    _print(report, form)
    if not report.is_clean:
        ctx.exit(DIFFERENT)


def _print(report: StoreReport, form: Format) -> None:
    item, pages, links = report.to_dict(), report.pages, report.links
    examples = [
        {
            "row_key": show_bytes(each.row),
            "url": each.url,
            "what": each.what,
            "repaired": each.is_repaired,
        }
        for each in pages.examples
    ]
    more = {"examples": examples, "link_examples": msgspec.to_builtins(links.examples)}
    print_item({**item, **more}, form, shown=item)
    if form != "json":
        _talk(pages, links)


def _talk(report: PageReport, links: LinkReport) -> None:
    for each in _remaining(report):
        name = show_bytes(each.row) or "store"
        talk(f"{'repaired: ' if each.is_repaired else ''}{name}: {each.what}")
    for found in links.examples:
        talk(f"{'repaired: ' if found.is_repaired else ''}links, {found.name}: {found.what}")
    for found in [] if links.left is None else links.left.examples:
        talk(
            f"not repaired: links, {found.name}: {found.what}; `webtable links rebuild` writes the"
            " whole link index again"
        )
    if links.work:
        talk("link updates are not finished: run `webtable links drain`, then verify again")
    missing = [*(report.left or report).indexes.missing]
    if links.ranks is not None:
        missing += (links.left or links).ranks_missing
    for entry in missing[:_SHOWN]:
        talk(f"missing in {entry.name}: {show_bytes(entry.key)}")


def _remaining(report: PageReport) -> list[Difference]:
    """Returns the differences; repaired ones only if verifying again did not find them."""
    if report.left is None:
        return report.examples
    still = {each.row for each in report.left.examples}
    return [
        *(each for each in report.examples if each.is_repaired and each.row not in still),
        *report.left.examples,
    ]
