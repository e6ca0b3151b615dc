"""The profile of a store of pages: changed by a schema update, on both engines."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import webtable
from tests.pages.upgrading.old_stores import unpack
from webtable.config import Config, FamilyOptions, SchemaUpdateOptions, TableOptions
from webtable.errors import FormatVersionError, InvalidRequest, NotFound, SchemaMismatch
from webtable.operations.schema_update import SchemaUpdate
from webtable.pages.schema import pages_schema
from webtable.store.scan import ALL_VERSIONS
from webtable.store.schema import TableSchema
from webtable.store.store import Store
from webtable.webtable import WebTable

DROPPING = Config(schema_update=SchemaUpdateOptions(drop_data=True))
DAY = 86_400
URL = "https://www.example.com/"


def filled(location: str) -> WebTable:
    """A store of pages in the profile `archive`, with versions that `live` does not keep."""
    web = WebTable.open(location, profile="archive")
    now = int(time.time())
    for age in (200, 100, 4, 3, 2, 1):
        body = f"<title>{age}</title><a href=/{age}>{age}</a>"
        web.put(URL, body, fetched=now - age * DAY)
    return web


def families(store: Store) -> TableSchema:
    return store.describe_table("webtable")


def wanted(store: Store, profile: str) -> TableSchema:
    is_embedded = store.capabilities.atomic_commits
    return pages_schema("live" if profile == "live" else "archive", is_embedded=is_embedded)


def bodies(web: WebTable) -> int:
    page = web.page(URL)
    assert page is not None
    row = web.store.table("webtable").get(page.row_key, (b"content:html",), versions=ALL_VERSIONS)
    return 0 if row is None else len(row)


def test_a_profile_is_changed_there_and_back(location: str) -> None:
    with filled(location) as web:
        store = web.store
        before = families(store)
        assert before == wanted(store, "archive")
        assert SchemaUpdate(store).diff().is_empty
        count = bodies(web)

        with pytest.raises(InvalidRequest, match=r"the profile 'live' drops data: [1-9]") as caught:
            SchemaUpdate(store).change_profile("live")
        assert "--drop-data" in caught.value.hint
        shown = SchemaUpdate(store).change_profile("live", dry_run=True)
        assert not shown.statements
        assert [each.switch for each in shown.withheld] == ["drop_data", "drop_data"]
        lost = shown.withheld[-1].lost_cells
        assert families(store) == before
        assert bodies(web) == count
        assert SchemaUpdate(store).diff().is_empty

        done = SchemaUpdate(store, DROPPING).change_profile("live")
        assert done.lost_cells == lost
        assert families(store) == wanted(store, "live")
        assert bodies(web) == 3
        assert SchemaUpdate(store).diff().is_empty
    with WebTable.open(location) as web:
        assert web.profile == "live"
        assert web.verify(quick=True).is_clean
        # To a profile that keeps more no switch is needed.
        SchemaUpdate(web.store).change_profile("archive")
        assert families(web.store) == before
        assert SchemaUpdate(web.store).diff().is_empty
    with WebTable.open(location, read_only=True) as web:
        assert web.profile == "archive"


def test_a_change_that_was_interrupted_is_completed_by_the_next_update(location: str) -> None:
    with filled(location) as web:
        store, count = web.store, bodies(web)
        # What the store is left with by a process that dies after the first statement.
        dropping = SchemaUpdate(store, DROPPING).change_profile("live", dry_run=True)
        first, second = dropping.statements
        first.run(store)
        assert families(store) == wanted(store, "archive")
        # Without its switch no data is dropped, only what keeps more is done.
        found = SchemaUpdate(store).apply()
        assert [each.switch for each in found.withheld] == ["drop_data"]
        assert bodies(web) == count
        assert "VERSIONS => 3" in second.text
        SchemaUpdate(store, DROPPING).apply()
        assert families(store) == wanted(store, "live")
        assert SchemaUpdate(store).diff().is_empty

        # The other way round nothing is dropped, whatever comes first.
        SchemaUpdate(store).change_profile("archive", dry_run=True).statements[0].run(store)
        assert families(store) == wanted(store, "live")
        SchemaUpdate(store).apply()
        assert families(store) == wanted(store, "archive")


def test_the_configuration_counts_before_the_profile(embedded: Store) -> None:
    location = embedded.location
    embedded.close()
    WebTable.create(location).close()
    declared = {"content": FamilyOptions(ttl_seconds=30 * DAY)}
    tables = {"webtable": TableOptions(families=declared)}
    config = Config(schema_update=SchemaUpdateOptions(drop_data=True), tables=tables)
    with webtable.open(location) as store:
        update = SchemaUpdate(store, config)
        update.change_profile("live")
        content, outlinks = (families(store).family(each) for each in ("content", "outlinks"))
        assert content is not None
        assert outlinks is not None
        assert (content.versions, content.ttl_seconds) == (3, 30 * DAY)
        assert outlinks.ttl_seconds == 180 * DAY
        assert update.diff().is_empty


def test_a_store_without_pages_has_no_profile(embedded: Store) -> None:
    with pytest.raises(NotFound, match="store of pages"):
        SchemaUpdate(embedded).change_profile("live")


def test_an_index_table_that_is_missing_is_created_and_must_be_built(location: str) -> None:
    with filled(location) as web:
        store = web.store
        store.drop_table("webtable_status_idx")
        store.drop_table("webindex_work")
        found = SchemaUpdate(store).apply()
        assert [each.text.partition(",")[0] for each in found.statements] == [
            "create 'webtable_status_idx'",
            "put 'webtable_settings'",
            "create 'webindex_work'",
        ]
        assert found.advice == (
            "table 'webtable_status_idx': fill it with `webtable index build webtable_status_idx`",
            "table 'webindex_work': fill it with `webtable links rebuild`",
        )
        assert SchemaUpdate(store).diff().is_empty
    with WebTable.open(location) as web:
        assert web.indexes()["webtable_status_idx"] == "building"
        assert not web.links.is_ready
        web.build_index("webtable_status_idx")
        web.rebuild_links()
        assert web.indexes()["webtable_status_idx"] == "ready"
        assert web.links.is_ready
        assert web.verify(quick=True).is_clean
        assert SchemaUpdate(web.store).diff().is_empty


@pytest.mark.parametrize(
    ("cell", "error"),
    [(b"3", FormatVersionError), (b"", SchemaMismatch)],
    ids=["earlier format", "interrupted creation"],
)
def test_pages_that_must_be_upgraded_or_completed_first_are_not_compared(
    embedded: Store, cell: bytes, error: type[Exception]
) -> None:
    location = embedded.location
    embedded.close()
    WebTable.create(location).close()
    with webtable.open(location) as store:
        store.table("webtable_settings").put(b"pages", {b"a:format": cell})
        with pytest.raises(error):
            SchemaUpdate(store).diff()
        with pytest.raises(error):
            SchemaUpdate(store).change_profile("live")


@pytest.mark.parametrize("keys", ["readable", "salted"])
@pytest.mark.parametrize("number", ["2", "3"])
def test_an_upgraded_store_has_the_declared_schema(tmp_path: Path, number: str, keys: str) -> None:
    location = unpack(number, keys, tmp_path)
    WebTable.upgrade(location)
    with webtable.open(location) as store:
        assert SchemaUpdate(store).diff().is_empty
