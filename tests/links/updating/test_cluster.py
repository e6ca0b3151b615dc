"""The link index step by step, on both engines: pages, links, marks, and what dead workers leave.

What crashes and stalls may do to it is played in `tests/simulation`. Here a real HBase shows that
each step is there what it is in the simulator.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence

import pytest

import webtable
from tests.links.naive import differences
from tests.links.updating.test_embedded import Kept, TestClock, capture
from webtable.errors import Timeout
from webtable.links import schema, write_protocol_rules
from webtable.links.link_index import LinkIndex
from webtable.links.updating.cluster import Intents
from webtable.links.updating.hook import LinkHook
from webtable.pages.hooks import Begun, LinksChange
from webtable.pages.page import NewCapture
from webtable.store.store import Store


@pytest.fixture(
    scope="module",
    params=["rocks", pytest.param("hbase", marks=pytest.mark.hbase)],
)
def engine_name(request: pytest.FixtureRequest) -> str:
    name = request.param
    assert isinstance(name, str)
    return name


# An embedded store has no intents.
on_a_cluster = pytest.mark.parametrize(
    "engine_name", [pytest.param("hbase", marks=pytest.mark.hbase)], indirect=True
)


@pytest.fixture(scope="module")
def store(
    engine_name: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """A store for all tests of an engine; each has names of its own in it."""
    if engine_name == "hbase":
        shared = request.getfixturevalue("hbase_location")
        location = f"{shared}?namespace=linkupd_{uuid.uuid4().hex[:8]}"
    else:
        location = str(tmp_path_factory.mktemp("links") / "store")
    with webtable.open(location) as store:
        Kept(store)
        yield store
        # A cluster that ends with the tests need not be cleared up.
        if engine_name == "hbase" and request.getfixturevalue("local_hbase") is None:
            for name in store.tables():
                store.drop_table(name)


@pytest.fixture
def kept(store: Store) -> Kept:
    return Kept(store)


def page(name: str, second: int, *links: str, status: int = 200) -> NewCapture:
    """A capture of `name`, which links to other names."""
    return capture(url(name), second, *[f"{url(each)} to-{each}" for each in links], status=status)


def url(name: str) -> str:
    host, _, path = name.partition("/")
    return f"https://{host}/{path}"


def seed(tld: str) -> list[NewCapture]:
    """The example of the specification, under names that no other test has."""
    return [
        page(f"a.{tld}/page1", 0, f"c.{tld}", f"b.{tld}"),
        page(f"b.{tld}", 0, f"c.{tld}/page1", f"c.{tld}"),
        page(f"d.{tld}", 0, f"c.{tld}"),
    ]


def counts(kept: Kept, *names: str) -> list[int | None]:
    return [kept.count(url(name)) for name in names]


def test_the_example_of_the_specification(kept: Kept) -> None:
    kept.store(*seed("com"))
    kept.check()
    assert counts(kept, "c.com", "b.com", "c.com/page1") == [3, 1, 1]
    assert counts(kept, "a.com/page1", "d.com", "a.com") == [0, 0, None]


def test_pages_change_go_and_come_back(kept: Kept) -> None:
    kept.store(*seed("org"))
    kept.store(page("b.org", 1, "d.org"))
    kept.check()
    kept.store(
        page("a.org/page1", 2, status=404), page("d.org", 2, "e.org"), page("d.org", 1, "f.org")
    )
    kept.check()
    assert counts(kept, "b.org", "c.org", "d.org", "e.org", "f.org") == [0, None, 1, 1, None]
    kept.store(page("a.org/page1", 3, "c.org"))
    kept.check()
    assert counts(kept, "c.org") == [1]


def test_the_same_again_changes_nothing(kept: Kept) -> None:
    def inlinks() -> list[object]:
        found = kept.index.table.scan(prefix=b"p:net.", columns=(b"inlinks",))
        return [row.raw_cells for row in found]

    kept.store(*seed("net"))
    kept.check()
    before = inlinks()
    assert before
    kept.store(*seed("net"))
    kept.check()
    assert inlinks() == before


def test_marks_are_rows_of_the_work_table(kept: Kept) -> None:
    kept.store(page("a.info", 0, "b.info"))
    marks = list(kept.index.work.scan())
    assert [mark.key[:2] for mark in marks] == [b"m:"]
    assert [cell.column for mark in marks for cell in mark.cells] == [schema.TARGETS]
    assert counts(kept, "b.info") == [None]
    kept.check()


class Dying(LinkHook):
    """Dies when the rows of pages are written."""

    def finish(self, begun: Begun, changes: Sequence[LinksChange]) -> None:
        return


@on_a_cluster
def test_exporters_take_over_when_an_intent_is_old(store: Store) -> None:
    clock = TestClock()
    kept = Kept(store, clock)
    kept.pages.hook = Dying(kept.index)
    kept.store(page("a.dev", 1, "b.dev"), page("a.dev", 0, "c.dev"))
    drained = kept.keeper.drain()
    assert (drained.intents, drained.marks) == (0, 0)
    assert len(list(kept.index.work.scan(prefix=b"i:"))) == 1
    clock.time_ms += write_protocol_rules.INTENT_AGE_MS + 1
    drained = kept.keeper.drain()
    assert (drained.intents, drained.pages) == (1, 3)
    assert differences(kept.index) == []
    assert counts(kept, "a.dev", "b.dev", "c.dev") == [0, 1, None]


@on_a_cluster
def test_workers_that_stand_still(store: Store) -> None:
    clock = TestClock()
    kept = Kept(store, clock)
    # A batch that took too long is given up before its rows are written.
    kept.pages.hook = Slow(kept.index, clock)
    with pytest.raises(ExceptionGroup) as raised:
        kept.store(page("a.app", 0, "b.app"))
    assert raised.value.subgroup(Timeout) is not None
    assert kept.pages.page(url("a.app")) is None
    # One that took too long afterwards goes on under intents of its own.
    kept.pages.hook = Late(kept.index, clock)
    kept.store(page("a.app", 0, "b.app"))
    clock.time_ms += write_protocol_rules.INTENT_AGE_MS + 1
    kept.check()
    assert counts(kept, "a.app", "b.app") == [0, 1]


class Standing(LinkHook):
    """Stands still at times."""

    def __init__(self, index: LinkIndex, clock: TestClock) -> None:
        super().__init__(index)
        self.clock = clock


class Slow(Standing):
    """Stands still between an intent and the row of its page."""

    def begin(self, captures: Sequence[NewCapture]) -> Intents:
        begun = super().begin(captures)
        self.clock.time_ms += write_protocol_rules.INTENT_LIMIT_MS + 1
        return begun


class Late(Standing):
    """Stands still between the row of a page and its links."""

    def finish(self, begun: Begun, changes: Sequence[LinksChange]) -> None:
        self.clock.time_ms += write_protocol_rules.INTENT_LIMIT_MS + 1
        super().finish(begun, changes)
