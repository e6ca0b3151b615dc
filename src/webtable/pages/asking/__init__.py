"""Queries about pages: queries with bounded results, differences, earlier times, exports."""
