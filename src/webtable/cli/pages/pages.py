"""`webtable pages`: the pages of a domain or a directory."""

from __future__ import annotations

from typing import Unpack

import click

from webtable.cli.list_options import Listing, list_options, options_of
from webtable.cli.list_printing import print_pages, suggest_domain
from webtable.cli.output_formats import talk
from webtable.cli.shared_options import Format, format_option, store_option
from webtable.webtable import WebTable

__all__ = ["pages"]


@click.command(short_help="List the pages of a domain or a directory.")
@click.argument("domain")
@store_option
@format_option
@list_options
@click.option(
    "--subdomains/--no-subdomains",
    default=True,
    show_default=True,
    help="List pages of subdomains, too.",
)
def pages(
    domain: str, location: str, form: Format, *, subdomains: bool, **listing: Unpack[Listing]
) -> None:
    """List the pages of DOMAIN, or those whose URLs begin with DOMAIN/DIRECTORY/.

    DOMAIN may have a port, as 127.0.0.1:8766: then only pages of that port are listed.
    """
    with WebTable.open(location, read_only=True) as web:
        found = web.pages(domain, with_subdomains=subdomains, **options_of(listing))
        if print_pages(found, form, listing) or listing["after"] is not None:
            return
        if not suggest_domain(web, domain.partition("/")[0]):
            talk(f"no page of '{domain}' is stored; `webtable links domains` lists the domains")
