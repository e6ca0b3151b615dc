"""Crawled pages: their URLs and row keys, their captures, and queries about them.

`webtable.WebTable` is the entry point; this package has the types of its arguments and results.
"""

from typing import TYPE_CHECKING

from webtable.lazy_names import lazy_names

if TYPE_CHECKING:
    from webtable.pages.asking.diff import DiffLink, PageDiff
    from webtable.pages.asking.duplicates import Duplicates
    from webtable.pages.asking.export import ExportReport
    from webtable.pages.asking.reports import Reports
    from webtable.pages.asking.results import QueryCost, ResultPage, Results
    from webtable.pages.captures import Position, Skipped
    from webtable.pages.checking.doctor import Finding
    from webtable.pages.loading.loader import LoadReport
    from webtable.pages.page import Outcome, Page, PageCapture
    from webtable.pages.times import When
    from webtable.pages.urls import canonical_url

__all__ = [
    "DiffLink",
    "Duplicates",
    "ExportReport",
    "Finding",
    "LoadReport",
    "Outcome",
    "Page",
    "PageCapture",
    "PageDiff",
    "Position",
    "QueryCost",
    "Reports",
    "ResultPage",
    "Results",
    "Skipped",
    "When",
    "canonical_url",
]

# The module of each public name. The imports above say the same to type checkers.
_MODULES = {
    "DiffLink": "webtable.pages.asking.diff",
    "Duplicates": "webtable.pages.asking.duplicates",
    "ExportReport": "webtable.pages.asking.export",
    "Finding": "webtable.pages.checking.doctor",
    "LoadReport": "webtable.pages.loading.loader",
    "Outcome": "webtable.pages.page",
    "Page": "webtable.pages.page",
    "PageCapture": "webtable.pages.page",
    "PageDiff": "webtable.pages.asking.diff",
    "Position": "webtable.pages.captures",
    "QueryCost": "webtable.pages.asking.results",
    "Reports": "webtable.pages.asking.reports",
    "ResultPage": "webtable.pages.asking.results",
    "Results": "webtable.pages.asking.results",
    "Skipped": "webtable.pages.captures",
    "When": "webtable.pages.times",
    "canonical_url": "webtable.pages.urls",
}

# Hidden from type checkers: they would accept any name, also a misspelt one.
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    """Returns the public names, also those that are not imported yet."""
    return sorted({*globals(), *__all__})
