"""What commands print on a real terminal: tables that fit its width, colours, wide characters."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata

import pytest

from webtable.webtable import WebTable

STYLES = re.compile(r"\x1b\[[0-9;]*m")
LONG = "https://www.example.com/a/very/long/path/that/does/not/fit/into/eighty/columns/page-{}.html"
TITLES = ["漢字のとても長い題名がここにある", "Thé à la menthe", "", "שלום", "ไทยแลนด์ที่นี่", "x" * 300]
COMMANDS = {
    "pages": ("pages", "example.com"),
    "errors": ("report", "errors"),
    "duplicates": ("report", "duplicates"),
    "captures": ("page", LONG.format(0), "--versions", "3"),
    "links in": ("links", "in", "https://target.example.org/"),
    "links out": ("links", "out", LONG.format(0)),
    "links top": ("links", "top"),
    "broken": ("links", "broken"),
    "changes": ("links", "changes", "target.example.org", "--since", "2020-01-01"),
    "domains": ("links", "domains"),
    "tables": ("tables",),
    "describe": ("table", "describe", "webtable"),
    "regions": ("regions",),
    "servers": ("servers",),
    "cluster": ("cluster",),
    "stats": ("stats",),
    "parts": ("stats", "--pages"),
    "sizes": ("stats", "--domains"),
    "indexes": ("index", "list"),
    "doctor": ("doctor",),
    "namespaces": ("namespace", "list"),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    location = str(tmp_path_factory.mktemp("terminal") / "store")
    link = '<a href="https://target.example.org/">リンク</a><a href="/gone">gone</a>'
    with WebTable.open(location) as web:
        for number, title in enumerate(TITLES):
            body = f"<title>{title}</title><p>{number}</p>{link}"
            web.put(LONG.format(number), body, fetched="2026-09-01T10:00:00Z")
        for name in ("one", "two"):
            web.put(f"https://www.example.com/{name}", "the same")
        web.put("https://www.example.com/gone", "gone", status=404)
    return location


def on_terminal(*arguments: str, columns: int, **variables: str) -> str:
    """Runs a command on a terminal; returns stdout as the terminal got it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", **variables}
    for name in {"COLUMNS", "NO_COLOR", "FORCE_COLOR"} - variables.keys():
        environment.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-m", "webtable", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    os.close(theirs)
    printed = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        printed += piece
    os.close(ours)
    assert process.wait() == 0
    return printed.decode().replace("\r\n", "\n")


def piped(*arguments: str) -> str:
    command = [sys.executable, "-m", "webtable", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def width(line: str) -> int:
    """Returns how many cells a line takes, as terminals count them."""
    return sum(
        0 if unicodedata.category(each) in ("Mn", "Me", "Cf")
        else 2 if unicodedata.east_asian_width(each) in "WF"
        else 1
        for each in line
    )  # fmt: skip


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_table_fits_the_terminal(store: str, name: str, columns: int) -> None:
    printed = on_terminal(*COMMANDS[name], "--store", store, columns=columns)
    heading, *lines = printed.splitlines()
    assert heading.startswith("\x1b[1m")
    assert heading.endswith("\x1b[0m")
    assert lines
    for line in (heading, *lines):
        assert width(STYLES.sub("", line)) <= columns, line


def test_columns_are_aligned_whatever_the_characters(store: str) -> None:
    printed = on_terminal(*COMMANDS["pages"], "--store", store, columns=80)
    heading, *lines = STYLES.sub("", printed).splitlines()
    end = width(heading[: heading.index("STATUS")]) + len("STATUS")
    assert len(lines) == len(TITLES) + 3
    for line in lines:
        cells = ""
        for character in line:
            if width(cells + character) > end:
                break
            cells += character
        assert cells.endswith(("200", "404")), line


def test_a_long_url_is_cut_in_its_middle_and_a_time_after_its_day(store: str) -> None:
    printed = STYLES.sub("", on_terminal(*COMMANDS["pages"], "--store", store, columns=80))
    lines = [line for line in printed.splitlines() if "page-0.html" in line]
    assert len(lines) == 1
    assert re.match(r"https://www\.ex.*….*page-0\.html  漢字.*…", lines[0])
    assert "  2026-09-01  " in lines[0]
    assert "x…" in printed


def test_a_status_has_a_colour(store: str) -> None:
    printed = on_terminal(*COMMANDS["pages"], "--store", store, columns=80)
    assert "\x1b[32m   200\x1b[0m" in printed
    assert "\x1b[31m   404\x1b[0m" in printed
    assert "\x1b[31m404\x1b[0m" in on_terminal(
        "page", "www.example.com/gone", "--store", store, columns=80
    )


@pytest.mark.parametrize("how", ["--no-color", "NO_COLOR"])
def test_colours_can_be_switched_off(store: str, how: str) -> None:
    arguments = (*COMMANDS["pages"], "--store", store)
    if how == "NO_COLOR":
        printed = on_terminal(*arguments, columns=80, NO_COLOR="1")
    else:
        printed = on_terminal(*arguments, how, columns=80)
    assert "\x1b" not in printed
    assert "page-0.html" in printed


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_cut_in_a_pipe(store: str, name: str) -> None:
    printed = piped(*COMMANDS[name], "--store", store)
    assert "…" not in printed
    assert "\x1b" not in printed
    if name == "pages":
        assert all(title in printed for title in TITLES)
        assert LONG.format(0) in printed
        assert "2026-09-01T10:00:00Z" in printed


def test_columns_that_are_left_out_are_named(store: str) -> None:
    arguments = ["pages", "example.com", "--store", store]
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "webtable", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(
        command, stdout=theirs, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        os.close(theirs)
        message = process.communicate()[1]
    os.close(ours)
    assert "not shown, because the terminal is narrow: LINKS\n" in message
