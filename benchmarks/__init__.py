"""Benchmarks: each figure is a ratio against a peer, measured in the same run on the same rows.

`python -m benchmarks [GROUP …]` runs them. One file for each group; `harness.py` measures and
reports. `docs/develop/benchmarks.md` explains each figure and what limits it.
"""
