"""Exit codes of real processes: one case for each line of the table in docs/reference/errors.md."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pytest
from click.testing import CliRunner

import webtable
from tests.waiting import wait_for
from tools.reference import COMMAND_CODES, EXIT_CODES
from webtable.cli.main import cli
from webtable.errors import AlreadyExists, DiskFull, InvalidRequest
from webtable.output_file import new_file

PATIENCE_SECONDS = 60
FULL = "/dev/full"


def webtable_process(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    for stream in ("stdin", "stdout", "stderr"):
        options.setdefault(stream, subprocess.PIPE)
    return subprocess.Popen([sys.executable, "-m", "webtable", *arguments], **options)


def run(*arguments: str, **options: Any) -> tuple[int, str]:
    """Returns the exit code of a command, and what it said on stderr."""
    with webtable_process(*arguments, **options) as process:
        _, said = process.communicate(timeout=PATIENCE_SECONDS)
    text = said.decode()
    assert "Traceback" not in text
    return process.returncode, text


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("codes")
    location, crawl = str(folder / "store"), str(folder / "crawl.warc.gz")
    for arguments in (
        ["sample", crawl, "--pages", "40"],
        ["init", "--store", location, "--profile", "archive"],
        ["load", crawl, "--workers", "0", "--store", location],
    ):
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0, done.output
    return location


@pytest.fixture
def spoilt(store: str, tmp_path: Path) -> str:
    """A copy of the store in which a page contradicts its captures."""
    location = str(tmp_path / "spoilt")
    with webtable.open(store) as opened:
        opened.checkpoint(location)
    with webtable.open(location) as opened:
        table = opened.table("webtable")
        row = next(table.scan(limit=1, columns=[b"metadata:url"]))
        table.put(row.key, {b"metadata:status_code": b"418"})
    return location


def test_the_table_is_whole() -> None:
    assert set(EXIT_CODES) == {0, 1, 2, 3, 4, 5, 6, 130}
    assert {code for _, code, _ in COMMAND_CODES} <= set(EXIT_CODES)


def test_done(store: str) -> None:
    assert run("tables", "--store", store)[0] == 0


def test_usage(store: str) -> None:
    assert run("report", "modified", "--since", "2026-13-01", "--store", store)[0] == 2
    assert run("pages", "ex ample.com", "--store", store)[0] == 2


def test_not_found(store: str, tmp_path: Path) -> None:
    assert run("page", "nothing.example/", "--store", store)[0] == 3
    assert run("tables", "--store", str(tmp_path / "no-store"))[0] == 3


def test_conflict(store: str, tmp_path: Path) -> None:
    assert run("init", "--store", store)[0] == 4
    with webtable.open(store):
        code, said = run("load", "x", "--store", store)
    assert code == 4
    assert "is open for writing" in said


def test_unavailable(tmp_path: Path) -> None:
    assert run("hbase", "status", "--dir", str(tmp_path / "none"))[0] == 5


def test_verify_with_differences(spoilt: str) -> None:
    assert run("verify", "--store", spoilt)[0] == 6


def test_damaged_data(store: str, tmp_path: Path) -> None:
    location = tmp_path / "damaged"
    with webtable.open(store) as opened:
        opened.checkpoint(str(location))
    (location / "WEBTABLE").write_text("{", encoding="utf-8")
    assert run("tables", "--store", str(location))[0] == 6


def test_doctor_with_a_failed_check(store: str) -> None:
    script = (
        "from webtable.cli.main import main\n"
        "from webtable.pages.checking import doctor\n"
        "doctor.MOST_PAGES = 1\n"
        "main()\n"
    )
    command = [sys.executable, "-c", script, "doctor", "--store", store]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "make a store with salted keys" in done.stderr


def test_a_load_that_read_nothing(store: str, tmp_path: Path) -> None:
    code, said = run("load", str(tmp_path / "missing.warc"), "--store", store)
    assert code == 1
    assert "missing.warc" in said


@pytest.mark.skipif(not Path(FULL).exists(), reason=f"there is no {FULL} here")
@pytest.mark.parametrize(
    "arguments",
    [
        ("pages", "example.com"),
        ("tables", "--format", "json"),
        ("report", "largest", "--format", "csv"),
        ("links", "dump"),
        ("export", "-"),
        ("export", "-", "--as", "jsonl"),
        ("shell", "-c", "scan 'webtable'"),
        ("tour",),
        ("--help",),
        ("load", "--help"),
    ],
    ids=" ".join,
)
def test_a_full_disk_behind_standard_output(store: str, arguments: tuple[str, ...]) -> None:
    with open(FULL, "wb") as full:
        environment = {**os.environ, "WEBTABLE_STORE": store}
        code, said = run(*arguments, stdout=full, env=environment)
    assert code == 1
    assert said.splitlines()[-2:] == [
        "webtable: the output cannot be written: No space left on device",
        "hint: make room on its disk, or send it elsewhere",
    ]


def test_a_reader_that_went_away(store: str) -> None:
    for arguments in (("pages", "example.com"), ("export", "-"), ("--help",)):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as gone:
            environment = {**os.environ, "WEBTABLE_STORE": store}
            assert run(*arguments, stdout=gone, env=environment) == (130, "")


def test_closed_standard_output(store: str) -> None:
    script = f'exec "{sys.executable}" -m webtable tables --store "{store}" >&-'
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@contextmanager
def waiting(*arguments: str, until: Callable[[], bool]) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a command that reads standard input, which says nothing, until a condition holds."""
    with webtable_process(*arguments) as process:
        try:
            wait_for(lambda: until() or process.poll() is not None, PATIENCE_SECONDS)
            assert process.poll() is None
            yield process
        finally:
            process.kill()


def stopped(process: subprocess.Popen[bytes], stop: signal.Signals) -> bytes:
    """Sends a signal until the process ends, while its input stays open; returns its stderr.

    Python drops an exception that a signal raises inside of a callback, as of a weak reference.
    """
    give_up = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None:
        assert time.monotonic() < give_up
        process.send_signal(stop)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
    return process.communicate(timeout=PATIENCE_SECONDS)[1]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_load(store: str, stop: signal.Signals) -> None:
    writer = Path(store, "WRITER")
    arguments = ("load", "-", "--workers", "0", "--store", store)
    with waiting(*arguments, until=lambda: bool(writer.read_bytes())) as process:
        said = stopped(process, stop)
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert writer.read_bytes() == b"", "the store was not closed"


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_export_leaves_no_file(store: str, tmp_path: Path, stop: signal.Signals) -> None:
    arguments = ("export", str(tmp_path / "out"), "--urls", "-", "--store", store)
    with waiting(*arguments, until=lambda: any(tmp_path.iterdir())) as process:
        said = stopped(process, stop)
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [("export", "--as", "jsonl"), ("sample",)], ids=" ".join)
def test_a_file_that_cannot_be_finished_is_removed(
    store: str, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    def few_bytes() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    environment = {**os.environ, "WEBTABLE_STORE": store}
    out = str(tmp_path / "out")
    code, said = run(*arguments, out, preexec_fn=few_bytes, env=environment)
    assert code == 2
    assert f"webtable: '{out}' cannot be written: File too large" in said
    assert list(tmp_path.iterdir()) == []


def test_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with new_file(str(path)) as file:
        file.write(b"one")
        assert not path.exists()
    with pytest.raises(AlreadyExists), new_file(str(path)) as file:
        pass
    with new_file(str(path), overwrite=True) as file:
        file.write(b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_that_another_process_makes_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "out"

    def write() -> None:
        with new_file(str(path)) as file:
            file.write(b"mine")
            path.write_bytes(b"theirs")

    with pytest.raises(AlreadyExists):
        write()
    assert path.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_on_a_full_disk(tmp_path: Path) -> None:
    def write() -> None:
        with new_file(str(tmp_path / "out")) as file:
            file.write(b"some")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DiskFull, match="disk is full"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader: IO[bytes]
    with (
        os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader,
        new_file(str(pipe), overwrite=True) as file,
    ):
        file.write(b"x")
        file.flush()
        assert reader.read(1) == b"x"
    assert pipe.is_fifo()
    with pytest.raises(InvalidRequest), new_file(str(tmp_path), overwrite=True):
        pass


def test_a_list_of_urls_that_is_not_there(store: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, said = run("export", str(out), "--urls", str(tmp_path / "nosuch.txt"), "--store", store)
    assert code == 2
    assert "nosuch.txt' cannot be read: No such file or directory" in said
    assert "--urls" in said
    assert list(tmp_path.iterdir()) == []


def test_paths_that_are_not_utf8(store: str, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    out, urls = (os.fsdecode(folder + b"/\xff" + name) for name in (b"out", b"urls"))
    Path(urls).write_text("nothing.example/\n", encoding="utf-8")
    assert run("export", out, "--urls", urls, "--store", store)[0] == 0
    assert Path(out).exists()
    code, said = run("export", out, "--store", store)
    assert code == 4
    assert r"\xFFout' exists already" in said
    code, said = run("init", "--store", os.fsdecode(folder + b"/\xffstore"))
    assert code == 2
    assert "is not UTF-8" in said
