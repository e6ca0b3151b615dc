"""Removes pages: their rows, the list of blocked URLs, and the tombstones until they are purged."""
