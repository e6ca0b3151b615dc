"""Queries about pages: lists with bounded results, diffs, earlier times, exports."""
