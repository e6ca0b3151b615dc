"""The judge can fail: engines that are wrong in one small way are found out, a right one is not.

Each wrong engine is the embedded one with a single rule of HBase broken; the reference is the
embedded engine as it is. No cluster is needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.lockstep.conftest import with_tables
from tests.lockstep.driver import Difference, run
from tests.lockstep.programs import Program, programs
from webtable import Check, CheckResult, Delete, Durability, Get, Mutation, Put, Row, Scan, Store
from webtable.filters import FirstKeyOnlyFilter
from webtable.store.mutation import Conditional, Marker
from webtable.store.rocks.engine import RocksEngine

LENGTH = 30
# A right engine is also what the programs of `test_lockstep.py` run on: a few are enough here.
PROGRAMS = 40 if os.environ.get("WEBTABLE_SOAK") else 10
WITHOUT_CLUSTER = settings(
    max_examples=10,
    derandomize=False,
    phases=[Phase.generate],
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


class WrongReads(RocksEngine):
    """Reads something else than was requested."""

    def wrong(self, request: Get | Scan) -> Get | Scan:
        raise NotImplementedError

    def get_many(self, table: str, gets: Sequence[Get]) -> list[Row | None]:
        wrong = [self.wrong(get) for get in gets]
        return super().get_many(table, [get for get in wrong if isinstance(get, Get)])

    def scan(self, table: str, scan: Scan) -> Iterator[Row]:
        wrong = self.wrong(scan)
        assert isinstance(wrong, Scan)
        return super().scan(table, wrong)


class OneVersionTooMany(WrongReads):
    def wrong(self, request: Get | Scan) -> Get | Scan:
        return msgspec.structs.replace(request, versions=request.versions + 1)


class StopIsInside(WrongReads):
    def wrong(self, request: Get | Scan) -> Get | Scan:
        if request.time_range is None:
            return request
        start, stop = request.time_range
        return msgspec.structs.replace(request, time_range=(start, min(stop + 1, 2**63 - 1)))


class ForgetsFilters(WrongReads):
    def wrong(self, request: Get | Scan) -> Get | Scan:
        return msgspec.structs.replace(request, filter=None)


class WrongWrites(RocksEngine):
    """Writes something else than was requested."""

    def wrong(self, mutation: Mutation) -> Mutation:
        raise NotImplementedError

    def mutate_row(
        self, table: str, row: bytes, mutations: Sequence[Mutation], durability: Durability
    ) -> Row | None:
        return super().mutate_row(table, row, [self.wrong(each) for each in mutations], durability)

    def mutate_many(
        self, table: str, mutations: Sequence[Mutation], durability: Durability
    ) -> list[Row | None]:
        return super().mutate_many(table, [self.wrong(each) for each in mutations], durability)


class ForgetsMarkerTimes(WrongWrites):
    def wrong(self, mutation: Mutation) -> Mutation:
        if not isinstance(mutation, Delete):
            return mutation
        delete = Delete(mutation.row)
        delete.markers = [Marker(kind, column, None) for kind, column, _ in mutation.markers]
        return delete


class ForgetsCellTtls(WrongWrites):
    def wrong(self, mutation: Mutation) -> Mutation:
        if not isinstance(mutation, Put):
            return mutation
        return Put(mutation.row, mutation.values, timestamp=mutation.timestamp)


class ChecksBackwards(RocksEngine):
    def check_and_mutate(
        self, table: str, step: Conditional, durability: Durability
    ) -> CheckResult:
        check = step.check
        if check.filter is not None:
            return super().check_and_mutate(table, step, durability)
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        backwards = Check(
            check.column,
            type(check.op)(turned.get(check.op.value, check.op.value)),
            check.value,
            time_range=check.time_range,
        )
        return super().check_and_mutate(table, step._replace(check=backwards), durability)


class HoldsWhateverTheFilter(RocksEngine):
    def check_and_mutate(
        self, table: str, step: Conditional, durability: Durability
    ) -> CheckResult:
        if step.check.filter is not None:
            check = Check.matches(FirstKeyOnlyFilter(), time_range=step.check.time_range)
            step = step._replace(check=check)
        return super().check_and_mutate(table, step, durability)


class NeverCompacts(RocksEngine):
    def major_compact(self, table: str) -> None:
        self.flush(table)


@pytest.fixture
def reference(embedded: Store) -> Store:
    return embedded


@pytest.mark.parametrize(
    "kind",
    [
        OneVersionTooMany,
        StopIsInside,
        ForgetsFilters,
        ForgetsMarkerTimes,
        ForgetsCellTtls,
        ChecksBackwards,
        HoldsWhateverTheFilter,
        NeverCompacts,
    ],
)
def test_a_wrong_engine_is_found_out(
    reference: Store, kind: type[RocksEngine], tmp_path: Path
) -> None:
    with Store(kind.open(str(tmp_path / "wrong"))) as store:
        wrong = with_tables(store)

        found: list[Difference] = []

        @WITHOUT_CLUSTER
        @given(program=programs(LENGTH))
        def try_some(program: Program) -> None:
            if not found:
                try:
                    run(reference, wrong, program)
                except Difference as difference:
                    found.append(difference)

        for number in range(30):
            # Seeds of our own: some settings make hypothesis draw the same programs at every call.
            seed(number)(try_some)()
            if found:
                break
        assert found


def test_a_right_engine_is_not_accused(reference: Store, tmp_path: Path) -> None:
    with Store(RocksEngine.open(str(tmp_path / "right"))) as store:
        right = with_tables(store)

        @settings(WITHOUT_CLUSTER, max_examples=PROGRAMS)
        @given(program=programs(LENGTH))
        def agree(program: Program) -> None:
            run(reference, right, program)

        agree()
