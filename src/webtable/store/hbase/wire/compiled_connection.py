"""Connections to servers (`pipeline`) in the form that runs: compiled where that form exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtable import compiled
from webtable.store.hbase.wire.errors import RpcResponse

if TYPE_CHECKING:
    from webtable.store.hbase.wire.calls import Call
    from webtable.store.hbase.wire.pipeline import Connection
else:
    Call = compiled.load("webtable.store.hbase.wire", "calls").Call
    _pipe = compiled.load("webtable.store.hbase.wire", "pipeline")
    Connection = _pipe.Connection

__all__ = ["Call", "Connection", "RpcResponse"]
