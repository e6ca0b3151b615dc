"""Verifies the link index against the stored pages, repairs it and rebuilds it."""
