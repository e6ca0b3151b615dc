"""States with guards, and their counts: the links to a page, the URIs of a domain.

States are cells of a shard row; the row's count of live states changes in the same atomic step. A
state has a guard, the revision of the row it was read from, and never replaces a state with a newer
guard. So a worker that writes late, or twice, changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from webtable.errors import CheckFailed, WebTableError
from webtable.index.cell_encoding import Revision, decode_revision, encode_revision
from webtable.index.write_protocol import NO_REVISION, Clock, new_revision
from webtable.links import schema, write_protocol_rules
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Check, Conditional, Mutation, Put
from webtable.store.scan import Get
from webtable.store.table import Table

__all__ = ["DOMAIN_CELLS", "PAGE_CELLS", "ShardCells", "ShardWriter", "State"]

_ATTEMPTS = 1000


class ShardCells(NamedTuple):
    """The columns of one kind of shard."""

    prefix: bytes
    number: bytes
    revision: bytes


PAGE_CELLS = ShardCells(schema.INLINK, schema.COUNT, schema.SHARD_REVISION)
DOMAIN_CELLS = ShardCells(schema.MEMBER, schema.PAGE_COUNT, schema.DOMAIN_REVISION)


class State(NamedTuple):
    """A state to write: the source or URI, the value, and the guard.

    A forced one replaces also a state with the same guard.
    """

    name: bytes
    value: bytes
    guard: int
    is_forced: bool = False


class ShardWriter:
    """Writes states into shard rows on a cluster, where other workers write as well."""

    def __init__(
        self,
        table: Table,
        cells: ShardCells,
        clock: Clock,
        tokens: Callable[[], bytes],
    ) -> None:
        self._table = table
        self._cells = cells
        self._clock = clock
        self._tokens = tokens

    def write(self, states: Mapping[bytes, Sequence[State]]) -> set[bytes]:
        """Writes states, shard row → states; stored states with the same or a newer guard stay.

        Returns the rows that were changed.

        Raises:
            RetryableError: the store failed; some states may be written.
            CheckFailed: other workers changed a row at every attempt.
        """
        waiting = dict(states)
        changed: set[bytes] = set()
        for _ in range(_ATTEMPTS):
            waiting = self._attempt(waiting, changed)
            if not waiting:
                return changed
        row = next(iter(waiting))
        raise CheckFailed(
            f"row {row!r:.80} of the link index was changed by other workers {_ATTEMPTS} times",
            hint="try again when fewer workers write to the index",
        )

    def _attempt(
        self, states: Mapping[bytes, Sequence[State]], changed: set[bytes]
    ) -> dict[bytes, Sequence[State]]:
        """Makes one attempt for each row; returns the states of rows that other workers changed."""
        cells = self._cells
        gets = [
            Get(row, (cells.number, cells.revision, *(cells.prefix + each.name for each in mine)))
            for row, mine in states.items()
        ]
        steps = []
        for (row, mine), found in zip(states.items(), self._table.get_many(gets), strict=True):
            step = self._step(row, mine, found)
            if step is not None:
                steps.append(step)
        lost: dict[bytes, Sequence[State]] = {}
        for step, result in zip(steps, self._table.check_and_mutate_many(steps), strict=True):
            if isinstance(result, WebTableError):
                raise result
            if result:
                changed.add(step.row)
            else:
                lost[step.row] = states[step.row]
        return lost

    def _step(self, row: bytes, states: Iterable[State], found: Row | None) -> Conditional | None:
        """Returns the conditional write for a row as it was read; None if nothing changes."""
        cells = self._cells
        stored: dict[bytes, tuple[int, bytes]] = {}
        if found is not None:
            for column, timestamp, value, _ in found.raw_cells:
                stored.setdefault(column, (timestamp, value))
        puts: dict[int, dict[bytes, bytes]] = {}
        difference = 0
        for name, value, guard, is_forced in states:
            column = cells.prefix + name
            old_guard, old = stored.get(column, (0, b""))
            is_same = is_forced and guard == old_guard and old != value
            if is_same or write_protocol_rules.is_newer(guard, old_guard):
                puts.setdefault(guard, {})[column] = value
                difference += (value[:1] == b"+") - (old[:1] == b"+")
        if not puts:
            return None
        cell = stored[cells.revision][1] if cells.revision in stored else None
        old_revision = NO_REVISION if cell is None else decode_revision(cell)
        number = new_revision(self._clock.now_ms(), old_revision.number)
        own = {cells.revision: encode_revision(Revision(number, self._tokens()))}
        count = int(stored[cells.number][1]) if cells.number in stored else 0
        own[cells.number] = str(count + difference).encode()
        mutations: list[Mutation] = [Put(row, own, timestamp=number)]
        mutations += [Put(row, values, timestamp=guard) for guard, values in puts.items()]
        if cell is None:
            return Conditional(row, Check.absent(cells.revision, unique=True), mutations)
        return Conditional(row, Check.equal(cells.revision, cell, unique=True), mutations)
