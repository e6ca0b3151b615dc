"""One side of a comparison of two checkouts: runs named steps, prints their processor time.

`python -m benchmarks.versus_side FOLDER CRAWL HEADS [LOCATION]`, run by the interpreter of either
checkout, reads the name of a step from each line and prints the seconds of processor time of the
step, all processes and threads together; of a step that returns a number, it prints that number.
HEADS is a crawl with long heads. Steps use public names and the command line only, so that the same
steps run on older and newer code.
"""

from __future__ import annotations

import gc
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import webtable
from webtable.filters import SingleColumnValueFilter
from webtable.records import Collection, EntityKey, IndexBy, Key, Record

__all__ = ["HBASE_STEPS", "STEPS"]

ROWS = 40_000
GETS = 15_000
COLUMNS = [b"f:q%d" % number for number in range(5)]
VALUE = b"0123456789abcdef0123456789abcdef"
TIMESTAMP = 1_700_000_000_000
CLUSTER_ROWS = 20_000


class Visit(Record, table="visits", indexes=[IndexBy("size")]):
    """A record with an index."""

    site: EntityKey[str]
    number: Key[int]
    size: int
    url: str


class Side:
    """The stores of one side, and a method for each step; `prepare_STEP` is not timed."""

    def __init__(self, folder: Path, crawl: Path, heads: Path, location: str | None) -> None:
        self._folder = folder
        self._crawl = crawl
        self._heads = heads
        self._location = location
        self._keys = [b"com.example%03d/page/%06d" % (n % 1000, n) for n in range(ROWS)]
        random.Random(1).shuffle(self._keys)
        self._store: webtable.Store | None = None
        self._cluster: webtable.Store | None = None

    def prepare_put(self) -> None:
        if self._store is not None:
            self._store.close()
        shutil.rmtree(self._folder / "store", ignore_errors=True)
        self._store = webtable.open(str(self._folder / "store"))
        self._store.create_table("t", "f")

    def put(self) -> None:
        table = self._table()
        with table.batch(size=1000) as batch:
            for key in self._keys:
                batch.put(key, dict.fromkeys(COLUMNS, VALUE), timestamp=TIMESTAMP)
        table.flush()

    def put_without_timestamp(self) -> None:
        put = self._table().put
        for key in self._keys[:10_000]:
            put(key, {b"f:now": VALUE})

    def prepare_scan(self) -> None:
        # Once the log is in files, both sides read the same blocks.
        self._table().major_compact()

    def scan(self) -> None:
        for _ in range(2):
            cells = sum(len(row.raw_cells) for row in self._table().scan())
            assert cells >= ROWS * 5, cells

    def get(self) -> None:
        get = self._table().get
        for key in self._keys[:GETS]:
            assert get(key) is not None

    def filtered_scan(self) -> None:
        found = self._table().scan(filter=SingleColumnValueFilter(b"f:q4", "=", VALUE))
        assert sum(1 for _ in found) == ROWS

    def regex_scan(self) -> None:
        text = "RowFilter(=, 'regexstring:^com\\.example00[0-9]/page/[0-9]+$')"
        assert sum(1 for _ in self._table().scan(filter=text)) == ROWS // 100

    def regex_values(self) -> None:
        text = "ValueFilter(=, 'regexstring:[a-f]{6}0123')"
        assert sum(1 for _ in self._table().scan(filter=text)) == ROWS

    def records(self) -> None:
        assert self._store is not None
        visits = Collection(self._store, Visit)
        made = [Visit(f"site{n // 20:05}.example", n, n % 997, f"/{n}") for n in range(5_000)]
        visits.put_many(made)
        assert sum(1 for _ in visits.scan()) == len(made)

    def prepare_load(self) -> None:
        shutil.rmtree(self._folder / "crawl", ignore_errors=True)
        self._webtable("init", "--profile", "archive")

    def load(self) -> None:
        self._webtable("load", *_files(self._crawl))

    def prepare_load_again(self) -> None:
        # Under another name, or the load would go on at the end of each file.
        copies = self._folder / "again"
        copies.mkdir(exist_ok=True)
        for number, path in enumerate(_files(self._crawl)):
            shutil.copy(path, copies / f"{number}.warc.gz")

    def load_again(self) -> None:
        self._webtable("load", *(str(path) for path in (self._folder / "again").iterdir()))

    def rebuild_links(self) -> None:
        self._webtable("links", "rebuild")

    def reports(self) -> None:
        for name in ("errors", "largest", "modified", "duplicates", "redirects"):
            self._webtable("report", name, "--limit", "20", "--format", "json")

    def link_reports(self) -> None:
        for name in ("top", "broken", "orphans", "redirects"):
            self._webtable("links", name, "--limit", "20", "--format", "json")

    def prepare_load_heads(self) -> None:
        shutil.rmtree(self._folder / "heads", ignore_errors=True)
        self._webtable("init", "--profile", "archive", store="heads")

    def load_heads(self) -> None:
        self._webtable("load", *_files(self._heads), store="heads")

    def prepare_disk(self) -> None:
        self._webtable("compact", store="heads")

    def disk(self) -> int:
        """Returns the bytes of the store that `load_heads` made."""
        store = self._folder / "heads"
        return sum(path.stat().st_size for path in store.rglob("*") if path.is_file())

    def prepare_cluster_put(self) -> None:
        assert self._location is not None
        if self._cluster is None:
            self._cluster = webtable.open(self._location)
            self._cluster.create_table("t", "f", splits=[b"com.example500"])

    def cluster_put(self) -> None:
        with self._cluster_table().batch(size=1000) as batch:
            for key in self._keys[:CLUSTER_ROWS]:
                batch.put(key, dict.fromkeys(COLUMNS, VALUE))

    def cluster_scan(self) -> None:
        for _ in range(5):
            cells = sum(len(row.raw_cells) for row in self._cluster_table().scan())
            assert cells >= CLUSTER_ROWS * 5, cells

    def cluster_get(self) -> None:
        get = self._cluster_table().get
        for key in self._keys[:2_000]:
            assert get(key) is not None

    def cluster_get_many(self) -> None:
        for at in range(0, CLUSTER_ROWS, 100):
            rows = self._cluster_table().get_many(self._keys[at : at + 100])
            assert None not in rows

    def cluster_increment(self) -> None:
        for key in self._keys[:1_000]:
            self._cluster_table().increment(key, b"f:n")

    def _table(self) -> webtable.Table:
        assert self._store is not None
        return self._store.table("t")

    def _cluster_table(self) -> webtable.Table:
        assert self._cluster is not None
        return self._cluster.table("t")

    def _webtable(self, *arguments: str, store: str = "crawl") -> None:
        location = str(self._folder / store)
        command = [sys.executable, "-m", "webtable", "--store", location, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"


STEPS = (
    "put",
    "put_without_timestamp",
    "scan",
    "get",
    "filtered_scan",
    "regex_scan",
    "regex_values",
    "records",
    "load",
    "load_again",
    "rebuild_links",
    "reports",
    "link_reports",
    "load_heads",
    "disk",
)
HBASE_STEPS = (
    "cluster_put",
    "cluster_scan",
    "cluster_get",
    "cluster_get_many",
    "cluster_increment",
)


def _files(crawl: Path) -> list[str]:
    return sorted(str(path) for path in crawl.rglob("*.warc.gz"))


def _processor_seconds() -> float:
    usage = [
        resource.getrusage(scope) for scope in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    return sum(each.ru_utime + each.ru_stime for each in usage)


def main() -> None:
    """Runs the steps from standard input, one in each line."""
    folder, crawl, heads, *location = sys.argv[1:]
    side = Side(Path(folder), Path(crawl), Path(heads), location[0] if location else None)
    for line in sys.stdin:
        name = line.strip()
        prepare: Callable[[], None] | None = getattr(side, f"prepare_{name}", None)
        if prepare is not None:
            prepare()
        gc.collect()
        began = _processor_seconds()
        number = getattr(side, name)()
        sys.stdout.write(f"{_processor_seconds() - began if number is None else number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
