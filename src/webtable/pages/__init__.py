"""Crawled pages: their URLs and row keys, what a crawl said about them, and the questions."""
