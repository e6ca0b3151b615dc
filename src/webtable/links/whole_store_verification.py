"""Verifying a whole store of pages: its files, its pages with their indexes, and its links."""

from __future__ import annotations

import msgspec

from webtable.errors import NotFound
from webtable.links.checking.verify import LinkReport, missing_index, verify_links
from webtable.links.link_index import LinkIndex
from webtable.pages.checking.verify import PageReport, Sample, verify_pages
from webtable.pages.page_table import PageTable
from webtable.result_base import Value

__all__ = ["StoreReport", "verify_store"]


class StoreReport(Value, msgspec.Struct):
    """What verifying a store found.

    Attributes:
        pages: about pages, their bodies and their indexes; `examples` has the first differences.
        links: about the link index; `examples` has the first differences.
    """

    pages: PageReport
    links: LinkReport

    @property
    def is_clean(self) -> bool:
        """Whether everything is right, or was repaired."""
        return self.pages.is_clean and self.links.is_clean

    def to_dict(self) -> dict[str, object]:
        """Returns the counts by name."""
        first, now = self.pages.indexes, (self.pages.left or self.pages).indexes
        links = self.links.left or self.links
        return {
            "pages": self.pages.pages,
            "bodies": self.pages.bodies,
            "bodies_unproven": self.pages.unproven,
            "differences": (self.pages.left or self.pages).differences,
            "repaired": self.pages.repaired + first.lacking - now.lacking,
            "missing": now.lacking,
            "pending": first.pending,
            "leftovers": first.leftovers,
            "young": first.young,
            "leftovers_removed": first.leftovers if first.is_repaired else 0,
            "links": self.links.links,
            "uris": self.links.uris,
            "link_differences": links.differences,
            "link_ranks_missing": links.ranks_lacking,
            "links_repaired": self.links.repaired,
            "link_work": self.links.work,
            "links_under_way": self.links.under_way,
        }

    def to_json(self) -> str:
        """Returns the counts as one line of JSON."""
        return msgspec.json.encode(self.to_dict()).decode()


def verify_store(
    pages: PageTable, *, repair: bool = False, quick: bool = False, sample: Sample | None = None
) -> StoreReport:
    """Verifies pages, indexes and links, and the files themselves; see `WebTable.verify`."""
    if sample is None and not quick:
        for name in pages.store.tables():
            pages.store.admin.check_files(name)
    report = verify_pages(pages, repair=repair, sample=sample, quick=quick)
    return StoreReport(report, _verify_links(pages, repair=repair, sample=sample))


def _verify_links(pages: PageTable, *, repair: bool, sample: Sample | None) -> LinkReport:
    """Verifies the link index; a repair creates the index if it does not exist."""
    try:
        found = LinkIndex.open(pages)
    except NotFound:
        if not repair:
            return missing_index()
        found = LinkIndex.create(pages)
        found.set_ready(False)
    return verify_links(found, repair=repair, sample=sample)
