"""Typed records over a store."""
