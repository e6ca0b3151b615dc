r"""Operational state of a cluster: the table `webtable_operations`, created by the first write.

    kind:name     a:value    8 random bytes; 1 and the value, or 0 where it was deleted

The random bytes make every stored cell different from all others, so that a lost response of a
server is distinguished from the success of another writer (`Check(…, unique=True)`).

A deleted value stays as a cell that says so. A delete marker would hide a later put whose timestamp
is not above its own, as it happens when the clock of the next writer is behind; so timestamps only
grow, and no marker is ever written. On-disk: changing this needs a new format version. Frozen by
tests/operations/test_operational_state.py.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence

from webtable.errors import TableExists, TableNotFound
from webtable.operations.operational_state import OperationalState, check_value
from webtable.store.mutation import Check, Put
from webtable.store.scan import Scan
from webtable.store.schema import Family, TableSchema
from webtable.store.store import Store

__all__ = ["TABLE", "TableState"]

TABLE = "webtable_operations"
_VALUE = b"a:value"
_TOKEN_BYTES = 8
_STORED, _DELETED = b"1", b"0"


class TableState(OperationalState):
    """The state in a table of a cluster.

    Args:
        now_ms, new_token: where timestamps and random bytes come from.
    """

    def __init__(
        self,
        store: Store,
        *,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        new_token: Callable[[], bytes] = lambda: os.urandom(_TOKEN_BYTES),
    ) -> None:
        self._store = store
        self._table = store.table(TABLE)
        self._now_ms = now_ms
        self._new_token = new_token

    def get(self, kind: str, name: str) -> bytes | None:
        """Returns a value; see `OperationalState`."""
        check_value(kind, name)
        try:
            return _value(self._cell(_row(kind, name))[0])
        except TableNotFound:
            return None

    def items(self, kind: str) -> Sequence[tuple[str, bytes]]:
        """Returns the values of a kind; see `OperationalState`."""
        check_value(kind, "any")
        prefix = _row(kind, "")
        found = []
        try:
            for row in self._table.scan(Scan(prefix=prefix, columns=(_VALUE,))):
                value = _value(row.value(_VALUE))
                if value is not None:
                    found.append((row.key[len(prefix) :].decode(), value))
        except TableNotFound:
            return []
        return found

    def put_if(self, kind: str, name: str, old: bytes | None, new: bytes) -> bool:
        """Replaces a value if it is `old`; see `OperationalState`."""
        check_value(kind, name, new)
        return self._change(_row(kind, name), old, _STORED + new)

    def delete_if(self, kind: str, name: str, old: bytes) -> bool:
        """Deletes a value if it is `old`; see `OperationalState`."""
        check_value(kind, name)
        try:
            return self._change(_row(kind, name), old, _DELETED)
        except TableNotFound:
            return False

    def _change(self, row: bytes, old: bytes | None, new: bytes) -> bool:
        try:
            cell, timestamp = self._cell(row)
        except TableNotFound:
            if old is not None:
                return False
            cell, timestamp = None, 0
            families = (Family(name="a"),)
            with contextlib.suppress(TableExists):  # another process may be at it, too
                self._store.create_table(TableSchema(name=TABLE, families=families))
        if _value(cell) != old:
            return False
        value = self._new_token() + new
        put = Put(row, {_VALUE: value}, timestamp=max(self._now_ms(), timestamp + 1))
        if cell is None:
            check = Check.absent(_VALUE, unique=True)
        else:
            check = Check.equal(_VALUE, cell, unique=True)
        return bool(self._table.check_and_mutate(row, check, [put]))

    def _cell(self, row: bytes) -> tuple[bytes | None, int]:
        """Returns the stored cell of a row and its timestamp."""
        found = self._table.get(row, (_VALUE,))
        if found is None:
            return None, 0
        cell = found.cells[0]
        return cell.value, cell.timestamp


def _row(kind: str, name: str) -> bytes:
    return f"{kind}:{name}".encode()


def _value(cell: bytes | None) -> bytes | None:
    if cell is None or cell[_TOKEN_BYTES : _TOKEN_BYTES + 1] != _STORED:
        return None
    return cell[_TOKEN_BYTES + 1 :]
