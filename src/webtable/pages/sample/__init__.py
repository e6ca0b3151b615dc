"""A small, made-up crawl to try things with."""
