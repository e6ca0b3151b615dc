"""`webtable links …`: the group of commands about links."""

from __future__ import annotations

import click

from webtable.cli.lazy_group import Entry, LazyGroup
from webtable.cli.shared_options import group_store_option

__all__ = ["links"]

_QUERIES = "Links of a page or a domain"
_REPORTS = "Reports on all links"
_MAINTENANCE = "Maintenance of the link index"

ENTRIES = {
    "in": Entry("links.queries", "in_", "List the links to a page.", _QUERIES),
    "out": Entry("links.queries", "out", "List the links on a page.", _QUERIES),
    "anchors": Entry(
        "links.queries", "anchors", "List the anchor texts of the links to a page.", _QUERIES
    ),
    "changes": Entry(
        "links.queries", "changes", "List gained and lost links to a page or a domain.", _QUERIES
    ),
    "top": Entry("links.queries", "top", "List the pages with the most inlinks.", _REPORTS),
    "domains": Entry(
        "links.queries", "domains", "List the domains and their numbers of pages.", _REPORTS
    ),
    "broken": Entry(
        "links.link_problems", "broken", "List the links to pages with an error status.", _REPORTS
    ),
    "orphans": Entry("links.link_problems", "orphans", "List the pages without inlinks.", _REPORTS),
    "dead-ends": Entry(
        "links.link_problems", "dead_ends", "List the pages without links.", _REPORTS
    ),
    "redirects": Entry(
        "links.link_problems", "redirects", "List redirects, and the links to them.", _REPORTS
    ),
    "dump": Entry("links.queries", "dump_", "Print the whole link index as one table.", _REPORTS),
    "rebuild": Entry(
        "links.rebuild_and_drain", "rebuild", "Rebuild the link index from the pages.", _MAINTENANCE
    ),
    "drain": Entry(
        "links.rebuild_and_drain",
        "drain",
        "Finish the link updates of stopped loads.",
        _MAINTENANCE,
    ),
}


@click.group(
    cls=LazyGroup, entries=ENTRIES, short_help="Show links: top, in, out, changes, broken …"
)
@group_store_option
def links() -> None:
    """Show which pages link where, with which anchor texts; read from the link index.

    Lists are limited (--limit, --all); --after continues a list.
    """
