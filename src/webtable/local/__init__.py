"""Real servers on this machine, for trying and for tests: HBase.

Relies on the rooms below, and is not imported by them. What a caller needs is in `hbase`.
"""
