"""The embedded engine: RocksDB, one column family for each family of a table."""
