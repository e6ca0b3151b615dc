"""Keeping the link index up to date page by page: in one commit, or step by step on a cluster."""
