"""Queries about links: now, at earlier times, over a whole site."""
