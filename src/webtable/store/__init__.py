"""The wide-column store: rows, families, qualifiers and versions as bytes, on two engines."""
