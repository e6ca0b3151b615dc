"""Unique entries: claims of rows on keys, changed only by check-and-mutate.

A unique entry is never deleted. It records which row has the key since which revision, or that it
is free. A claim is not yet a right: the row's facts are the truth, as everywhere. A writer that
finds a key whose owner's facts lack it sees either a leftover or another writer at work. So it
first moves the owner's revision, which makes that writer start again and renew its claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from webtable.errors import CheckFailed, NotUnique
from webtable.index import write_protocol
from webtable.index.cell_encoding import (
    Claim,
    Removal,
    Revision,
    decode_claim,
    encode_claim,
    encode_free,
    encode_revision,
)
from webtable.index.index_and_change import Entry, Index, RowState
from webtable.index.row_write_attempt import RowAttempt
from webtable.index.table_and_indexes import IndexHome
from webtable.store.cells_and_rows import Row
from webtable.store.mutation import Check, Durability, Put
from webtable.store.table import Table

__all__ = ["Claims", "Ledger", "StoredClaim"]

_ATTEMPTS = 1000


class StoredClaim(NamedTuple):
    """A unique entry as it was read; a timestamp of 0 and no value mean that none exists yet."""

    claim: Claim | None
    value: bytes | None
    timestamp: int

    @property
    def owner(self) -> bytes | None:
        """The row that has the key, None when it is free."""
        return self.claim.owner if self.claim else None


class Claims:
    """Takes and frees the unique entries of one indexed table."""

    def __init__(self, home: IndexHome) -> None:
        self._home = home
        self.durability: Durability = "wal"

    def read(self, table: str, key: bytes, column: bytes) -> StoredClaim:
        """Reads a unique entry."""
        return _stored(self._home.store.table(table).get(key, (column,)))

    def read_many(self, index: Index, keys: Sequence[bytes]) -> list[StoredClaim]:
        """Reads many entries of a unique index at once."""
        found = self._home.store.table(index.table).get_many(keys, (index.column,))
        return [_stored(each) for each in found]

    def take(self, index: Index, entry: Entry, row: bytes, revision: Revision) -> None:
        """Claims a key for an attempt to write a row.

        Raises:
            NotUnique: another row has it, by its facts.
            CheckFailed: others changed it each time.
        """
        for _ in range(_ATTEMPTS):
            stored = self.read(index.table, entry.key, index.column)
            owner = stored.owner
            if owner is not None and owner != row:
                state = self._home.read_state(owner)
                if entry in index.entries(owner, state.facts):
                    raise NotUnique(index.name, entry.key, owner)
                if not self.move_owner(state):
                    continue
            # Also where the row has it already: another writer may be about to take it over.
            if self._swap(index, entry.key, stored, encode_claim(revision, row), revision.number):
                return
        raise CheckFailed(
            f"the key {entry.key!r:.80} of index '{index.name}' was changed by others"
            f" {_ATTEMPTS} times",
            hint="try again when less is written to it",
        )

    def move_owner(self, state: RowState) -> bool:
        """Moves the revision of a row, so that a writer under way there has to start again."""
        number = write_protocol.new_revision(self._home.clock.now_ms(), state.revision.number)
        cell = encode_revision(Revision(number, self._home.new_token()))
        column = self._home.revision_column
        check = Check.absent(column, unique=True)
        if state.cell is not None:
            check = Check.equal(column, state.cell, unique=True)
        put = Put(state.row, {column: cell}, timestamp=number)
        return self._change(self._home.table, check, put)

    def free(self, gone: Removal, row: bytes, old_revision: int) -> None:
        """Frees a key that a row has no more; nothing happens if it was claimed since."""
        stored = self.read(gone.table, gone.key, gone.column)
        if stored.claim is None or not write_protocol.may_free(stored.claim, row, old_revision):
            return
        self.release(gone, stored, old_revision)

    def release(self, gone: Removal, stored: StoredClaim, revision: int) -> bool:
        """Makes a unique entry free if it is still what was read."""
        timestamp = write_protocol.claim_timestamp(revision, stored.timestamp)
        value = encode_free(Revision(timestamp, self._home.new_token()))
        put = Put(gone.key, {gone.column: value}, timestamp=timestamp)
        table = self._home.store.table(gone.table)
        return self._change(table, unchanged(gone.column, stored), put)

    def _swap(
        self, index: Index, key: bytes, stored: StoredClaim, value: bytes, revision: int
    ) -> bool:
        timestamp = write_protocol.claim_timestamp(revision, stored.timestamp)
        put = Put(key, {index.column: value}, timestamp=timestamp)
        table = self._home.store.table(index.table)
        return self._change(table, unchanged(index.column, stored), put)

    def _change(self, table: Table, check: Check, put: Put) -> bool:
        return bool(table.check_and_mutate(put.row, check, put, durability=self.durability))


class Ledger:
    """Unique entries while one atomic commit is put together: as stored, with its own claims.

    No other writer runs meanwhile, so a claim is a plain put, and only facts decide.
    """

    def __init__(self, home: IndexHome, states: Mapping[bytes, RowState]) -> None:
        self._home = home
        self._states = states
        self._claims = Claims(home)
        self._cache: dict[tuple[str, bytes], StoredClaim] = {}

    def claim(self, attempt: RowAttempt) -> list[tuple[str, Put]]:
        """Returns the puts that give a row its keys and free those it has no more.

        Raises:
            NotUnique: another row has a key; nothing was noted then.
        """
        for index, entry in attempt.claims:
            owner = self._stored(index.table, entry.key, index.column).owner
            if owner is not None and owner != attempt.row:
                state = self._states.get(owner) or self._home.read_state(owner)
                if entry in index.entries(owner, state.facts):
                    raise NotUnique(index.name, entry.key, owner)
        puts = []
        for gone in attempt.gone:
            if not gone.is_claim:
                continue
            stored = self._stored(gone.table, gone.key, gone.column)
            if stored.owner == attempt.row:
                puts.append(self._put(gone, stored, attempt.revision, None))
        for index, entry in attempt.claims:
            place = Removal(index.table, entry.key, index.column)
            stored = self._stored(*place[:3])
            puts.append(self._put(place, stored, attempt.revision, attempt.row))
        return puts

    def _stored(self, table: str, key: bytes, column: bytes) -> StoredClaim:
        stored = self._cache.get((table, key))
        if stored is None:
            stored = self._cache[table, key] = self._claims.read(table, key, column)
        return stored

    def _put(
        self, place: Removal, stored: StoredClaim, revision: Revision, owner: bytes | None
    ) -> tuple[str, Put]:
        timestamp = write_protocol.claim_timestamp(revision.number, stored.timestamp)
        value = encode_free(revision) if owner is None else encode_claim(revision, owner)
        self._cache[place.table, place.key] = StoredClaim(Claim(owner, revision), value, timestamp)
        return place.table, Put(place.key, {place.column: value}, timestamp=timestamp)


def _stored(found: Row | None) -> StoredClaim:
    if found is None:
        return StoredClaim(None, None, 0)
    cell = found.cells[0]
    return StoredClaim(decode_claim(cell.value), cell.value, cell.timestamp)


def unchanged(column: bytes, stored: StoredClaim) -> Check:
    """The unique entry is still exactly what was read."""
    if stored.value is None:
        return Check.absent(column, unique=True)
    return Check.equal(column, stored.value, unique=True)
