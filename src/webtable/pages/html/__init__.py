"""Parses the HTML of a page: charset, title, links and their targets."""
