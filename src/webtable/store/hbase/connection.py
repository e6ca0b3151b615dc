"""Connections to servers, see `pipe`, in the form that is to run: compiled where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtable import compiled
from webtable.store.hbase.wire import Answer

if TYPE_CHECKING:
    from webtable.store.hbase.calls import Call
    from webtable.store.hbase.pipe import Connection
else:
    Call = compiled.load("webtable.store.hbase", "calls").Call
    _pipe = compiled.load("webtable.store.hbase", "pipe")
    Connection = _pipe.Connection

__all__ = ["Answer", "Call", "Connection"]
