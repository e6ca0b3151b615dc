"""`pipelined_connection` in the form that runs: compiled where that form exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtable import compiled
from webtable.store.hbase.wire.errors_and_responses import RpcResponse

if TYPE_CHECKING:
    from webtable.store.hbase.wire.calls import Call
    from webtable.store.hbase.wire.pipelined_connection import Connection
else:
    Call = compiled.load("webtable.store.hbase.wire", "calls").Call
    _pipe = compiled.load("webtable.store.hbase.wire", "pipelined_connection")
    Connection = _pipe.Connection

__all__ = ["Call", "Connection", "RpcResponse"]
