"""Benchmarks: each figure is a ratio against a peer, measured in the same run on the same rows.

`python -m benchmarks [GROUP …]` runs them. One file a group; `harness.py` measures and reports.
What each figure means, and what limits it, is in `docs/develop/benchmarks.md`.
"""
