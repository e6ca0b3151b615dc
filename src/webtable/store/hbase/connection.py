"""Connections to servers, see `pipe`, in the form that is to run: compiled where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtable import compiled
from webtable.store.hbase.wire import Answer

if TYPE_CHECKING:
    from webtable.store.hbase.pipe import Call, Connection
else:
    _pipe = compiled.load("webtable.store.hbase", "pipe")
    Call, Connection = _pipe.Call, _pipe.Connection

__all__ = ["Answer", "Call", "Connection"]
