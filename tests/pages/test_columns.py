"""The names of the columns are on disk, and defined in one module only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import webtable
from webtable.pages import columns, schema
from webtable.store.schema import TableSchema

SOURCES = Path(webtable.__file__).parent
NAMES = {
    "BODY": b"content:html",
    "BODY_OF": b"content:digest",
    "CANONICAL": b"metadata:canonical",
    "CAPTURE": b"captures:",
    "CAPTURES_FAMILY": b"captures",
    "CHANGED": b"metadata:changed",
    "FACTS": b"facts:",
    "FACTS_FAMILY": b"facts",
    "CHARSET": b"metadata:charset",
    "DIGEST": b"metadata:digest",
    "FETCHED": b"metadata:fetched",
    "HEAD": b"http:",
    "HTTP_FAMILY": b"http",
    "INLINKS": b"metadata:inlinks",
    "INLINKS_AT": b"metadata:inlinks_at",
    "INLINK_COUNT": b"inlinks:count",
    "LAST_MODIFIED": b"metadata:last_modified",
    "LINKS": b"outlinks:urls",
    "LINKS_OF": b"outlinks:digest",
    "LINK_COUNT": b"outlinks:count",
    "METADATA": b"metadata:",
    "METADATA_FAMILY": b"metadata",
    "NEWEST": b"metadata:held",
    "OUTLINKS": b"metadata:outlinks",
    "PENDING": b"metadata:pending",
    "REDIRECT": b"metadata:redirect",
    "REMOVED": b"metadata:removed",
    "REVISION": b"metadata:rev",
    "ROBOTS": b"metadata:robots",
    "SIZE": b"metadata:size",
    "STATUS": b"metadata:status_code",
    "TITLE": b"metadata:title",
    "TYPE": b"metadata:type",
    "URL": b"metadata:url",
    "WAITS": b"metadata:waits",
}


def test_the_names_on_disk() -> None:
    assert {name: getattr(columns, name) for name in NAMES} == NAMES
    assert sorted([*NAMES, "METADATA_COLUMNS"]) == sorted(columns.__all__)
    assert len(set(columns.METADATA_COLUMNS)) == 13
    assert set(columns.METADATA_COLUMNS) < set(NAMES.values())


@pytest.mark.parametrize("profile", schema.PROFILES)
def test_every_column_is_in_a_family_of_the_schema(profile: schema.Profile) -> None:
    described: TableSchema = schema.pages_schema(profile, is_embedded=True)
    families = {name.partition(b":")[0].decode() for name in NAMES.values()}
    assert families == {family.name for family in described.families}


def test_no_other_module_spells_a_column_out() -> None:
    spelt = re.compile(rf'b"(?:{"|".join(name.decode() for name in NAMES.values())})"')
    # The link index has a family `inlinks` of its own; the tour shows a table of its own.
    own = {"pages/columns.py", "links/schema.py", "cli/development/tour_steps.py"}
    found = {
        str(file.relative_to(SOURCES)): spelt.findall(file.read_text())
        for file in SOURCES.rglob("*.py")
        if str(file.relative_to(SOURCES)) not in own
    }
    assert {file: each for file, each in found.items() if each} == {}
