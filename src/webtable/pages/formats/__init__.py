"""Reads crawl files into captures (WARC, ARC, WAT, JSON lines, HTTP) and writes WARC files."""
