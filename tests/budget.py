"""A pytest plugin that adds up the time a suite takes, room by room, against a plan.

The whole suite has thirty minutes on two cores. Each room has a share of them; a room that goes
over its share is named in a line of its own at the end of the run. It is a report, not a failure:
a slow machine must not make a correct suite fail. A soak run has no plan.
"""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import pytest

PLAN_MINUTES = {"store": 4, "HBase": 9, "records": 2, "pages": 4, "links": 5, "the rest": 6}

ROOM_OF_FOLDER = {
    "contract": "store",
    "crash": "store",
    "golden": "store",
    "patterns": "store",
    "store": "store",
    "local": "HBase",
    "faults": "HBase",
    "hbase": "HBase",
    "lockstep": "HBase",
    "index": "records",
    "records": "records",
    "simulation": "records",
    "pages": "pages",
    "links": "links",
}

ROOM_OF_FILE = {
    "simulation/test_feed.py": "pages",
    "simulation/test_feed_rules.py": "pages",
    "simulation/test_links.py": "links",
    "simulation/test_links_rules.py": "links",
    "simulation/test_pages.py": "pages",
}

REST = "the rest"


def room_of(path: Path, tests: Path, *, on_hbase: bool) -> str:
    """Returns the room whose share of the plan a test at `path` uses."""
    if on_hbase:
        return "HBase"
    if not path.is_relative_to(tests):
        return REST
    inside = path.relative_to(tests)
    room = ROOM_OF_FILE.get(inside.as_posix())
    return room or ROOM_OF_FOLDER.get(inside.parts[0], REST)


def table(seconds: dict[str, float]) -> tuple[list[str], list[str]]:
    """Returns the lines of the report, and one line for each room that went over."""
    rows, over = [], []
    for room, minutes in PLAN_MINUTES.items():
        if room not in seconds:
            continue
        spent = seconds[room]
        rows.append(f"{room:<10} {_clock(spent):>7}  of {_clock(minutes * 60):>5}")
        if spent > minutes * 60:
            over.append(
                f"OVER THE PLAN: {room} took {_clock(spent)}, planned {_clock(minutes * 60)}"
            )
    return rows, over


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


class Budget:
    """Collects the durations of one run."""

    def __init__(self, tests: Path) -> None:
        self._tests = tests
        self._room_of_test: dict[str, str] = {}
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            on_hbase = item.get_closest_marker("hbase") is not None or _engine(item) == "hbase"
            self._room_of_test[item.nodeid] = room_of(item.path, self._tests, on_hbase=on_hbase)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[self._room_of_test.get(report.nodeid, REST)] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        rows, over = table(self._seconds)
        terminalreporter.section("time by room")
        for row in rows:
            terminalreporter.write_line(row)
        for line in over:
            terminalreporter.write_line(line, red=True, bold=True)


def _engine(item: pytest.Item) -> object:
    # A contract test runs once an engine; its parameter says on which.
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("engine_name") if callspec else None


def pytest_configure(config: pytest.Config) -> None:
    if not os.environ.get("WEBTABLE_SOAK"):
        config.pluginmanager.register(Budget(config.rootpath / "tests"), "webtable-budget")
