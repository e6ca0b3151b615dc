"""The stores of every engine that the tests of records use, under the same names."""

from __future__ import annotations

from tests.records.conftest import embedded, engine_name, hbase_store, rocks_store, store

__all__ = ["embedded", "engine_name", "hbase_store", "rocks_store", "store"]
