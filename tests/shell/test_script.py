"""Scripts through the command line: files, -c, standard input; exit codes; where output goes."""

from __future__ import annotations

import os
import signal
import subprocess
import tracemalloc
from pathlib import Path

import pytest
from click.testing import CliRunner

import webtable
from tests.shell.running import Shell, masked
from tests.shell.terminal import WEBTABLE
from webtable.cli.main import cli
from webtable.cli.shell.hbase_layout import Printer

SCRIPT = """create 't', 'f'
put 't', 'a', 'f:q', 'one', 1000

scan 'nowhere'
put 't', 'b', 'f:q', 'two', 2000
"""


def run(
    *arguments: str, folder: Path, text: str | bytes = "", store: str = "s.db"
) -> subprocess.CompletedProcess[bytes]:
    """Runs `webtable shell` in a folder, on a store there."""
    return subprocess.run(
        [WEBTABLE, "shell", *arguments],
        input=text.encode() if isinstance(text, str) else text,
        cwd=folder,
        env={**os.environ, "WEBTABLE_STORE": store},
        capture_output=True,
        check=False,
        timeout=120,
    )


def test_a_file_stops_at_its_first_error(tmp_path: Path) -> None:
    (tmp_path / "load.txt").write_text(SCRIPT)
    done = run("load.txt", folder=tmp_path)
    assert masked(done.stdout.decode()) == (
        "Created table t\nTook X seconds\n=> Hbase::Table - t\nTook X seconds\n"
    )
    assert done.stderr.decode() == (
        "made a new store at s.db\n"
        "load.txt:4: table 'nowhere' does not exist\n"
        "hint: known tables: t\n"
    )
    assert done.returncode == 3


def test_a_file_continues_after_an_error_with_keep_going(tmp_path: Path) -> None:
    (tmp_path / "load.txt").write_text(SCRIPT)
    done = run("load.txt", "--keep-going", "--no-times", folder=tmp_path)
    assert done.returncode == 3
    with webtable.open(str(tmp_path / "s.db")) as store:
        assert [row.key for row in store.table("t").scan()] == [b"a", b"b"]


def test_commands_come_from_the_command_line(tmp_path: Path) -> None:
    commands = ("create 't', 'f'", "put 't', 'r', 'f:q', 'v', 1000\nscan 't'")
    done = run("--no-times", "-c", commands[0], "-c", commands[1], folder=tmp_path)
    assert done.stdout.decode() == (
        "Created table t\n=> Hbase::Table - t\n"
        "ROW  COLUMN+CELL\n r column=f:q, timestamp=1970-01-01T00:00:01, value=v\n1 row(s)\n"
    )
    assert done.returncode == 0


def test_commands_come_from_standard_input(tmp_path: Path) -> None:
    run("-c", "create 't1', 'f'; create 't2', 'f'", folder=tmp_path)
    text = "disable_all 't.*'\ny\ndrop_all 't.*'\nn\nlist"
    done = run("--no-times", folder=tmp_path, text=text)
    assert done.stdout.decode() == (
        "t1\nt2\n\nDisable the above 2 tables (y/n)?\n2 tables successfully disabled\n"
        "t1\nt2\n\nDrop the above 2 tables (y/n)?\n"
        'TABLE\nt1\nt2\n2 row(s)\n=> ["t1", "t2"]\n'
    )
    assert (done.stderr, done.returncode) == (b"", 0)


def test_a_minus_is_standard_input_too(tmp_path: Path) -> None:
    assert run("-", "--no-times", folder=tmp_path, text="exists 'x'\n").stdout == (
        b"Table x does not exist\n=> false\n"
    )


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("list", 0),
        ("exit", 0),
        ("exit 7", 7),
        ("scan 'nowhere'", 3),
        ("scan 't', {", 2),
        ("scan 't', {'LIMITS' => 1}", 2),
        ("create 't', 'f'", 4),
        ("get 't', 'r', 'nofamily:q'", 3),
        ("disable 't'; scan 't'", 4),
        ("balancer", 2),
    ],
)
def test_the_exit_code_shows_the_kind_of_error(tmp_path: Path, command: str, code: int) -> None:
    with webtable.open(str(tmp_path / "s.db")) as store:
        store.create_table("t", "f")
    assert run("-c", command, folder=tmp_path).returncode == code


def test_bytes_go_in_and_out_as_they_are(tmp_path: Path) -> None:
    run("-c", "create 't', 'f'", folder=tmp_path)
    run(folder=tmp_path, text=b"put 't', 'r', 'f:q', '\xff\xc3\xa9', 1\r\nputs 'x'\r\n")
    with webtable.open(str(tmp_path / "s.db")) as store:
        found = store.table("t").get(b"r")
        assert found is not None
        assert found.value(b"f:q") == b"\xff\xc3\xa9"
    done = run("--no-times", folder=tmp_path, text=b"puts '\xff\xc3\xa9'\n")
    assert done.stdout == b"\xff\xc3\xa9\n"


def test_a_reader_that_goes_away_ends_a_scan_quietly(tmp_path: Path) -> None:
    with (
        webtable.open(str(tmp_path / "s.db")) as store,
        store.create_table("t", "f").batch() as batch,
    ):
        for number in range(20_000):
            batch.put(b"row%05d" % number, {b"f:q": b"value"})
    done = subprocess.run(
        ["bash", "-c", f"{WEBTABLE} shell --store s.db -c \"scan 't'\" | head -2"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.splitlines()[0] == b"ROW  COLUMN+CELL"
    assert done.stderr == b""


def test_a_store_that_another_process_writes_can_be_read(tmp_path: Path) -> None:
    with webtable.open(str(tmp_path / "s.db")) as store:
        store.create_table("t", "f").put(b"r", {b"f:q": b"v"})
        busy = run("-c", "list", folder=tmp_path)
        assert busy.returncode == 4
        assert b"webtable: " in busy.stderr
        done = run("--read-only", "--no-times", "-c", "count 't'", folder=tmp_path)
        assert (done.stdout, done.returncode) == (b"1 row(s)\n=> 1\n", 0)
        refused = run("--read-only", "-c", "put 't', 'r', 'f:q', 'v'", folder=tmp_path)
        assert refused.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.txt"], b"script 'nowhere.txt' cannot be read: No such file"),
        (["--read-only", "-c", "list"], b"webtable: "),
        (["x.txt", "-c", "list"], b"both a file and -c"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    tmp_path: Path, arguments: list[str], message: bytes
) -> None:
    done = run(*arguments, folder=tmp_path)
    assert done.returncode in (2, 3)
    assert message in done.stderr


def test_a_bracket_that_is_never_closed_is_found_at_the_end(shell: Shell) -> None:
    done = shell.run("create 't', 'f'\nscan 't', {\n  LIMIT => 5\nlist\n")
    assert done.out == "Created table t\n=> Hbase::Table - t\n"
    assert done.err.startswith("script:2:11: the '{' here is not closed")
    assert done.code == 2


def test_after_a_syntax_error_the_next_line_begins_a_command(shell: Shell) -> None:
    done = shell.run("scan ‘t’\nlist\nscan 't', {LIMIT => }\nlist\n", keep_going=True)
    assert done.out == "TABLE\n0 row(s)\n=> []\n" * 2
    assert done.err.count("script:") == 2
    assert done.code == 2


def test_a_scan_does_not_gather_its_rows(shell: Shell) -> None:
    table = shell.store.create_table("t", "f")
    with table.batch(size=100) as batch:
        for number in range(10_000):
            batch.put(b"%05d" % number, {b"f:q": b"v" * 2000})
    with Path(os.devnull).open("w", encoding="utf-8") as out:
        shell.session.out = Printer(out)
        tracemalloc.start()
        shell.answer("scan 't'")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 8_000_000, f"{most:,} bytes at once, of 20,000,000"


def test_ctrl_c_ends_a_script_with_its_own_code(tmp_path: Path) -> None:
    where = str(tmp_path / "s.db")
    with webtable.open(where) as store, store.create_table("t", "f").batch() as batch:
        for number in range(20_000):
            batch.put(b"row%05d" % number, {b"f:q": b"value"})
    process = subprocess.Popen(
        [WEBTABLE, "shell", "--store", "s.db", "-c", "scan 't'\n" * 100],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert (process.returncode, said.strip()) == (130, b"webtable: stopped")


def test_a_script_that_cannot_be_read_makes_no_store(tmp_path: Path) -> None:
    location = tmp_path / "store"
    missing = str(tmp_path / "missing.txt")
    done = CliRunner().invoke(cli, ["shell", missing, "--store", str(location)])
    assert done.exit_code == 2
    assert "missing.txt' cannot be read: No such file or directory" in done.stderr
    assert not location.exists()
