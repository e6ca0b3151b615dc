"""Small stores that earlier formats wrote, and what a fresh load of their crawl has.

On-disk: the archives in `tests/golden/pages` are never written again. A new format gets one of its
own, made from `crawl.jsonl` by the last version of webtable that wrote that format.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

from click.testing import CliRunner, Result

import webtable
from webtable import ALL_VERSIONS, Store, WebTable
from webtable.cli.main import cli

__all__ = ["FORMATS", "KEYS", "copy_to", "entries", "fresh", "run", "unpack", "visible"]

GOLDEN = Path(__file__).parents[2] / "golden" / "pages"
FORMATS, KEYS = ("2", "3"), ("readable", "salted")
CRAWL = GOLDEN / "crawl.jsonl"
REPORTS = ("errors", "redirects", "largest", "modified", "duplicates", "dead-ends", "inlinked")
SEEN = ("fetched", "status", "size", "type", "digest", "redirect", "last_modified", "kind")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def unpack(written: str, keys: str, folder: Path) -> str:
    """Returns the location of a store of a format."""
    with tarfile.open(GOLDEN / f"format-{written}.tar.xz") as archive:
        archive.extractall(folder / f"format-{written}", filter="data")
    return str(folder / f"format-{written}" / keys)


def fresh(keys: str, folder: Path) -> str:
    """Returns the location of a new store with the same crawl."""
    location = str(folder / "fresh")
    made = run("init", "--store", location, "--keys", keys, "--profile", "archive")
    assert made.exit_code == 0, made.output
    loaded = run("load", "--store", location, "--workers", "0", str(CRAWL))
    assert loaded.exit_code == 0, loaded.output
    return location


def visible(location: str) -> dict[str, str]:
    """Returns what queries of a store show: pages, bodies, histories, reports and links."""
    found: dict[str, str] = {}
    with WebTable.open(location, create=False, read_only=True) as web:
        urls = [page.url for page in web.pages()]
        for url in urls:
            # Earlier formats do not have the origins of captures.
            history = [
                {k: v for k, v in c.to_dict().items() if k in SEEN} for c in web.history(url)
            ]
            found[f"history {url}"] = json.dumps(history)
            found[f"body {url}"] = repr(web.body(url))
            found[f"facts {url}"] = repr(web.facts(url))
    for command in (
        *(("page", url) for url in urls),
        *(("links", direction, url) for direction in ("in", "out") for url in urls),
        *(("report", name) for name in REPORTS),
        *(("report", name, "--domain", "example.com") for name in REPORTS),
        ("links", "top"),
    ):
        shown = run(*command, "--store", location, "--format", "json")
        assert shown.exit_code in (0, 3), (command, shown.output)
        found[" ".join(command)] = shown.stdout
    return found


def entries(location: str) -> dict[str, list[bytes]]:
    """Returns the keys of all index tables, without revisions."""
    with webtable.open(location, read_only=True) as store:
        tables = [name for name in store.tables() if name.endswith("_idx")]
        found = {name: [row.key for row in store.table(name).scan()] for name in tables}
    for name in ("webtable_change_idx", "webindex_change_idx"):
        changes = found.pop(name, [])
        found[f"rows of {name}"] = sorted(key.partition(b"_")[2] for key in changes)
    return found


def copy_to(location: str, other: Store) -> None:
    """Copies a small embedded store, cell by cell, into an empty store on a cluster."""
    with webtable.open(location, read_only=True) as store:
        for name in store.tables():
            described = store.describe_table(name)
            families = [
                webtable.Family(name=each.name, versions=each.versions)
                for each in described.families
            ]
            schema = webtable.TableSchema(
                name=name, families=tuple(families), attributes=described.attributes
            )
            table = other.create_table(schema)
            with table.batch() as batch:
                for row in store.table(name).scan(versions=ALL_VERSIONS):
                    for cell in row:
                        batch.put(row.key, {cell.column: cell.value}, timestamp=cell.timestamp)
