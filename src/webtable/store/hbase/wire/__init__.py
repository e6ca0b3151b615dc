"""The wire: connections to servers, HBase's RPC frames, and requests and cells as bytes.

Seven of its modules may run compiled and use each other's C types; see docs/develop/compiled.md.
"""
