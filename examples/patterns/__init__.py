"""How to lay out data in a wide-column store: one small program a pattern.

`python -m examples.patterns` lists them, `python -m examples.patterns.entity` plays one.
"""
