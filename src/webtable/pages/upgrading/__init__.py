"""Upgrading a store of pages of an earlier format."""
