"""The link graph: who links where and with which words, kept up to date page by page."""
