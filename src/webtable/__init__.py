"""WebTable keeps crawled web pages and answers questions about them."""
