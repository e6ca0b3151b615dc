"""The link index: which page links where, with which anchor, kept up to date page by page.

`webtable.WebTable.links` is the way in; here are the types of what it takes and returns.
"""

from typing import TYPE_CHECKING

from webtable.lazy_names import lazy_names

if TYPE_CHECKING:
    from webtable.links.asking.dump import DumpCell
    from webtable.links.asking.link_feed import LinkChange
    from webtable.links.asking.link_history import Change
    from webtable.links.asking.link_problems import BrokenLink
    from webtable.links.asking.link_queries import Anchor, DomainPages, LinkFrom, LinkTo, Ranked
    from webtable.links.asking.link_reader import Kind
    from webtable.links.asking.links_api import Links
    from webtable.links.asking.redirects import Redirect, Resolved, ThroughLink
    from webtable.links.checking.rebuild import RebuildReport
    from webtable.links.updating.cluster_counts import Drained
    from webtable.links.whole_store_verification import StoreReport

__all__ = [
    "Anchor",
    "BrokenLink",
    "Change",
    "DomainPages",
    "Drained",
    "DumpCell",
    "Kind",
    "LinkChange",
    "LinkFrom",
    "LinkTo",
    "Links",
    "Ranked",
    "RebuildReport",
    "Redirect",
    "Resolved",
    "StoreReport",
    "ThroughLink",
]

# The module of each public name. The imports above say the same to type checkers.
_MODULES = {
    "Anchor": "webtable.links.asking.link_queries",
    "BrokenLink": "webtable.links.asking.link_problems",
    "Change": "webtable.links.asking.link_history",
    "DomainPages": "webtable.links.asking.link_queries",
    "Drained": "webtable.links.updating.cluster_counts",
    "DumpCell": "webtable.links.asking.dump",
    "Kind": "webtable.links.asking.link_reader",
    "LinkChange": "webtable.links.asking.link_feed",
    "LinkFrom": "webtable.links.asking.link_queries",
    "LinkTo": "webtable.links.asking.link_queries",
    "Links": "webtable.links.asking.links_api",
    "Ranked": "webtable.links.asking.link_queries",
    "RebuildReport": "webtable.links.checking.rebuild",
    "Redirect": "webtable.links.asking.redirects",
    "Resolved": "webtable.links.asking.redirects",
    "StoreReport": "webtable.links.whole_store_verification",
    "ThroughLink": "webtable.links.asking.redirects",
}

# Hidden from type checkers: they would accept any name, also a misspelt one.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
