"""Stores that earlier formats wrote are upgraded, also by an upgrade that was killed or stopped."""

from __future__ import annotations

import calendar
import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import webtable
from tests.pages.loading.commands import KILLED, KilledCommands
from tests.pages.upgrading.old_stores import (
    CRAWL,
    FORMATS,
    KEYS,
    copy_to,
    entries,
    fresh,
    run,
    unpack,
    visible,
)
from webtable import Family, Store, TableSchema, WebTable
from webtable.errors import CheckFailed
from webtable.index.index_and_change import state_setting
from webtable.links.feed_backfill import LINK_STEPS
from webtable.pages.body_facts import PageFacts, decode_facts
from webtable.pages.indexes import DIGESTS
from webtable.pages.settings import STEPS, read_settings
from webtable.pages.storing.capture_parser import parse_stored
from webtable.pages.upgrading.upgrade import upgrade

SOAK = bool(os.environ.get("WEBTABLE_SOAK"))
UPGRADE = ("upgrade", "--format", "json", "--store")


def check_verified(location: str) -> None:
    verified = run("verify", "--store", location, "--format", "json")
    assert verified.exit_code == 0, verified.output
    report = json.loads(verified.stdout)
    assert report["pages"] == 9
    assert [report[each] for each in ("leftovers", "young", "pending", "link_work")] == [0] * 4


def check_upgraded(location: str, expected: str) -> None:
    """A store that was upgraded does not differ from a fresh one in what it has and shows."""
    check_verified(location)
    assert entries(location) == entries(expected)
    assert visible(location) == visible(expected)
    with (
        webtable.open(location, read_only=True) as store,
        webtable.open(expected, read_only=True) as other,
    ):
        settings, there = (dict(read_settings(each)) for each in (store, other))
        assert settings.pop(b"a:incarnation") != there.pop(b"a:incarnation")
        # The suffix list is that of its creation.
        assert settings | {b"a:suffixes": b""} == there | {b"a:suffixes": b""}
        assert store.tables() == other.tables()
        for name in store.tables():
            assert store.describe_table(name) == other.describe_table(name)
            regions, expect = (each.table(name).regions() for each in (store, other))
            assert [each.start for each in regions] == [each.start for each in expect]


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("written", FORMATS)
def test_a_store_of_an_earlier_format_is_upgraded(tmp_path: Path, written: str, keys: str) -> None:
    location = unpack(written, keys, tmp_path)
    asked = run("pages", "example.com", "--store", location)
    assert asked.exit_code == 6
    assert f"webtable upgrade --store {location}" in asked.stderr
    done = run("upgrade", "--store", location, "--format", "json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["format"], report["steps"]) == ("4", list(STEPS))
    assert "upgrade step buckets" in done.stderr
    check_upgraded(location, fresh(keys, tmp_path))
    again = run("upgrade", "--store", location, "--format", "json")
    assert (again.exit_code, json.loads(again.stdout)["steps"]) == (0, [])
    assert "has format 4 already" in again.stderr
    # Loading goes on as before: the crawl is known already.
    loaded = run("load", "--store", location, "--workers", "0", str(CRAWL), "--format", "json")
    assert loaded.exit_code == 0, loaded.output
    assert [json.loads(loaded.stdout)[each] for each in ("new", "changed")] == [0, 0]
    check_verified(location)


@pytest.mark.parametrize("keys", KEYS)
def test_a_store_of_format_1_is_upgraded(tmp_path: Path, keys: str) -> None:
    """The digest index of format 1 has no marks, and with salted keys its entries have salts."""
    location = unpack("2", keys, tmp_path)
    with webtable.open(location) as store:
        rows = list(store.table(DIGESTS).scan(columns=(b"ref",)))
        store.drop_table(DIGESTS)
        attributes = {state_setting(DIGESTS): "ready"}
        family = Family(name="ref")
        store.create_table(TableSchema(name=DIGESTS, families=(family,), attributes=attributes))
        for row in rows:
            page = row.value(b"ref:rowkey") or b""
            salt = page[:3] if keys == "salted" else b""
            store.table(DIGESTS).put(salt + row.key, {b"ref:rowkey": page})
        settings = store.table("webtable_settings")
        settings.delete(b"pages", (b"a:groups",))
        settings.put(b"pages", {b"a:format": b"1"})
    with webtable.open(location) as store:
        report = upgrade(store, parse_stored, LINK_STEPS)
    assert report.pages == 36  # by four steps
    check_upgraded(location, fresh(keys, tmp_path))


def test_an_index_that_was_rebuilt_with_seconds_is_kept(tmp_path: Path) -> None:
    location = unpack("3", "readable", tmp_path)
    with webtable.open(location) as store:
        (before,) = store.table("webtable").scan(limit=1)
        report = upgrade(store, parse_stored, LINK_STEPS)
        assert (report.steps, report.pages) == (list(STEPS), 27)  # by three steps
        (after,) = store.table("webtable").scan(limit=1)
        new = {column: after.value(column) for column in (b"metadata:changed", b"metadata:rev")}
        seen = {c: v for c, v in after.values().items() if not c.startswith(b"facts:")}
        assert {**before.values(), **new} == seen


def test_the_charset_of_a_header_decodes_the_newest_body(tmp_path: Path) -> None:
    location = unpack("3", "readable", tmp_path)
    body = "<title>t</title><p>größe größe".encode("cp1252")
    with webtable.open(location) as store:
        table = store.table("webtable")
        (row,) = table.scan(limit=1)
        at = {column: timestamp for column, timestamp, _, _ in row.raw_cells}
        for column, value in ((b"metadata:charset", b"windows-1252"), (b"content:html", body)):
            table.put(row.key, {column: value}, timestamp=at[column])
        upgrade(store, parse_stored, LINK_STEPS)
        (row,) = table.scan(limit=1)
        cell = row.value(b"facts:" + (row.value(b"metadata:digest") or b""))
    assert cell is not None
    facts = decode_facts(cell)
    assert isinstance(facts, PageFacts)
    assert (facts.charset, facts.words) == ("windows-1252", 2)


def test_revisits_without_a_body_wait_for_it(tmp_path: Path) -> None:
    location = unpack("3", "readable", tmp_path)
    digest = "sha1:AHFLMGS6U5PMKDWR4MZINQ6Y3M3WPHE2"  # not of the newest capture of its page
    at = calendar.timegm((2026, 8, 10, 12, 0, 0))
    with webtable.open(location) as store:
        column = f"captures:20260810120000_{digest}".encode()
        store.table("webtable").put(
            b"com.example_home", {column: b"revisit\t200\t0\t\t\t"}, timestamp=at * 1000
        )
    upgraded = run("upgrade", "--store", location)
    assert upgraded.exit_code == 0, upgraded.output
    check_verified(location)
    with WebTable.open(location, create=False, read_only=True) as web:
        assert web.body("https://example.com/", as_of="2026-08-10T12:00:00Z") is None
    repaired = run("verify", "--repair", "--store", location, "--format", "json")
    assert (repaired.exit_code, json.loads(repaired.stdout)["repaired"]) == (0, 1), repaired.output
    with WebTable.open(location, create=False, read_only=True) as web:
        body = web.body("https://example.com/", as_of="2026-08-10T12:00:00Z")
        assert body == web.body("https://other.org/", as_of="2026-09-01T12:00:00Z")
        assert body is not None


@pytest.fixture(scope="module")
def commands() -> Iterator[KilledCommands]:
    started = KilledCommands()
    yield started
    started.close()


@pytest.mark.parametrize("keys", KEYS)
def test_an_upgrade_that_was_killed_continues(
    commands: KilledCommands, tmp_path: Path, keys: str
) -> None:
    location, expected = unpack("2", keys, tmp_path), fresh(keys, tmp_path)
    undisturbed = str(tmp_path / "undisturbed")
    shutil.copytree(location, undisturbed)
    assert commands.run(0, *UPGRADE, undisturbed) == 0
    steps = commands.steps
    assert steps > 20
    known = entries(expected)
    for last in range(1, steps + 1) if SOAK else range(2, steps + 1, steps // 6):
        killed = str(tmp_path / f"killed{last}")
        shutil.copytree(location, killed)
        assert commands.run(last, *UPGRADE, killed) == KILLED
        # Killed a second time, at another step.
        commands.run(max(1, (last * 7) % steps), *UPGRADE, killed)
        done = run("upgrade", "--store", killed)
        assert done.exit_code == 0, done.output
        assert entries(killed) == known, last
        check_verified(killed)
        shutil.rmtree(killed)
    assert entries(undisturbed) == known


class Stopped(Exception):
    pass


def stop_after(calls: int) -> object:
    """Returns a function that is called with progress, and stops the upgrade."""
    left = calls

    def on_progress(_: str, __: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Stopped

    return on_progress


def interrupt(store: Store) -> int:
    """Stops an upgrade at every call of its progress in turn; returns how often it was stopped."""
    for calls in range(50):
        try:
            upgrade(store, parse_stored, LINK_STEPS, on_progress=stop_after(calls))  # type: ignore[arg-type]
        except Stopped:
            continue
        return calls
    raise AssertionError("it never ends")


def test_an_upgrade_that_was_stopped_continues_at_its_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtable.index.build_and_verify._BATCH", 2)
    location = unpack("3", "salted", tmp_path)
    with webtable.open(location) as store:
        assert interrupt(store) >= 2
        seen: list[int] = []
        upgrade(store, parse_stored, LINK_STEPS, on_progress=lambda _, pages: seen.append(pages))
        assert seen == []
    check_upgraded(location, fresh("salted", tmp_path))


def test_two_upgrades_at_once_do_no_harm(tmp_path: Path) -> None:
    location = unpack("3", "salted", tmp_path)
    with webtable.open(location) as store:

        def begin_another(_: str, pages: int) -> None:
            if pages == 0 and b"a:upgrade_row" not in read_settings(store):
                upgrade(store, parse_stored, LINK_STEPS)

        with pytest.raises(CheckFailed, match="another process upgrades"):
            upgrade(store, parse_stored, LINK_STEPS, on_progress=begin_another)
        upgrade(store, parse_stored, LINK_STEPS)
    check_upgraded(location, fresh("salted", tmp_path))


def test_what_cannot_be_upgraded(tmp_path: Path) -> None:
    empty = str(tmp_path / "empty")
    webtable.open(empty).close()
    refused = run("upgrade", "--store", empty)
    assert (refused.exit_code, "webtable init" in refused.stderr) == (3, True)
    assert run("upgrade", "--store", str(tmp_path / "none")).exit_code == 3
    assert not (tmp_path / "none").exists()


@pytest.mark.hbase
def test_on_a_cluster_an_upgrade_that_was_stopped_continues(
    tmp_path: Path, hbase_location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webtable.index.build_and_verify._BATCH", 4)
    location = f"{hbase_location}?namespace=u{uuid.uuid4().hex[:8]}"
    with webtable.open(location) as store:
        copy_to(unpack("2", "salted", tmp_path), store)
        assert interrupt(store) >= 2
    assert WebTable.upgrade(location).steps == []
    check_verified(location)
    expected = fresh("salted", tmp_path)
    assert entries(location) == entries(expected)
    assert visible(location) == visible(expected)
    with webtable.open(location) as store:
        assert len(store.table("webtable_time_idx").regions()) == 16
        for name in store.tables():
            store.drop_table(name)


@pytest.mark.hbase
def test_on_a_cluster_an_upgrade_that_was_killed_continues(
    tmp_path: Path, hbase_location: str
) -> None:
    location = f"{hbase_location}?namespace=u{uuid.uuid4().hex[:8]}"
    with webtable.open(location) as store:
        copy_to(unpack("2", "salted", tmp_path), store)
    # Killed twice in each step, as soon as it prints the name of the step.
    for step in (*STEPS, *STEPS):
        with subprocess.Popen(
            [sys.executable, "-m", "webtable", *UPGRADE, location],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as killed:
            assert killed.stderr is not None
            for line in killed.stderr:
                if f"step {step}" in line:
                    break
            killed.kill()
    assert run("upgrade", "--store", location).exit_code == 0
    check_verified(location)
    expected = fresh("salted", tmp_path)
    assert entries(location) == entries(expected)
    with WebTable.open(location, create=False) as web:
        fed = [each.url for each in web.changes()]
        assert sorted(fed) == sorted(page.url for page in web.pages())
    with webtable.open(location) as store:
        for name in store.tables():
            store.drop_table(name)
