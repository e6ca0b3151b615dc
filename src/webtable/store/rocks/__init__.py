"""The embedded engine: one RocksDB database a store, one column family for each table and family."""
