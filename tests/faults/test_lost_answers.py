"""Responses that are lost while a region moves: what may be sent again, and what may not."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest

import webtable
from tests.faults.proxy import Proxy
from tests.faults.regions import RegionHand
from webtable import Append, Check, Conditional, Increment, Mutation, Put, Store, Table
from webtable.errors import BatchError, RetryableError
from webtable.local.hbase import LocalHBase
from webtable.store.hbase.cluster.find_meta_and_master import ZooKeeperRegistry
from webtable.store.hbase.location import parse_location
from webtable.store.hbase.wire.errors_and_responses import Server

pytestmark = pytest.mark.hbase

T = TypeVar("T")
ROW, COUNT, TEXT = b"r", b"f:n", b"f:t"


class Scene:
    """A table of one region, a store that reaches it through proxies, and one that does not."""

    def __init__(self, store: Store, calm: Store, table: str, proxies: list[Proxy]) -> None:
        self.behind = store.table(table)
        self.calm = calm.table(table)
        self.hand = RegionHand(calm, table)
        self._proxies = proxies
        self._admin = calm.admin
        self._location = calm.location

    def lose_answer(self, call: Callable[[], T], meanwhile: Callable[[], object]) -> T:
        """Makes a call whose response is held back, does other work, then cuts the connection."""
        row = self.calm.get(ROW)
        for proxy in self._proxies:
            proxy.hold_responses()
        results: list[T] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                results.append(call())
            except BaseException as error:  # noqa: BLE001 - raised below
                errors.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        while self.calm.get(ROW) == row:
            assert thread.is_alive(), errors
        meanwhile()
        for proxy in self._proxies:
            proxy.heal()
            proxy.cut_all()
        thread.join(60)
        assert not thread.is_alive()
        if errors:
            raise errors[0]
        return results[0]

    def lose_answer_twice(self, call: Callable[[], T], meanwhile: Callable[[], object]) -> T:
        """Makes a call whose response is lost, and that of its resend; then other work each."""
        server = self._away_from_meta()
        (proxy,) = (each for each in self._proxies if each.target == server)
        self.behind.get(ROW)
        proxy.hold_responses()
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(call)
            for _ in range(2):
                since = time.monotonic()
                while proxy.held_at < since + 0.1:  # what was held before is gone by then
                    assert not running.done(), running.result()
                meanwhile()
                proxy.cut_all()
            proxy.heal()
            return running.result(60)

    def _away_from_meta(self) -> Server:
        """Moves the region to a server that has not the meta table as well."""
        meta = ZooKeeperRegistry(parse_location(self._location)).meta_server(10)
        (region,) = self.hand.regions()
        for server in self._admin.servers():
            host, port, _ = server.name.split(",")
            if Server(host, int(port)) != meta and server.name != region.server:
                self._admin.move(region, server.name)
                self.hand.wait_until_whole()
                return Server(host, int(port))
        raise AssertionError(f"no server but that of the meta table, {meta}")

    def move(self) -> None:
        """Moves the region to another server and waits until it is there."""
        self.hand.move(random.Random(0))
        self.hand.wait_until_whole()


@pytest.fixture
def scene(patient: LocalHBase) -> Iterator[Scene]:
    processes = patient.status().processes
    proxies = [
        Proxy(Server("127.0.0.1", process.port))
        for process in processes
        if process.name.startswith("region-server-")
    ]
    host_map = ",".join(f"{proxy.target}={proxy.address}" for proxy in proxies)
    table = f"t{uuid.uuid4().hex[:12]}"
    with (
        webtable.open(f"{patient.location}?timeout=30&host_map={host_map}") as store,
        webtable.open(f"{patient.location}?timeout=60") as calm,
    ):
        calm.create_table(table, "f")
        store.table(table).get(ROW)  # so that it knows the way
        yield Scene(store, calm, table, proxies)
        calm.drop_table(table)
    for proxy in proxies:
        proxy.close()


def number(value: bytes | None) -> int:
    return int.from_bytes(value or b"", "big")


def increment_in_batch(table: Table) -> None:
    with table.batch() as batch:
        batch.add(Increment(ROW, {COUNT: 1}))


def increment_if(table: Table) -> None:
    step: list[Mutation] = [Increment(ROW, {COUNT: 1}), Put(ROW, {b"f:p": b"x"})]
    assert table.check_and_mutate(ROW, Check.absent(b"f:never"), step)


CALLS: dict[str, Callable[[Table], object]] = {
    "increment": lambda table: table.increment(ROW, COUNT),
    "append": lambda table: table.append(ROW, TEXT, b"x"),
    "step": lambda table: table.mutate(ROW, [Increment(ROW, {COUNT: 1})] * 2),
    "batch": increment_in_batch,
    "check": increment_if,
}


@pytest.mark.parametrize("name", CALLS)
def test_a_region_that_moved_does_not_count_twice(scene: Scene, name: str) -> None:
    # The new server has never heard of the first try, so it would do it again.
    kind = BatchError if name == "batch" else RetryableError
    with pytest.raises(kind) as caught:
        scene.lose_answer(lambda: CALLS[name](scene.behind), scene.move)
    errors = caught.value.exceptions if isinstance(caught.value, BatchError) else [caught.value]
    for error in errors:
        assert isinstance(error, RetryableError)
        assert error.maybe_applied
        assert "unknown whether" in str(error)
        assert "read" in error.hint
    row = scene.calm.get(ROW)
    assert row is not None
    assert row.value(TEXT) == b"x" if name == "append" else number(row.value(COUNT)) == 1


@pytest.mark.parametrize("name", CALLS)
def test_the_same_server_remembers(scene: Scene, name: str) -> None:
    answer = scene.lose_answer(lambda: CALLS[name](scene.behind), lambda: None)
    assert answer in (1, b"x", None) or name == "step"
    row = scene.calm.get(ROW)
    assert row is not None
    assert row.value(TEXT) == b"x" if name == "append" else number(row.value(COUNT)) == 1


@pytest.mark.parametrize("flushes", [False, True])
def test_a_response_is_never_that_of_another_call(scene: Scene, flushes: bool) -> None:
    def others() -> None:
        for _ in range(3):
            scene.calm.increment(ROW, COUNT)
            scene.calm.append(ROW, TEXT, b"y")
            if flushes:
                scene.calm.flush()
        if flushes:
            scene.calm.major_compact()

    def both() -> tuple[int, bytes]:
        step: list[Mutation] = [Increment(ROW, {COUNT: 1}), Append(ROW, {TEXT: b"x"})]
        row = scene.behind.mutate(ROW, step)
        assert row is not None
        return number(row.value(COUNT)), row.value(TEXT) or b""

    # HBase keeps the result only as long as it keeps the version, and does not report which.
    with pytest.raises(RetryableError, match="was made") as caught:
        scene.lose_answer(both, others)
    assert caught.value.maybe_applied
    assert scene.calm.increment(ROW, COUNT) == 5
    assert scene.calm.append(ROW, TEXT, b"z") == b"xyyyz"


@pytest.mark.parametrize("name", ["increment", "append", "step"])
def test_a_result_is_never_an_older_value(scene: Scene, name: str) -> None:
    # The read that HBase makes for a resend sees this file, and nothing newer any more.
    CALLS[name](scene.behind)
    scene.calm.flush()

    def others() -> None:
        CALLS[name](scene.calm)
        scene.calm.flush()

    with pytest.raises(RetryableError, match="was made") as caught:
        scene.lose_answer(lambda: CALLS[name](scene.behind), others)
    assert caught.value.maybe_applied
    row = scene.calm.get(ROW)
    assert row is not None
    assert row.value(TEXT) == b"xxx" if name == "append" else number(row.value(COUNT)) == 3


def test_a_response_that_was_lost_twice_is_not_trusted(scene: Scene) -> None:
    # HBase looks up the state after the first resend then, with what others did in between.
    with pytest.raises(RetryableError, match="was made") as caught:
        scene.lose_answer_twice(
            lambda: scene.behind.increment(ROW, COUNT), lambda: scene.calm.increment(ROW, COUNT)
        )
    assert caught.value.maybe_applied
    assert scene.calm.increment(ROW, COUNT) == 4


def test_puts_are_sent_wherever_the_region_went(scene: Scene) -> None:
    def put_both() -> None:
        with scene.behind.batch() as batch:
            batch.put(ROW, {b"f:p": b"1"})
            batch.put(b"s", {b"f:p": b"2"})

    scene.lose_answer(put_both, scene.move)
    assert [row.value(b"f:p") for row in scene.calm.scan()] == [b"1", b"2"]
    put = Put(ROW, {b"f:p": b"2"})
    check = Check.equal(b"f:p", b"1")
    with pytest.raises(RetryableError, match="unknown whether") as caught:
        scene.lose_answer(lambda: scene.behind.check_and_mutate(ROW, check, put), scene.move)
    assert caught.value.maybe_applied


def test_of_many_conditional_steps_the_stored_cells_show_which_were_made(scene: Scene) -> None:
    rev = b"f:rev"
    steps = [
        Conditional(row, Check.absent(rev, unique=True), [Put(row, {rev: b"mine"})])
        for row in (ROW, b"other")
    ]
    made = scene.lose_answer(lambda: scene.behind.check_and_mutate_many(steps), lambda: None)
    assert list(map(bool, made)) == [True, True]
    for row in (ROW, b"other"):
        found = scene.calm.get(row)
        assert found is not None
        assert found.value(rev) == b"mine"
