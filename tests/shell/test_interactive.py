"""The shell at a terminal: prompt, history, completion, editing over several lines, Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from tests.shell.terminal import Terminal
from webtable.cli.shell.completion import OPTIONS, complete
from webtable.cli.shell.interactive import is_complete
from webtable.cli.shell.language.ruby_constants import CONSTANTS
from webtable.cli.shell.language.ruby_values import TableRef

from .running import Shell

PASTED = """scan 'pages', {
  STARTROW => 'a',  # a comment
  LIMIT => 1
}
exists 'pages'
"""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    where = str(tmp_path / "store.db")
    with webtable.open(where) as store:
        store.create_table("pages", "content", "metadata").put(b"a", {b"metadata:t": b"one"})
    with Terminal(["shell", "--store", where], {"XDG_STATE_HOME": str(tmp_path)}) as opened:
        opened.expect("hbase:001:0>")
        yield opened


def test_a_command_is_run_and_the_next_is_read(terminal: Terminal) -> None:
    terminal.press("count 'pages'\r")
    shown = terminal.expect("hbase:002:0>")
    assert "1 row(s)" in shown
    assert "=> 1" in shown
    terminal.press("exit 3\r")
    assert terminal.exit_code() == 3


def test_columns_are_as_wide_as_the_terminal_says(terminal: Terminal) -> None:
    terminal.press("get 'pages', 'a'\r")
    terminal.expect("COLUMN" + " " * 46 + "CELL")
    terminal.expect(" metadata:t" + " " * 41 + "timestamp=")


def test_a_command_goes_on_in_the_next_line(terminal: Terminal) -> None:
    terminal.press("scan 'pages',\r")
    terminal.expect("hbase:001:0*")
    terminal.press("LIMIT => 1\r")
    assert "1 row(s)" in terminal.expect("hbase:003:0>")


def test_several_commands_are_pasted_at_once(terminal: Terminal) -> None:
    terminal.press(f"\x1b[200~{PASTED}\x1b[201~\r")
    terminal.expect("column=metadata:t")
    terminal.expect("Table pages does exist")
    terminal.expect("=> true")


def test_an_error_leaves_the_prompt(terminal: Terminal) -> None:
    terminal.press("scan 'nowhere'\r")
    shown = terminal.expect("hbase:002:0>")
    assert "ERROR: table 'nowhere' does not exist; known tables: pages" in shown
    assert "For usage try 'help \"scan\"'" in shown
    terminal.press("scan 'pages', {LIMIT => }\r")
    assert "expected a value, found '}'" in terminal.expect("hbase:003:0>")


def test_tab_completes_commands_and_tables(terminal: Terminal) -> None:
    terminal.press("desc")
    terminal.expect("desc")
    terminal.press("ribe 'pa\t")
    terminal.expect("'pages")
    terminal.press("'\r")
    terminal.expect("Table pages is ENABLED")


def test_what_was_typed_is_there_the_next_time(terminal: Terminal, tmp_path: Path) -> None:
    terminal.press("list\r")
    terminal.expect("hbase:002:0>")
    terminal.press("\x04")
    assert terminal.exit_code() == 0
    where = str(tmp_path / "store.db")
    with Terminal(["shell", "--store", where], {"XDG_STATE_HOME": str(tmp_path)}) as again:
        again.expect("hbase:001:0>")
        again.press("\x1b[A")
        again.expect("list")
        again.press("\r")
        again.expect('=> ["pages"]')


def test_ctrl_c_drops_what_was_typed(terminal: Terminal) -> None:
    terminal.press("scan 'pages', {")
    terminal.expect("{")
    terminal.press("\x03")
    terminal.expect("hbase:001:0>")
    terminal.press("list\r")
    terminal.expect('=> ["pages"]')


def test_ctrl_c_stops_a_scan_at_once(location: str, tmp_path: Path) -> None:
    with webtable.open(location) as store:
        table = store.create_table("pages", "f")
        with table.batch(size=10_000) as batch:
            for number in range(40_000):
                batch.put(b"row%05d" % number, {b"f:q": b"value"})
    with Terminal(["shell", "--store", location], {"XDG_STATE_HOME": str(tmp_path)}) as opened:
        opened.expect("hbase:001:0>")
        opened.press("scan 'pages'\r")
        opened.expect("row00100")
        opened.press("\x03")
        assert "row39999" not in opened.expect("interrupted")
        opened.expect("hbase:002:0>")
        opened.press("count 'pages', INTERVAL => 100000\r")  # nothing of the scan is in the way
        opened.expect("=> 40000")


def test_ctrl_c_stops_a_scan_that_finds_nothing(location: str, tmp_path: Path) -> None:
    """Rows that a filter leaves out are not printed, and must not keep the shell busy."""
    with webtable.open(location) as store:
        table = store.create_table("pages", "f")
        with table.batch(size=10_000) as batch:
            for number in range(40_000):
                batch.put(b"row%05d" % number, {b"f:q": b"value"})
    again = "scan 'pages', {FILTER => \"ValueFilter(=, 'substring:x')\"}; " * 50
    with Terminal(["shell", "--store", location], {"XDG_STATE_HOME": str(tmp_path)}) as opened:
        opened.expect("hbase:001:0>")
        opened.press(f"{again}list\r")
        opened.expect("0 row(s)")
        opened.press("\x03")
        assert '=> ["pages"]' not in opened.expect("interrupted")
        opened.expect("hbase:002:0>")


@pytest.mark.parametrize(
    ("typed", "word", "found"),
    [
        ("desc", "desc", ["desc", "describe", "describe_namespace"]),
        ("scan 'we", "we", ["webpages", "website"]),
        ("get 'webpages', 'row', 'm", "m", ["metadata:"]),
        ("scan 'webpages', {LI", "LI", ["LIMIT"]),
        ("scan 'webpages', {STARTROW => 'a', STO", "STO", ["STOPROW"]),
        ("t.desc", "desc", ["describe"]),
        ("t.get 'row', 'c", "c", ["content:"]),
        ("list; exist", "exist", ["exists"]),
        ("help 'd", "d", None),
        ("splitormerge_switch 'S", "S", ["SPLIT"]),
        ("status 'd", "d", ["detailed"]),
        ("wal_roll 'emb", "emb", ["embedded"]),
        ("processlist 'all', '", "", None),
        ("describe_namespace 'def", "def", ["default"]),
        ("restore_snapshot '", "", []),
        ("normalize NAME", "NAME", ["NAMESPACE"]),
        ("snapshot 'webpages', 's', {TT", "TT", ["TTL"]),
        ("decomm", "decomm", ["decommission_regionservers"]),
        ("scan 'nowhere', 'x", "x", []),
        ("scan ‘", "", None),
    ],
)
def test_what_can_follow(shell: Shell, typed: str, word: str, found: list[str] | None) -> None:
    shell.store.create_table("webpages", "content", "metadata")
    shell.store.create_table("website", "f")
    shell.session.variables["t"] = TableRef("webpages")
    begun, names = complete(shell.session, typed)
    assert begun == word
    if found is not None:
        assert names == found


def test_every_option_that_is_offered_is_a_constant() -> None:
    assert {name for names in OPTIONS.values() for name in names} <= CONSTANTS.keys()


@pytest.mark.parametrize(
    ("text", "complete_now"),
    [
        ("list", True),
        ("scan 't',", False),
        ("scan 't', {\n", False),
        ("scan 't', {\n}", True),
        ("put 't', 'r', 'f:q', 'a", False),
        ("create 't', \\", False),
        ("scan ‘t’", True),
        ("", True),
    ],
)
def test_enter_detects_the_end_of_a_command(text: str, complete_now: bool) -> None:
    assert is_complete(text) is complete_now
