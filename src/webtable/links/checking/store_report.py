"""Verifying a whole store of pages: its files, its pages with their indexes, and its links."""

from __future__ import annotations

from typing import NamedTuple

from webtable.errors import NotFound
from webtable.links.checking.verify import LinkReport, missing_index, verify_links
from webtable.links.index import LinkIndex
from webtable.pages.checking.verify import PageReport, verify_pages
from webtable.pages.table import PageTable

__all__ = ["StoreReport", "verify_store"]


class StoreReport(NamedTuple):
    """What verifying a store found: about pages with their bodies and indexes, and about links."""

    pages: PageReport
    links: LinkReport

    @property
    def is_clean(self) -> bool:
        """Whether everything is right, or was repaired."""
        return self.pages.is_clean and self.links.is_clean

    def to_dict(self) -> dict[str, int]:
        """Returns the counts by name."""
        first, now = self.pages.indexes, (self.pages.left or self.pages).indexes
        links = self.links.left or self.links
        return {
            "pages": self.pages.pages,
            "bodies": self.pages.bodies,
            "bodies_unproven": self.pages.unproven,
            "differences": (self.pages.left or self.pages).differences,
            "mended": self.pages.mended + first.lacking - now.lacking,
            "missing": now.lacking,
            "pending": first.pending,
            "leftovers": first.leftovers,
            "young": first.young,
            "repaired": first.repaired,
            "links": self.links.links,
            "uris": self.links.uris,
            "link_differences": links.differences,
            "link_ranks_missing": links.ranks_lacking,
            "links_mended": self.links.repaired,
            "link_work": self.links.work,
            "links_under_way": self.links.under_way,
        }


def verify_store(
    pages: PageTable, *, repair: bool = False, quick: bool = False, sample: int | None = None
) -> StoreReport:
    """Reads everything that is stored and compares it with its source.

    Args:
        repair: repair what can be repaired, and look again.
        quick: read no bodies, and not every block of every file.
        sample: only so many pages, chosen by chance, and their links.

    Raises:
        CorruptData: a file is damaged.
    """
    if sample is None and not quick:
        for name in pages.store.tables():
            pages.store.admin.check_files(name)
    report = verify_pages(pages, repair=repair, sample=sample, quick=quick)
    return StoreReport(report, _verify_links(pages, repair=repair, sample=sample))


def _verify_links(pages: PageTable, *, repair: bool, sample: int | None) -> LinkReport:
    """Verifies the link index; makes one where there is none and it is to be repaired."""
    try:
        found = LinkIndex.open(pages)
    except NotFound:
        if not repair:
            return missing_index()
        found = LinkIndex.create(pages)
        found.set_ready(False)
    return verify_links(found, repair=repair, sample=sample)
