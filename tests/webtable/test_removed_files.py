"""After a purge and a major compaction, no file of the store has the content of a removed page."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

import pytest
from msgspec.structs import replace

from webtable import WebTable
from webtable.pages.removing import purge
from webtable.store.scan import ALL_VERSIONS, Scan

TITLE, BODY, HEADER, FACT = "Zugvogel17", "Quittenmus23", "Federkiel31", "Wolkenrand47"
WORDS = [word.encode() for word in (TITLE, BODY, HEADER, FACT)]
HTML = (
    f"<html><head><title>{TITLE}</title><meta name=description content='{FACT}'></head>"
    f"<body><h1>{FACT}</h1><p>{BODY}</p><a href='/next'>next</a></body></html>"
)
HEADERS = [("Content-Type", "text/html"), ("X-Mark", HEADER)]


def uncompressed(web: WebTable) -> None:
    """Stores cells as they are, so that a search of the files can find them."""
    for name in web.store.tables():
        schema = web.store.describe_table(name)
        families = tuple(replace(each, compression="NONE") for each in schema.families)
        web.store.alter_table(replace(schema, families=families))


def fill(web: WebTable) -> None:
    web.put("https://gone.example/a", HTML, headers=HEADERS, fetched="2026-09-01T12:00:00Z")
    web.put("https://gone.example/a", HTML + "<p>more", headers=HEADERS)
    web.put("https://stays.example/", "<title>Stays</title><a href='https://gone.example/a'>x</a>")


def words_in(folder: Path) -> dict[str, list[bytes]]:
    """Returns the words that the files of a folder have, by the names of the files."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if there := [word for word in WORDS if word in data]:
                found[str(path.relative_to(folder))] = there
    return found


@pytest.mark.parametrize("keys", ["readable", "salted"])
def test_files_of_an_embedded_store(tmp_path: Path, keys: str) -> None:
    store = tmp_path / "store"
    with WebTable.create(store, keys=keys) as web:  # type: ignore[arg-type]
        uncompressed(web)
        fill(web)
        for name in web.store.tables():
            web.store.table(name).flush()
    before = {word for words in words_in(store).values() for word in words}
    assert before == set(WORDS)  # the search finds them while they are stored
    with WebTable.open(store) as web:
        web.remove("gone.example")
        assert web.removals.purge().purged == 1
        for name in web.store.tables():
            web.store.table(name).flush()
            web.store.admin.compact(name, major=True, wait=True)
        shutil.copytree(store, tmp_path / "copy")  # as it is while the store is open
    assert words_in(tmp_path / "copy") == {}
    assert words_in(store) == {}


@pytest.mark.hbase
def test_stored_cells_on_hbase(hbase_location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads every cell and marker of the files that serve reads, also hidden ones.

    The files that a compaction replaced, and write-ahead logs, are deleted later by HBase itself.
    """
    monkeypatch.setattr(purge, "_WAIT_MS", -1)  # no writer is late here
    location = f"{hbase_location}?namespace=f{uuid.uuid4().hex[:8]}"
    with WebTable.create(location, keys="readable") as web:
        fill(web)
        assert words_in_cells(web) == set(WORDS)
        web.remove("gone.example")
        assert words_in_cells(web) == set(WORDS)  # hidden by markers
        assert web.removals.purge().purged == 1
        for name in web.store.tables():
            web.store.table(name).flush()
            web.store.admin.compact(name, major=True, wait=True)
        assert words_in_cells(web) == set()
        assert web.verify().is_clean
        assert web.put("https://gone.example/a", HTML, fetched="2026-09-01T12:00:00Z") == "new"
        page = web.page("https://gone.example/a")
        assert page is not None
        assert page.title == TITLE


def words_in_cells(web: WebTable) -> set[bytes]:
    """Returns the words in all stored cells of a store, hidden ones among them."""
    found: set[bytes] = set()
    for name in web.store.tables():
        for row in web.store.table(name).scan(Scan(raw=True, versions=ALL_VERSIONS)):
            for column, _, value, _ in row.raw_cells:
                found.update(word for word in WORDS if word in value or word in column)
    return found
