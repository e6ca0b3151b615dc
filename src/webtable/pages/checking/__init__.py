"""Verifies and repairs a store of pages, and measures its size."""
