"""The commands that administer: tables, regions, servers, namespaces, snapshots."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import webtable
from webtable.cli.main import cli
from webtable.cli.output_formats import show_bytes
from webtable.cli.shared_options import ROW_KEY


@pytest.fixture
def location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with one table of three regions; the commands take it from the environment."""
    path = str(tmp_path / "store.wt")
    monkeypatch.setenv("WEBTABLE_STORE", path)
    with webtable.open(path) as store:
        pages = store.create_table("pages", "content", "anchor", splits=[b"g", b"p\x00"])
        pages.put(b"com.example/", {b"content:title": b"Hello"})
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def items(*arguments: str) -> list[dict[str, Any]]:
    done = run(*arguments, "--format", "json")
    assert done.exit_code == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["items"]
    return found


@pytest.mark.usefixtures("location")
def test_a_table_from_its_creation_to_its_end() -> None:
    done = run(
        *("table", "create", "links", "in:versions=3,ttl_seconds=60,in_memory=true", "out"),
        *("--split", "m", "--split", r"z\x00", "--set", "max_filesize=1000000000"),
    )
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "created table 'links' with 3 regions\n"
    first, second = items("table", "describe", "links")
    assert (first["family"], first["versions"], first["ttl_seconds"]) == ("in", 3, 60)
    assert (first["in_memory"], second["family"]) == (True, "out")
    assert [each["start"] for each in items("regions", "links")] == ["", "m", r"z\x00"]

    done = run(
        *("table", "alter", "links", "--family", "new:compression=GZ", "--drop-family", "out"),
        *("--family", "in:versions=5,ttl_seconds=none,NEW_VERSION_BEHAVIOR=true"),
        *("--set", "a.b=c"),
    )
    assert done.exit_code == 0
    first, second = items("table", "describe", "links")
    assert (first["versions"], first["ttl_seconds"], first["in_memory"]) == (5, None, True)
    assert first["attributes"] == {"NEW_VERSION_BEHAVIOR": "true"}
    assert (second["family"], second["compression"]) == ("new", "GZ")
    done = run("table", "describe", "links")
    assert done.stderr.splitlines() == ["a.b = c", "max_filesize = 1000000000"]

    assert run("table", "truncate", "links", "--yes").exit_code == 0
    assert run("table", "drop", "links", "--yes").exit_code == 0
    assert [each["table"] for each in items("tables")] == ["pages"]


@pytest.mark.usefixtures("location")
@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        (("create", "pages", "f"), 4, "table 'pages' exists already"),
        (("create", "t", "f:version=3"), 2, "option 'version' does not exist"),
        (("create", "t", "f:name=g"), 2, "option 'name' does not exist"),
        (("create", "t", "f:versions=many"), 2, "'many' is not a value of versions"),
        (("create", "t", "f:versions=0"), 2, "versions 0 is out of range"),
        (("create", "t", "f:versions"), 2, "'versions' is not OPTION=VALUE"),
        (("create", "t", "f:bloomfilter=BIG"), 2, "'BIG' is not a value of bloomfilter"),
        (("create", "t", "f", "--split", "m", "--split", "m"), 2, "split keys"),
        (("create", "a b", "f"), 2, "table name 'a b' is not valid"),
        (("alter", "pages", "--drop-family", "achor"), 3, "family 'achor' is not in"),
        (("alter", "nothing", "--set", "a.b=c"), 3, "table 'nothing' does not exist"),
        (("describe", "nothing"), 3, "table 'nothing' does not exist"),
        (("drop", "nothing", "--yes"), 3, "table 'nothing' does not exist"),
        (("split", "pages"), 2, "the embedded store splits no regions"),
    ],
)
def test_what_a_table_cannot_be(arguments: tuple[str, ...], exit_code: int, said: str) -> None:
    done = run("table", *arguments)
    assert (done.exit_code, done.stdout) == (exit_code, "")
    assert done.stderr.startswith(f"webtable: {said}")
    assert "hint: " in done.stderr


@pytest.mark.usefixtures("location")
@pytest.mark.parametrize(
    "arguments",
    [("table", "drop", "pages"), ("table", "truncate", "pages"), ("snapshot", "delete", "s")],
)
def test_commands_that_remove_data_need_a_confirmation(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert "add --yes" in done.stderr
    assert [each["table"] for each in items("tables")] == ["pages"]


def test_a_table_out_of_service(location: str) -> None:
    assert items("table", "is-enabled", "pages") == [{"table": "pages", "enabled": True}]
    assert run("table", "disable", "pages").exit_code == 0
    assert items("table", "is-enabled", "pages") == [{"table": "pages", "enabled": False}]
    assert {each["state"] for each in items("regions", "pages")} == {"CLOSED"}
    done = run("flush", "pages")
    assert done.exit_code == 4
    assert done.stderr == "webtable: table 'pages' is disabled\nhint: enable it first\n"
    with webtable.open(location) as store:  # it is so for every process
        assert not store.admin.is_enabled("pages")
    assert run("table", "enable", "pages").exit_code == 0
    assert run("flush", "pages").exit_code == 0


@pytest.mark.usefixtures("location")
def test_regions() -> None:
    done = run("regions")
    heading, *lines = done.stdout.splitlines()
    assert heading.split()[:6] == ["TABLE", "REGION", "START", "STOP", "SERVER", "STATE"]
    assert len(lines) == 3
    rows = list(csv.DictReader(run("regions", "pages", "--format", "csv").stdout.splitlines()))
    assert [(row["start"], row["stop"]) for row in rows] == [
        ("", "g"),
        ("g", r"p\x00"),
        (r"p\x00", ""),
    ]
    assert {"compaction", "last_major_compaction_ms", "full_name"} <= rows[0].keys()
    assert rows[0]["size_bytes"] == ""
    assert len(items("regions", "--server", "embedded")) == 3


@pytest.mark.usefixtures("location")
def test_regions_page_by_page() -> None:
    first = json.loads(run("regions", "--limit", "2", "--format", "json").stdout)
    assert ([each["name"] for each in first["items"]], first["next"]) == (
        ["pages,0", "pages,1"],
        "pages,2",
    )
    rest = json.loads(run("regions", "--start", first["next"], "--format", "json").stdout)
    assert ([each["name"] for each in rest["items"]], rest["next"]) == (["pages,2"], None)
    done = run("regions", "--start", "nothing")
    assert (done.exit_code, done.stdout) == (3, "")


@pytest.mark.usefixtures("location")
def test_one_region() -> None:
    (region,) = items("region", "show", "pages,1")
    assert (region["start"], region["stop"]) == ("g", r"p\x00")
    assert run("region", "flush", "pages,1").stderr == "pages,1: flushed\n"
    done = run("region", "compact", "pages,1", "--major", "--family", "content")
    assert (done.exit_code, done.stderr) == (0, "pages,1: compacted\n")
    assert run("region", "compact", "pages,1", "--family", "nothing").exit_code == 3
    assert run("region", "show", "pages,7").exit_code == 3
    assert run("region", "flush", "nothing").exit_code == 3


@pytest.mark.usefixtures("location")
@pytest.mark.parametrize(
    "arguments",
    [
        ("region", "move", "pages,0"),
        ("region", "split", "pages,0", "--at", "c"),
        ("region", "merge", "pages,0", "pages,1"),
        ("balancer", "on"),
        ("balancer", "off"),
        ("balancer", "run"),
        ("snapshot", "take", "s", "pages"),
        ("snapshot", "list"),
        ("snapshot", "restore", "s", "--yes"),
        ("snapshot", "clone", "s", "t"),
        ("snapshot", "delete", "s", "--yes"),
    ],
    ids=" ".join,
)
def test_what_needs_a_cluster(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("webtable: the embedded store ")
    assert "hint: " in done.stderr


@pytest.mark.usefixtures("location")
def test_servers() -> None:
    (server,) = items("servers")
    assert (server["name"], server["regions"]) == ("embedded", 3)
    done = run("servers")
    assert done.stdout.splitlines()[1].split()[:2] == ["embedded", "3"]
    assert done.stderr == "master embedded; balancer off\n"
    (cluster,) = items("cluster")
    assert (cluster["master"], cluster["servers"], cluster["is_balancing"]) == (
        "embedded",
        1,
        False,
    )
    assert run("flush", "--server", "embedded").stderr == "embedded: flushed\n"
    assert run("flush", "--server", "nowhere").exit_code == 3
    assert run("flush", "pages", "--server", "embedded").exit_code == 2


@pytest.mark.usefixtures("location")
def test_namespaces() -> None:
    assert run("namespace", "create", "crawl").exit_code == 0
    assert run("namespace", "create", "crawl").exit_code == 4
    assert run("namespace", "create", "a-b").exit_code == 2
    assert run("table", "create", "crawl:pages", "f").exit_code == 0
    assert items("namespace", "list") == [
        {"name": "crawl", "tables": 1},
        {"name": "default", "tables": 1},
    ]
    assert items("namespace", "list", "--start", "d") == [{"name": "default", "tables": 1}]
    assert run("namespace", "drop", "crawl").exit_code == 2
    assert run("table", "drop", "crawl:pages", "--yes").exit_code == 0
    assert run("namespace", "drop", "crawl").exit_code == 0
    assert run("namespace", "drop", "crawl").exit_code == 3


@pytest.mark.usefixtures("location")
def test_compactions_of_a_family() -> None:
    done = run("compact", "pages", "--family", "content", "--minor")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith("pages: compacted, ")
    assert run("compact", "pages", "--no-wait").stderr.startswith("pages: to be compacted")
    assert run("compact", "pages", "--family", "nothing").exit_code == 3
    assert items("table", "compaction", "pages") == [{"table": "pages", "compaction": "NONE"}]


@pytest.mark.usefixtures("location")
def test_a_family_is_compacted_in_the_tables_that_have_it() -> None:
    assert run("table", "create", "alone", "single").exit_code == 0
    done = run("compact", "--family", "single")
    assert done.exit_code == 0
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["alone"]
    done = run("compact", "--family", "singel")
    assert done.exit_code == 3
    assert done.stderr.startswith("webtable: family 'singel' does not exist\nhint: ")
    assert "did you mean 'single'?" in done.stderr
    assert run("table", "drop", "alone", "--yes").exit_code == 0


@pytest.mark.parametrize("key", [b"plain", b"\x00\xff", b"a\\b", bytes(range(256)), "ü".encode()])
def test_row_keys_are_read_as_they_are_shown(key: bytes) -> None:
    assert ROW_KEY.convert(show_bytes(key), None, None) == key


@pytest.mark.parametrize(("text", "key"), [("ü", "ü".encode()), (r"\x", rb"\x"), ("", b"")])
def test_row_keys_as_they_are_typed(text: str, key: bytes) -> None:
    assert ROW_KEY.convert(text, None, None) == key
