"""Wide rows of links, read a piece at a time."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import webtable
from webtable import Table
from webtable.links import schema
from webtable.links.asking.link_reader import LinkReader
from webtable.links.link_index import LinkIndex
from webtable.pages.asking.paged_results import QueryCost
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored

URIS = [b"com.example/%d" % n for n in range(12)]


def linked(index: LinkIndex, chance: random.Random) -> None:
    """Writes links to pages, of which most sources do not link there any more."""
    for uri in URIS:
        for shard in range(index.shards):
            states = (b"-", b"-", b"+\tx")
            sources = {
                b"inlinks:org.s%04d/" % chance.randrange(9_999): chance.choice(states)
                for _ in range(chance.choice((0, 3, 40, 200)))
            }
            if sources:
                index.table.put(schema.shard_row(b"p:", uri, shard), sources)


@pytest.mark.parametrize("shards", [1, 4])
def test_first_sources_are_those_of_a_whole_read(
    tmp_path: Path, shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with webtable.open(str(tmp_path / "store")) as store:
        index = LinkIndex.create(PageTable.create(store, parse_stored))
        index.shards = shards
        linked(index, random.Random(shards))
        reader = LinkReader(index, QueryCost())
        calls = []
        get_many = Table.get_many

        def counted(*arguments: Any, **options: Any) -> Any:
            calls.append(arguments)
            return get_many(*arguments, **options)

        monkeypatch.setattr(Table, "get_many", counted)
        found = reader.first_sources(URIS, 10)
        assert len(calls) < 8  # one for all pages at a time
        assert found == [list(reader.sources(uri))[:10] for uri in URIS]
