"""Brings a store of pages of an earlier format to the present one, step by step.

The settings get the present format first: from then on earlier versions of webtable reject the
store, and this one does until all steps are done. Each finished step is added to `a:steps`. A step
that was stopped, also by kill -9, runs again. No step reads more than a batch of rows at a time.

A new step: a function in this folder that takes a `StepRun`, its name in `RUNS` and at the end of
`webtable.pages.settings.STEPS`, and `NEEDS` there; new stores must be created as the step leaves
old ones. The caller gives the steps of what is above pages: that of the link index.
`docs/howto/upgrade-a-store.md` describes what each step does.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping

import msgspec

from webtable.loggers import get_logger
from webtable.pages.schema import SETTINGS_TABLE
from webtable.pages.settings import (
    FORMAT,
    NEEDS,
    SETTINGS_ROW,
    STEPS,
    check_complete,
    is_current,
    read_settings,
    stored_steps,
)
from webtable.pages.storing.row_write import Parse
from webtable.pages.storing.table_creation import add_http_family
from webtable.pages.upgrading.facts_backfill import add_facts
from webtable.pages.upgrading.feed_backfill import add_feed
from webtable.pages.upgrading.index_rebuild import rebuild_indexes
from webtable.pages.upgrading.step_context import RUN_CELLS, TOKEN, StepRun
from webtable.result_base import Value
from webtable.store.store import Store

__all__ = ["UpgradeReport", "upgrade"]

RUNS: dict[str, Callable[[StepRun], None]] = {
    "http": lambda run: add_http_family(run.store),
    "buckets": rebuild_indexes,
    "feed": add_feed,
    "facts": add_facts,
}
"""How each step of the pages runs; the names are those of `webtable.pages.settings.STEPS`."""
_EARLIER_CELLS = (b"a:groups", b"a:times")

_log = get_logger("webtable.pages")


class UpgradeReport(Value, msgspec.Struct):
    """The result of an upgrade.

    Attributes:
        format: the format of the store now.
        steps: the steps that ran, in their order; none where the store had all of them.
        pages: how many pages they read, in all.
        seconds: how long they took.
    """

    format: str = FORMAT
    steps: list[str] = []
    pages: int = 0
    seconds: float = 0.0


def upgrade(
    store: Store,
    parse: Parse,
    beside: Mapping[str, Callable[[StepRun], None]],
    *,
    on_progress: Callable[[str, int], None] = lambda _, __: None,
) -> UpgradeReport:
    """Runs the upgrade steps that a store of pages lacks; a store with all of them stays as it is.

    No other process may write to the store meanwhile, and none may have it open.

    Args:
        parse: parses a stored body again.
        beside: how the steps run that are not about pages: that of the link index.
        on_progress: is called with a step and the number of pages that it has read.

    Raises:
        NotFound: the store has no pages.
        SchemaMismatch: its creation was interrupted.
        FormatVersionError: the pages have a newer format.
        CheckFailed: another process has taken over the upgrade.
    """
    report, began = UpgradeReport(), time.monotonic()
    values = read_settings(store)
    check_complete(store, values)
    if is_current(values):
        return report
    settings, token = store.table(SETTINGS_TABLE), secrets.token_hex(8).encode()
    steps, runs = stored_steps(values), {**RUNS, **beside}
    began_with = {
        b"a:format": FORMAT.encode(),
        b"a:needs": NEEDS.encode(),
        b"a:steps": " ".join(steps).encode(),
        TOKEN: token,
    }
    settings.put(SETTINGS_ROW, began_with, durability="sync")
    for name in STEPS:
        if name in steps:
            continue
        _log.info("store '%s': upgrade step '%s'", store.location, name)
        on_progress(name, 0)
        run = StepRun(store, values, parse, token=token, name=name, on_progress=on_progress)
        runs[name](run)
        steps.append(name)
        run.change_settings({b"a:steps": " ".join(steps).encode()})
        report.steps.append(name)
        report.pages += run.pages
    settings.delete(SETTINGS_ROW, (*RUN_CELLS, *_EARLIER_CELLS))
    report.seconds = time.monotonic() - began
    _log.info("store '%s': upgraded to format %s", store.location, FORMAT)
    return report
