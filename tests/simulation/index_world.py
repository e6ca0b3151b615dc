"""The index machinery in the simulator: writers, readers, and what they promise.

A schedule is drawn from its seed. While it runs, every state that a row ever had is recorded, and
readers compare what an index shows them with that record. When it is quiet, everything is compared.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeAlias

from tests.simulation.world import Faults, World
from webtable.errors import (
    InvalidRequest,
    NotUnique,
    RetryableError,
    StaleIndex,
    WebTableError,
)
from webtable.index.build_and_verify import build, verify
from webtable.index.indexed_table import Change, Entry, Facts, Index, IndexedTable, RowState
from webtable.index.write_protocol import REPAIR_AGE_MS
from webtable.store.cells_and_rows import Row
from webtable.store.scan import Scan

__all__ = [
    "INDEXES",
    "Broken",
    "BuildingWorld",
    "CalmWorld",
    "IndexWorld",
    "MakeTable",
    "SlowWorld",
    "UniqueWorld",
    "by_value",
    "play",
]

TABLE = "t"
VALUE, COVER, MAIL, NUMBER, COUNT = b"a:v", b"a:c", b"a:u", b"a:n", b"a:k"
BY_VALUE, BY_MAIL = "t_by_value", "t_by_mail"

MakeTable: TypeAlias = Callable[..., IndexedTable]


def by_value(row: bytes, facts: Facts) -> Iterator[Entry]:
    """An entry for each letter of the value; what it covers is another field."""
    for letter in facts.get(VALUE, b""):
        yield Entry(bytes([letter]) + b"/" + row, facts.get(COVER, b""))


def by_mail(row: bytes, facts: Facts) -> Iterator[Entry]:
    if MAIL in facts:
        yield Entry(facts[MAIL])


INDEXES = {
    BY_VALUE: Index(BY_VALUE, by_value),
    BY_MAIL: Index(BY_MAIL, by_mail, unique=True),
}
# The same, but writes read less of a row.
NARROW_INDEXES = {
    BY_VALUE: Index(BY_VALUE, by_value, columns=(VALUE, COVER)),
    BY_MAIL: Index(BY_MAIL, by_mail, columns=(MAIL,), unique=True),
}


class Broken(AssertionError):
    """A promise was broken."""


class IndexWorld:
    """One schedule of the index protocol.

    Args:
        make: makes the indexed table of each worker; a test gives another one to take a rule out.
        names: the indexes that there are.
    """

    kinds: tuple[dict[str, Index], ...] = (INDEXES, NARROW_INDEXES)

    def __init__(
        self,
        seed: int,
        *,
        make: MakeTable = IndexedTable,
        names: tuple[str, ...] = (BY_VALUE, BY_MAIL),
        faults: Faults | None = None,
    ) -> None:
        self.world = World(seed, faults)
        self.chance = self.world.chance
        self.names = names
        self._make = make
        self._operations = 0
        self.begun: Counter[bytes] = Counter()
        self.counted: Counter[bytes] = Counter()
        self.history: dict[bytes, list[tuple[int, Facts]]] = {}
        # Where much happens in one place, little time is needed to get into each other's way.
        self.focus = self.chance.choice((*names, None))
        self.indexes = self.chance.choice(self.kinds)
        self.rows = [b"r%d" % n for n in range(self.chance.choice((1, 1, 2, 3)))]
        self.letters = b"abc"[: self.chance.choice((1, 2, 3))]
        self.mails = [b"m%d" % n for n in range(self.chance.choice((1, 1, 2)))]
        if self.focus == BY_MAIL:
            self.rows, self.mails = [b"r0", b"r1"], [b"m0"]
        self.world.store.create_table(TABLE, "a")
        self.quiet = self.worker()
        self.quiet.create_tables()
        self.world.engine.on_write = self._record

    def worker(self, names: tuple[str, ...] | None = None) -> IndexedTable:
        """Returns the indexed table as a worker of its own, with its own clock, has it."""
        indexes = [self.indexes[name] for name in names or self.names]
        return self._make(
            self.world.store,
            TABLE,
            indexes,
            columns=(b"a",),
            workers=1,
            clock=self.world.clock(),
            tokens=self.world.token,
        )

    # What happened

    def _record(self, table: str, row: bytes) -> None:
        if table != TABLE:
            return
        facts = self.facts(row)
        states = self.history.setdefault(row, [])
        states.append((self.world.engine.number, facts))
        mail = facts.get(MAIL)
        if mail is not None and BY_MAIL in self.names:
            for other in self.rows:
                if other != row and self.facts(other).get(MAIL) == mail:
                    raise Broken(f"{row!r} and {other!r} both have {mail!r}")

    def facts(self, row: bytes) -> Facts:
        """Returns the facts that a row has right now."""
        return self.state(row).facts

    def state(self, row: bytes) -> RowState:
        """Returns a row as it is right now."""
        cells = self.world.engine.tables[TABLE].rows.get(row)
        if cells is None:
            return self.quiet.state_of(row, None)
        schema = self.world.engine.tables[TABLE].schema
        found = cells.read(schema, (), self.world.time_ms, 1)
        return self.quiet.state_of(row, Row(row, found) if found else None)

    # Tasks

    def write(self, table: IndexedTable, steps: int) -> None:
        """A writer: some changes of random rows."""
        for _ in range(steps):
            row = self.chance.choice(self.rows)
            if self.chance.random() < 0.15:
                self._count(table, row)
                continue
            self._operations += 1
            number = b"%d" % self._operations
            change = self._change(number)
            try:
                if self.chance.random() < 0.2:
                    table.write_many([(row, change), (self.rows[0], Change())])
                else:
                    table.write(row, change)
            except WebTableError as error:
                if not _is_expected(error):
                    raise
                continue
            states = self.history.get(row, [])
            if change.put and all(facts.get(NUMBER) != number for _, facts in states):
                raise Broken(f"change {number!r} of {row!r} was acknowledged and never made")

    def _count(self, table: IndexedTable, row: bytes) -> None:
        """Adds one to a number of a row, which has to be read first."""

        def add(state: RowState) -> Change:
            return Change(put={COUNT: b"%d" % (int(state.facts.get(COUNT, b"0")) + 1)})

        self.begun[row] += 1
        try:
            table.write(row, add)
        except WebTableError as error:
            if not _is_expected(error):
                raise
            return
        self.counted[row] += 1

    def _change(self, number: bytes) -> Change:
        chance = self.chance
        put = {NUMBER: number}
        delete: list[bytes] = []
        if chance.random() < 0.15:
            return Change(delete=(VALUE, COVER, MAIL, NUMBER))
        if self.focus != BY_MAIL and chance.random() < 0.7:
            count = chance.randrange(len(self.letters) + 1)
            put[VALUE] = bytes(chance.sample(list(self.letters), count))
        if self.focus != BY_MAIL and chance.random() < 0.3:
            put[COVER] = chance.choice((b"x", b"y"))
        if self.focus != BY_VALUE and chance.random() < 0.7:
            if chance.random() < 0.4:
                delete.append(MAIL)
            else:
                put[MAIL] = chance.choice(self.mails)
        return Change(put=put, delete=delete)

    def read(self, table: IndexedTable, name: str) -> None:
        """A reader: scans an index and compares with what the rows were meanwhile."""
        engine = self.world.engine
        began = engine.number
        before = {row: self.state(row).cell for row in self.rows}
        cover = self.chance.choice((None, b"x"))
        scan = Scan(reverse=self.chance.random() < 0.5)
        where = None if cover is None or name == BY_MAIL else (lambda hit: hit.cover == cover)
        shown = {}
        for hit in table.find(name, scan, where=where):
            if hit.row in shown:
                raise Broken(f"{hit.row!r} was shown twice")
            shown[hit.row] = Entry(hit.key, hit.cover)
        index = INDEXES[name]
        for row in self.rows:
            state = self.state(row)
            wanted = [
                e for e in index.entries(row, state.facts) if where is None or e.cover == cover
            ]
            if wanted and row not in shown and state.cell == before[row]:
                raise Broken(f"{name} misses {row!r}, which has {wanted}")
        for row, entry in shown.items():
            if all(entry not in index.entries(row, facts) for facts in self._during(row, began)):
                raise Broken(f"{name} shows {row!r} by {entry}, which it did not have")

    def _during(self, row: bytes, began: int) -> Iterator[Facts]:
        """Yields the facts that a row had at some time since a moment."""
        last: Facts = {}
        for number, facts in self.history.get(row, []):
            if number <= began:
                last = facts
            else:
                yield facts
        yield last

    def repair(self, table: IndexedTable) -> None:
        """A repairer; what it finds must not be damage."""
        report = verify(table, repair=True)
        if not report.is_clean:
            raise Broken(f"verify found {report}")

    # A whole schedule

    def populate(self) -> None:
        """Adds the tasks of a schedule, as the seed wants them."""
        chance, add = self.chance, self.world.scheduler.add
        for n in range(chance.choice((2, 3, 3, 4) if self.focus == BY_MAIL else (1, 2, 2, 3))):
            add(f"writer {n}", self._task(self.write, self.worker(), chance.randrange(1, 5)))
        for n in range(chance.choice((0, 1, 1, 2))):
            add(f"reader {n}", self._task(self.read, self.worker(), chance.choice(self.names)))
        for n in range(chance.choice((0, 1, 1) if self.world.faults.leap else (0, 0, 1))):
            add(f"repairer {n}", self._task(self.repair, self.worker()))

    def _task(self, work: Callable[..., None], *arguments: object) -> Callable[[], None]:
        def run() -> None:
            try:
                work(*arguments)
            except WebTableError as error:
                if not _is_expected(error):
                    raise

        return run

    def check(self) -> None:
        """Compares everything, now that no task runs; then repairs and compares again."""
        for name in self.names:
            self.read(self.quiet, name)
        for row in self.rows:
            count = int(self.facts(row).get(COUNT, b"0"))
            if not self.counted[row] <= count <= self.begun[row]:
                told = f"{self.counted[row]} of {self.begun[row]}"
                raise Broken(f"{row!r} was counted {told} times, and has {count}")
        report = verify(self.quiet)
        if not report.is_clean:
            raise Broken(f"at the end: {report}")
        self.world.pass_time(2 * REPAIR_AGE_MS)
        verify(self.quiet, repair=True)
        report = verify(self.quiet)
        if not report.is_tidy:
            raise Broken(f"after repair: {report}")
        for name in self.names:
            self.read(self.quiet, name)


class BuildingWorld(IndexWorld):
    """A schedule in which an index is added to a table that has rows, and built beside writers."""

    def __init__(self, seed: int, *, make: MakeTable = IndexedTable) -> None:
        super().__init__(seed, make=make, names=(BY_MAIL,))

    def populate(self) -> None:
        """Adds rows that the new index does not know, then the tasks, one of which builds it."""
        chance, scheduler = self.chance, self.world.scheduler
        for n in range(chance.choice((1, 2))):
            work = self._task(self.write, self.worker(), chance.randrange(1, 5))
            scheduler.add(f"old writer {n}", work)
        # They are gone, and nothing of theirs is on its way, before the index is there.
        self.world.run()
        self.quiet.write(self.rows[0], Change(put={VALUE: self.letters}))
        self.names = (BY_MAIL, BY_VALUE)
        self.quiet = self.worker()
        self.quiet.create_tables()
        assert self.quiet.state(BY_VALUE) == "building"
        scheduler.add("builder", self._task(self.build, self.worker()))
        super().populate()

    def build(self, table: IndexedTable) -> None:
        """Builds the index; a later task finds it done."""
        try:
            build(table, BY_VALUE)
        except InvalidRequest:
            assert table.state(BY_VALUE) == "ready"

    def check(self) -> None:
        """Builds the index if its builder died, then compares everything."""
        self.build(self.quiet)
        super().check()


class UniqueWorld(IndexWorld):
    """A schedule in which all tasks want one key."""

    def __init__(self, seed: int, *, make: MakeTable = IndexedTable) -> None:
        super().__init__(seed, make=make, names=(BY_MAIL,))


class SlowWorld(IndexWorld):
    """A schedule of workers that stand still for long, beside repairers."""

    def __init__(self, seed: int, *, make: MakeTable = IndexedTable) -> None:
        faults = Faults(stall=0.3, tick=0.02, leap=0.05, skew=0.02, stay=0.7, freeze=0.05)
        super().__init__(seed, make=make, names=(BY_VALUE,), faults=faults)

    def populate(self) -> None:
        """Adds one repairer more."""
        super().populate()
        self.world.scheduler.add("repairer", self._task(self.repair, self.worker()))


class CalmWorld(IndexWorld):
    """A schedule without deaths and lost responses: then nothing is left over."""

    def __init__(self, seed: int, *, make: MakeTable = IndexedTable) -> None:
        drawn = Faults.drawn(random.Random(-seed))
        faults = drawn._replace(kill=0.0, lose=0.0, delay=0.0)
        super().__init__(seed, make=make, faults=faults)

    def check(self) -> None:
        """Looks for entries that no row has, or that the next write of their row would not hide."""
        report = verify(self.quiet)
        if not report.is_tidy:
            raise Broken(f"left over: {report}")
        for hit in self.quiet.hits(BY_VALUE):
            revision = self.state(hit.row).revision.number
            if hit.timestamp > revision:
                raise Broken(f"{hit} is newer than its row, {revision}")
        super().check()


def play(
    seed: int,
    *,
    make: MakeTable = IndexedTable,
    kind: type[IndexWorld] = IndexWorld,
    tells: bool = False,
) -> IndexWorld:
    """Plays one schedule; a broken promise is reported with its seed and its story."""
    world = kind(seed, make=make)
    world.world.scheduler.tells = tells
    try:
        world.populate()
        world.world.run()
        world.check()
    except (AssertionError, WebTableError) as error:
        if not tells:
            play(seed, make=make, kind=kind, tells=True)
            raise AssertionError(f"{kind.__name__}, seed {seed} failed only once") from error
        story = "\n".join(world.world.scheduler.story)
        raise Broken(f"{kind.__name__}, seed {seed}: {error!r}\n{story}") from error
    return world


def _is_expected(error: BaseException) -> bool:
    """Whether a task may fail so: no response of the store, a key in use, an index being built."""
    if isinstance(error, BaseExceptionGroup):
        return all(_is_expected(each) for each in error.exceptions)
    return isinstance(error, (NotUnique, RetryableError, StaleIndex))
