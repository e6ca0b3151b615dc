"""Running it: a local HBase for trying and for tests.

Relies on the rooms below, and is not imported by them. What a caller needs is in `local_hbase`.
"""
