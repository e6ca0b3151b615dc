"""Administration that every engine has: tables in and out of service, namespaces, upkeep."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import webtable
from webtable import ALL_VERSIONS, Admin, Store
from webtable.errors import (
    AlreadyExists,
    FamilyNotFound,
    InvalidRequest,
    NotFound,
    ReadOnly,
    StoreClosed,
    TableDisabled,
    TableExists,
    TableNotFound,
    UsageError,
)
from webtable.local.processes import wait_until


def test_a_disabled_table_is_out_of_service_until_it_is_enabled(
    store: Store, new_name: str
) -> None:
    table = store.create_table(new_name, "f")
    table.put(b"row", {b"f:a": b"1"})
    assert store.admin.is_enabled(new_name)
    store.admin.disable_table(new_name)
    store.admin.disable_table(new_name)
    assert not store.admin.is_enabled(new_name)
    for use in (
        lambda: table.get(b"row"),
        lambda: table.put(b"row", {b"f:a": b"2"}),
        lambda: list(table.scan()),
        table.flush,
        table.major_compact,
        lambda: store.admin.compaction_state(new_name),
    ):
        with pytest.raises(TableDisabled) as caught:
            use()
        assert str(caught.value) == f"table '{new_name}' is disabled; enable it first"
    assert new_name in store.tables()
    assert [family.name for family in table.schema().families] == ["f"]
    with pytest.raises(TableExists):
        store.create_table(new_name, "f")
    (region,) = table.regions()
    assert (region.server, region.state) == (None, "CLOSED")
    store.admin.enable_table(new_name)
    store.admin.enable_table(new_name)
    found = table.get(b"row")
    assert found is not None
    assert found.values() == {b"f:a": b"1"}


def test_a_disabled_table_can_be_altered_truncated_and_dropped(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, "f")
    table.put(b"row", {b"f:a": b"1"})
    store.admin.disable_table(new_name)
    store.alter_table(table.schema().with_family(webtable.Family(name="g")))
    store.truncate_table(new_name)
    assert not store.admin.is_enabled(new_name)
    store.admin.enable_table(new_name)
    assert list(table.scan()) == []
    table.put(b"row", {b"g:a": b"1"})
    store.admin.disable_table(new_name)
    store.drop_table(new_name)
    assert new_name not in store.tables()


def test_namespaces_come_and_go(store: Store, new_name: str) -> None:
    store.admin.create_namespace(new_name)
    with pytest.raises(AlreadyExists, match=f"namespace '{new_name}' exists already"):
        store.admin.create_namespace(new_name)
    namespaces = store.admin.namespaces()
    assert namespaces == sorted(namespaces)
    assert (new_name, 0) in namespaces
    assert "default" in {each.name for each in namespaces}
    store.admin.drop_namespace(new_name)
    assert new_name not in {each.name for each in store.admin.namespaces()}
    with pytest.raises(NotFound, match=f"namespace '{new_name}' does not exist"):
        store.admin.drop_namespace(new_name)
    with pytest.raises(InvalidRequest, match="'default' is the"):
        store.admin.drop_namespace("default")


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a-b", "a.b", "ä", "x" * 101])
def test_namespace_names_that_are_none(store: Store, name: str) -> None:
    for use in (store.admin.create_namespace, store.admin.drop_namespace):
        with pytest.raises(InvalidRequest):
            use(name)


def test_regions_are_found_by_table_by_name_and_by_server(store: Store, new_name: str) -> None:
    store.create_table(new_name, "f", splits=[b"g", b"p"])
    regions = store.admin.regions(new_name)
    assert regions == store.table(new_name).regions()
    assert [(region.table, region.state) for region in regions] == [(new_name, "OPEN")] * 3
    assert [region.holds(b"h") for region in regions] == [False, True, False]
    alive = {server.name for server in store.admin.servers()}
    assert {region.server for region in regions} <= alive
    for region in regions:
        found = store.admin.region(region.name)
        assert (found.table, found.start, found.stop) == (new_name, region.start, region.stop)
        assert region.server is not None
        there = store.admin.regions(new_name, server=region.server)
        assert region.name in {each.name for each in there}
    everywhere = store.admin.regions()
    assert [each.name for each in everywhere if each.table == new_name] == [
        each.name for each in regions
    ]
    assert {each.table for each in everywhere} == set(store.tables())


def test_the_report_counts_the_regions_of_a_server(store: Store, new_name: str) -> None:
    store.create_table(new_name, "f", splits=[b"g"])

    def is_reported() -> bool:  # servers report every now and then
        report = store.admin.report()
        assert report.master
        assert list(report.servers) == sorted(report.servers)
        return all(
            0 < server.started_ms <= (server.reported_ms or 0)
            and server.regions >= len(store.admin.regions(server=server.name))
            for server in report.servers
        )

    assert wait_until(is_reported, 20)


def test_what_is_kept_in_memory_goes_to_files(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, "f", splits=[b"m"])
    flushes: list[Callable[[], None]] = [
        table.flush,
        lambda: store.admin.flush_region(table.regions()[1]),
        lambda: store.admin.flush_region(table.regions()[1].name),
        lambda: store.admin.flush_server(table.regions()[1].server or ""),
    ]
    for flush in flushes:
        before = table.stats().families[0].files
        table.put(b"x", {b"f:a": b"1"})
        flush()
        after = table.stats().families[0].files
        assert before is not None
        assert after is not None
        assert after == before + 1


def test_compactions_of_a_table_a_family_and_a_region(store: Store, new_name: str) -> None:
    table = store.create_table(new_name, "f", "g")

    def hide() -> None:
        for family in (b"f", b"g"):
            table.put(b"row", {family + b":a": b"1"}, timestamp=1)
        table.delete(b"row", timestamp=1)

    def stored() -> set[bytes]:
        rows = table.scan(raw=True, versions=ALL_VERSIONS)
        return {cell.column[:1] for row in rows for cell in row}

    hide()
    store.admin.compact(new_name)
    assert stored() == {b"f", b"g"}
    store.admin.compact(new_name, "f", major=True)
    assert stored() == {b"g"}
    store.admin.compact(new_name, major=True)
    assert stored() == set()
    hide()
    (region,) = table.regions()
    store.admin.compact_region(region.name, "g", major=True)
    assert stored() == {b"f"}
    for _ in store.admin.compact_in_steps(new_name, "f"):
        pass
    assert stored() == set()
    store.admin.compact_region(region, major=True)
    assert stored() == set()
    assert store.admin.compaction_state(new_name) == "NONE"
    with pytest.raises(FamilyNotFound, match="has: f, g"):
        store.admin.compact(new_name, "h")
    with pytest.raises(FamilyNotFound):
        store.admin.compact_region(region, "h", major=True, wait=False)


BY_TABLE: dict[str, Callable[[Admin, str], object]] = {
    "enable": lambda admin, name: admin.enable_table(name),
    "disable": lambda admin, name: admin.disable_table(name),
    "is enabled": lambda admin, name: admin.is_enabled(name),
    "regions": lambda admin, name: admin.regions(name),
    "stats": lambda admin, name: admin.stats(name),
    "flush": lambda admin, name: admin.flush(name),
    "compact": lambda admin, name: admin.compact(name),
    "compaction state": lambda admin, name: admin.compaction_state(name),
}


@pytest.mark.parametrize("what", BY_TABLE)
def test_an_unknown_table(store: Store, what: str) -> None:
    with pytest.raises(TableNotFound, match="did you mean 'shared'"):
        BY_TABLE[what](store.admin, "sharde")


BY_REGION: dict[str, Callable[[Admin, str], object]] = {
    "region": lambda admin, name: admin.region(name),
    "flush": lambda admin, name: admin.flush_region(name),
    "compact": lambda admin, name: admin.compact_region(name),
}


@pytest.mark.parametrize("what", BY_REGION)
@pytest.mark.parametrize("name", ["", "0123456789abcdef0123456789abcdef", "shared,7", "a b"])
def test_an_unknown_region(store: Store, what: str, name: str) -> None:
    with pytest.raises(NotFound, match=f"region '{name}' does not exist") as caught:
        BY_REGION[what](store.admin, name)
    assert caught.value.code == "not-found"


@pytest.mark.parametrize("name", ["", "nowhere", "nowhere:16020", "nowhere,16020,1"])
def test_an_unknown_server(store: Store, name: str) -> None:
    known = store.admin.servers()[0].name
    with pytest.raises(
        NotFound, match=f"server '{name}' does not exist; known servers: "
    ) as caught:
        store.admin.flush_server(name)
    assert known in caught.value.hint
    with pytest.raises(NotFound):
        store.admin.regions(server=name)


@pytest.mark.parametrize(
    "use",
    [
        lambda admin: admin.region(7),
        lambda admin: admin.flush_region(None),
        lambda admin: admin.compact_region(b"shared,0"),
        lambda admin: admin.regions(7),
        lambda admin: admin.regions("shared", server=7),
        lambda admin: admin.flush_server(None),
        lambda admin: admin.flush(b"shared"),
        lambda admin: admin.is_enabled(None),
        lambda admin: admin.compact("shared", b"one"),
        lambda admin: admin.compact("shared", 7, major=True),
        lambda admin: admin.create_namespace(7),
        lambda admin: admin.drop_namespace(None),
    ],
)
def test_arguments_of_the_wrong_kind(store: Store, use: Callable[[Admin], object]) -> None:
    with pytest.raises(UsageError):
        use(store.admin)


CLUSTER: dict[str, Callable[[Admin], object]] = {
    "move": lambda admin: admin.move("shared,0"),
    "split": lambda admin: admin.split("shared"),
    "split region": lambda admin: admin.split_region("shared,0", b"m"),
    "merge": lambda admin: admin.merge(["shared,0", "shared,1"]),
    "switch balancer": lambda admin: admin.switch_balancer(on=True),
    "balance": lambda admin: admin.balance(),
}
SNAPSHOTS: dict[str, Callable[[Admin], object]] = {
    "list": lambda admin: admin.snapshots(),
    "take": lambda admin: admin.take_snapshot("s", "shared"),
    "restore": lambda admin: admin.restore_snapshot("s"),
    "clone": lambda admin: admin.clone_snapshot("s", "t"),
    "delete": lambda admin: admin.delete_snapshot("s"),
}


def test_what_only_a_cluster_can_do_is_rejected(rocks_store: Store) -> None:
    assert not rocks_store.capabilities.cluster
    assert not rocks_store.capabilities.snapshots
    for use in (*CLUSTER.values(), *SNAPSHOTS.values()):
        with pytest.raises(InvalidRequest, match="the embedded store") as caught:
            use(rocks_store.admin)
        assert caught.value.hint


def test_a_store_for_reading_only(open_another: Callable[[], Store], new_name: str) -> None:
    store = open_another()
    store.create_table(new_name, "f")
    with webtable.open(store.location, read_only=True) as reader:
        assert reader.admin.is_enabled(new_name)
        (region,) = reader.admin.regions(new_name)
        changes: list[Callable[[], None]] = [
            lambda: reader.admin.disable_table(new_name),
            lambda: reader.admin.enable_table(new_name),
            lambda: reader.admin.create_namespace("other"),
            lambda: reader.admin.flush(new_name),
            lambda: reader.admin.flush_region(region),
            lambda: reader.admin.flush_server(region.server or ""),
            lambda: reader.admin.compact(new_name),
            lambda: reader.admin.compact_region(region),
        ]
        for change in changes:
            with pytest.raises(ReadOnly):
                change()
        store.admin.disable_table(new_name)
        reader.refresh()
        assert not reader.admin.is_enabled(new_name)
        with pytest.raises(TableDisabled):
            reader.table(new_name).get(b"row")


def test_a_closed_store_says_so(open_another: Callable[[], Store]) -> None:
    store = open_another()
    admin = store.admin
    store.close()
    for call in (
        lambda: admin.regions("shared"),
        lambda: admin.is_enabled("shared"),
        lambda: admin.disable_table("shared"),
        admin.namespaces,
        admin.report,
        lambda: admin.flush("shared"),
    ):
        with pytest.raises(StoreClosed):
            call()
