"""Makes the pages of docs/reference about the Python API: `WebTable`, its results, the store."""

from __future__ import annotations

import inspect

import webtable
from tools.docstrings import alias, members, sections, signature, value
from webtable import links, pages
from webtable import webtable as front_door
from webtable.links.asking import link_reader, redirects
from webtable.operations import changes_api, feed_consumers
from webtable.pages import body_facts, page, time_arguments
from webtable.pages.asking import change_feed, export
from webtable.pages.formats import program_captures
from webtable.result_base import Value
from webtable.store import cells_and_rows, mutation

__all__ = ["store_page", "values_page", "webtable_page"]


def webtable_page(made: str) -> str:
    """Returns docs/reference/python-webtable.md; `made` says where it comes from."""
    parts = [
        "# WebTable in Python",
        made,
        "`from webtable import WebTable`. [How to use it](../howto/use-from-python.md) has "
        "examples, [results in Python](python-values.md) has the fields of what is returned, "
        "[the store in Python](python-store.md) what `web.store` offers, and [errors](errors.md) "
        "every error. In signatures, what stands behind `*` is given by name.",
    ]
    for kind, shown in (
        (webtable.WebTable, "web"),
        (pages.Reports, "web.reports"),
        (links.Links, "web.links"),
        (changes_api.Changes, "web.changes"),
        (change_feed.ChangeFeed, "feed"),
        (feed_consumers.FeedConsumer, "feed"),
        (webtable.Results, "results"),
        (webtable.ResultPage, "page"),
    ):
        parts.append(f"## {kind.__name__}")
        if kind is webtable.ResultPage:
            parts.append(value(kind).partition("\n\n")[2])
        else:
            parts += [sections(inspect.getdoc(kind) or ""), *members(kind, shown)]
    return _joined([*parts, "## QueryCost", value(pages.QueryCost).partition("\n\n")[2]])


def values_page(made: str) -> str:
    """Returns docs/reference/python-values.md: what the methods of `WebTable` return."""
    parts = [
        "# Results in Python",
        made,
        "What the methods of [WebTable](python-webtable.md) return. Each type can be imported from "
        "`webtable.pages` or `webtable.links`. Times are texts in UTC, as `2026-09-01T12:30:00Z`; "
        "they sort as times do.",
        "Every result has two methods:",
        *members(Value, "result"),
        "## Pages",
        *map(value, (pages.Page, pages.PageCapture, pages.ResponseHeaders, pages.Header)),
        *map(value, (pages.PageDiff, pages.DiffLink)),
        *map(value, (pages.Duplicates, pages.LoadReport, pages.Skipped, pages.Position)),
        *map(value, (pages.ExportReport, pages.Finding)),
        "## Facts",
        *map(value, (pages.PageFacts, pages.Heading, pages.Alternate, pages.LinkPlacement)),
        *map(value, (pages.OpenGraph, pages.Indexability, pages.RobotsFacts, pages.RobotsGroup)),
        *map(value, (pages.SitemapFacts,)),
        "## Changes",
        *map(value, (pages.PageChange, links.LinkChange, feed_consumers.Consumer)),
        "## Links",
        *map(value, (links.LinkTo, links.LinkFrom, links.Ranked, links.DomainPages, links.Anchor)),
        *map(value, (links.Change, links.BrokenLink, links.Redirect, links.ThroughLink)),
        *map(value, (links.Resolved, links.DumpCell)),
        "## Upkeep",
        *map(value, (links.StoreReport, links.RebuildReport, links.Drained)),
        "## Functions",
        "### canonical_url",
        f"```text\n{signature('canonical_url', pages.canonical_url)}\n```",
        (inspect.getdoc(pages.canonical_url) or "").partition("\n\n>>>")[0],
        "Two URLs are of one page where their canonical forms are equal.",
        "## Names of types",
        "\n".join(
            (
                alias(time_arguments, "When"),
                alias(program_captures, "Headers"),
                alias(front_door, "KeyName"),
                alias(front_door, "ProfileName"),
                alias(export, "Form"),
                alias(page, "Outcome"),
                alias(body_facts, "Facts"),
                alias(link_reader, "Kind"),
                alias(redirects, "Outcome").replace("`Outcome`", "`Redirect.outcome`"),
            )
        ),
    ]
    return _joined(parts)


def store_page(made: str) -> str:
    """Returns docs/reference/python-store.md: the wide-column store."""
    opened = webtable.open
    parts = [
        "# The store in Python",
        made,
        "The wide-column store below [WebTable](python-webtable.md): `web.store`, or alone from "
        "`webtable.open`. [First steps](../tutorial/first-steps.md) begin at the beginning, [the "
        "data model](../explain/data-model.md) says what versions, time ranges and delete markers "
        "mean, [filters](filters.md) and [administration](administration.md) have pages of their "
        "own. All names are imported from `webtable`.",
        "## webtable.open",
        f"```text\n{signature('webtable.open', opened)}\n```",
        sections(inspect.getdoc(opened) or ""),
    ]
    for kind, shown in (
        (webtable.Store, "store"),
        (webtable.Table, "table"),
        (webtable.Batch, "batch"),
    ):
        parts += [f"## {kind.__name__}", sections(inspect.getdoc(kind) or "")]
        parts += members(kind, shown)
    parts += ["## Reads", *map(value, (webtable.Get, webtable.Scan))]
    parts += [_made_by_call(webtable.Row, "row"), value(webtable.Cell)]
    parts += ["## Writes"]
    for mutated in (webtable.Put, webtable.Delete, webtable.Increment, webtable.Append):
        parts.append(_made_by_call(mutated, mutated.__name__.lower()))
    parts.append(_made_by_call(webtable.Check, "check"))
    parts += map(value, (webtable.Conditional, webtable.CheckResult))
    parts += ["## Schemas", *map(value, (webtable.Family, webtable.TableSchema))]
    parts += ["## Others", *map(value, (webtable.Capabilities, webtable.Loss))]
    parts.append("\n".join((alias(mutation, "Durability"), alias(cells_and_rows, "Nested"))))
    return _joined(parts)


def _made_by_call(kind: type, shown: str) -> str:
    """Returns the part about a class whose objects a program makes itself."""
    name = kind.__name__
    call = signature(name, kind.__init__)  # type: ignore[misc]  # of the class itself
    parts = [f"### {name}", f"```text\n{call}\n```", sections(inspect.getdoc(kind) or "")]
    parts += (each.replace("### ", "#### ", 1) for each in members(kind, shown))
    return "\n\n".join(parts)


def _joined(parts: list[str]) -> str:
    return "\n\n".join(parts) + "\n"
