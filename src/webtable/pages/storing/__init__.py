"""Stores captures: computes the changes of a capture to the row of its page, cell by cell."""
