"""Crawled pages: their URLs and row keys, their captures, and queries about them.

`webtable.WebTable` is the entry point; this package has the types of its arguments and results.
"""

from typing import TYPE_CHECKING

from webtable.lazy_names import lazy_names

if TYPE_CHECKING:
    from webtable.pages.asking.duplicates import Duplicates
    from webtable.pages.asking.export import ExportReport
    from webtable.pages.asking.page_diff import DiffLink, PageDiff
    from webtable.pages.asking.page_feed import PageChange
    from webtable.pages.asking.paged_results import QueryCost, ResultPage, Results
    from webtable.pages.asking.reports import Reports
    from webtable.pages.asking.response_headers import Header, ResponseHeaders
    from webtable.pages.body_facts import (
        Alternate,
        Facts,
        Heading,
        Indexability,
        LinkPlacement,
        OpenGraph,
        PageFacts,
        RobotsFacts,
        RobotsGroup,
        SitemapFacts,
    )
    from webtable.pages.captures import Position, Skipped
    from webtable.pages.checking.doctor import Finding
    from webtable.pages.loading.loader import LoadReport
    from webtable.pages.page import Outcome, Page, PageCapture
    from webtable.pages.time_arguments import When
    from webtable.pages.urls import canonical_url

__all__ = [
    "Alternate",
    "DiffLink",
    "Duplicates",
    "ExportReport",
    "Facts",
    "Finding",
    "Header",
    "Heading",
    "Indexability",
    "LinkPlacement",
    "LoadReport",
    "OpenGraph",
    "Outcome",
    "Page",
    "PageCapture",
    "PageChange",
    "PageDiff",
    "PageFacts",
    "Position",
    "QueryCost",
    "Reports",
    "ResponseHeaders",
    "ResultPage",
    "Results",
    "RobotsFacts",
    "RobotsGroup",
    "SitemapFacts",
    "Skipped",
    "When",
    "canonical_url",
]

# The module of each public name. The imports above say the same to type checkers.
_MODULES = {
    "Alternate": "webtable.pages.body_facts",
    "DiffLink": "webtable.pages.asking.page_diff",
    "Duplicates": "webtable.pages.asking.duplicates",
    "ExportReport": "webtable.pages.asking.export",
    "Facts": "webtable.pages.body_facts",
    "Finding": "webtable.pages.checking.doctor",
    "Header": "webtable.pages.asking.response_headers",
    "Heading": "webtable.pages.body_facts",
    "Indexability": "webtable.pages.body_facts",
    "LinkPlacement": "webtable.pages.body_facts",
    "LoadReport": "webtable.pages.loading.loader",
    "OpenGraph": "webtable.pages.body_facts",
    "Outcome": "webtable.pages.page",
    "Page": "webtable.pages.page",
    "PageCapture": "webtable.pages.page",
    "PageChange": "webtable.pages.asking.page_feed",
    "PageDiff": "webtable.pages.asking.page_diff",
    "PageFacts": "webtable.pages.body_facts",
    "Position": "webtable.pages.captures",
    "QueryCost": "webtable.pages.asking.paged_results",
    "Reports": "webtable.pages.asking.reports",
    "ResponseHeaders": "webtable.pages.asking.response_headers",
    "ResultPage": "webtable.pages.asking.paged_results",
    "Results": "webtable.pages.asking.paged_results",
    "RobotsFacts": "webtable.pages.body_facts",
    "RobotsGroup": "webtable.pages.body_facts",
    "SitemapFacts": "webtable.pages.body_facts",
    "Skipped": "webtable.pages.captures",
    "When": "webtable.pages.time_arguments",
    "canonical_url": "webtable.pages.urls",
}

# Hidden from type checkers: they would accept any name, also a misspelt one.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
