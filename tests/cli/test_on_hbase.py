"""The same commands on a real HBase."""

from __future__ import annotations

import json
import uuid

import pytest
from click.testing import CliRunner, Result

import webtable
from webtable.cli.main import cli

pytestmark = pytest.mark.hbase


@pytest.fixture(scope="module")
def location(hbase_location: str) -> str:
    """A store of its own on the shared cluster, with one table."""
    location = f"{hbase_location}?namespace=cli_{uuid.uuid4().hex[:8]}"
    with webtable.open(location) as store:
        pages = store.create_table("pages", "anchor", "content")
        pages.put(b"com.example/", {b"content:title": b"Hello"})
    return location


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_the_tour_says_the_same_on_both_engines(location: str) -> None:
    embedded, cluster = run("tour"), run("tour", "--store", location)
    assert (embedded.exit_code, cluster.exit_code) == (0, 0)
    assert cluster.stdout == embedded.stdout
    assert "webtable_tour" not in run("tables", "--store", location).stdout


def test_tables(location: str) -> None:
    answer = json.loads(run("tables", "--store", location, "--format", "json").stdout)
    (pages,) = [item for item in answer["items"] if item["table"] == "pages"]
    assert (pages["table"], pages["families"]) == ("pages", ["anchor", "content"])


def test_flush_and_compact(location: str) -> None:
    for command in ("flush", "compact"):
        done = run(command, "pages", "--store", location)
        assert done.exit_code == 0
        assert done.stderr.startswith("pages: ")
    with webtable.open(location) as store:
        row = store.table("pages").get(b"com.example/")
    assert row is not None
    assert row.value(b"content:title") == b"Hello"


def test_regions_from_one_command_to_the_next(location: str) -> None:
    def items(*arguments: str) -> list[dict[str, object]]:
        done = run(*arguments, "--store", location, "--format", "jsonl")
        assert done.exit_code == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    assert run("table", "create", "links", "f", "--split", "m", "--store", location).exit_code == 0
    low, high = items("regions", "links")
    assert (low["state"], low["compaction"], low["store_files"]) == ("OPEN", "NONE", 0)
    (merged,) = items("region", "merge", str(high["name"]), str(low["name"]))
    assert (merged["start"], merged["stop"]) == ("", "")
    first, second = items("region", "split", str(merged["name"]), "--at", r"k\x00")
    assert (first["stop"], second["start"]) == (r"k\x00", r"k\x00")
    assert run("region", "show", str(merged["name"]), "--store", location).exit_code == 3
    assert len(items("servers")) == items("cluster")[0]["servers"]
    assert run("table", "drop", "links", "--yes", "--store", location).exit_code == 0


def test_snapshots(location: str) -> None:
    name = f"cli_{uuid.uuid4().hex[:8]}"

    def run_on(*arguments: str) -> Result:
        return run(*arguments, "--store", location)

    assert run_on("snapshot", "take", name, "pages").exit_code == 0
    assert run_on("snapshot", "take", name, "pages").exit_code == 4
    assert name in run_on("snapshot", "list").stdout
    assert run_on("snapshot", "restore", name, "--yes").exit_code == 2
    assert run_on("snapshot", "clone", name, "copy").exit_code == 0
    assert run_on("snapshot", "delete", name, "--yes").exit_code == 0
    assert run_on("snapshot", "delete", name, "--yes").exit_code == 3
    with webtable.open(location) as store:
        assert [row.key for row in store.table("copy").scan()] == [b"com.example/"]
    assert run_on("table", "drop", "copy", "--yes").exit_code == 0


def test_an_unknown_table(location: str) -> None:
    done = run("stats", "pagse", "--store", location)
    assert done.exit_code == 3
    assert "did you mean 'pages'?" in done.stderr


def test_what_only_the_embedded_store_can_do(location: str) -> None:
    assert run("checkpoint", "somewhere", "--store", location).exit_code == 2


def test_a_cluster_that_does_not_respond() -> None:
    # Nothing listens on port 1 of this machine.
    done = run("tables", "--store", "hbase://127.0.0.1:1", "--format", "json")
    assert done.exit_code == 5
    assert json.loads(done.stderr)["code"] == "server-unavailable"
