"""Generates a small sample crawl."""
