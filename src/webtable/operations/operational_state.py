"""Operational state: small values that several processes share and change by compare-and-set.

Cursors of consumers, leases of jobs and the like are about a store and not a part of its data. A
process must be able to write them while another process, a loader, holds an embedded store. So an
embedded store keeps them in a SQLite file in its directory (`sqlite_state.py`), and a cluster in a
table (`operational_state_table.py`). Both keep this contract:

- A value has a kind, such as `consumer`, and a name within that kind. Kinds and names sort as text.
- `put_if` and `delete_if` change one value atomically, and only if it is exactly the given old one.
  Of several callers with the same old value exactly one succeeds.
- What a call that returned has written is durable, and every later call of any process reads it.
- Where nothing was ever written, every read returns nothing; nothing is created by reading.
- Errors are those of `webtable.errors` only.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from webtable.errors import InvalidRequest
from webtable.store.store import Store

__all__ = ["MAX_VALUE_BYTES", "OperationalState", "check_value", "open_state"]

MAX_VALUE_BYTES = 1 << 20
_MAX_NAME_BYTES = 1_000
_KIND = re.compile(r"[a-z][a-z0-9-]*")


class OperationalState(ABC):
    """Small values by kind and name. See the contract of the module. Threads may share it."""

    @abstractmethod
    def get(self, kind: str, name: str) -> bytes | None:
        """Returns a value; None where it does not exist."""

    @abstractmethod
    def put_if(self, kind: str, name: str, old: bytes | None, new: bytes) -> bool:
        """Replaces a value if it is `old`; None: if it does not exist. Returns whether it did.

        Raises:
            ReadOnly: the state is on a medium, or in a store, that cannot be written.
            RetryableError: it is unknown whether the value was written.
        """

    @abstractmethod
    def delete_if(self, kind: str, name: str, old: bytes) -> bool:
        """Deletes a value if it is `old`; returns whether it did. Raises what `put_if` does."""

    @abstractmethod
    def items(self, kind: str) -> Sequence[tuple[str, bytes]]:
        """Returns all names and values of a kind, in the order of the names."""


def check_value(kind: str, name: str, value: bytes = b"") -> None:
    """Checks that a value may have this kind and name, and is small.

    Raises:
        InvalidRequest: it may not.
    """
    if not _KIND.fullmatch(kind):
        raise InvalidRequest(f"kind {kind!r:.80} is not valid", hint="use lower-case letters")
    is_text = name.isprintable() and not any("\ud800" <= each <= "\udfff" for each in name)
    if not (name and is_text and len(name.encode()) <= _MAX_NAME_BYTES):
        raise InvalidRequest(
            f"{kind} name {name!r:.80} is not valid",
            hint=f"use 1 to {_MAX_NAME_BYTES:,} bytes of printable text",
        )
    if len(value) > MAX_VALUE_BYTES:
        raise InvalidRequest(
            f"the value of {kind} '{name:.80}' has {len(value):,} bytes",
            hint=f"at most {MAX_VALUE_BYTES:,} are possible",
        )


def open_state(store: Store) -> OperationalState:
    """Returns the operational state of a store; costs nothing before the first call.

    That of an embedded store is writable also where the store was opened for reading only.
    """
    if store.capabilities.cluster:
        from webtable.operations.operational_state_table import TableState

        return TableState(store)
    from webtable.operations.sqlite_state import SqliteState

    return SqliteState(store.location)
