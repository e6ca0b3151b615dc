"""Running it: a local HBase for trying and for tests.

Relies on `errors` and on what is below it; nothing here is imported by the store.
"""
