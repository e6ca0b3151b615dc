"""Commands to try things with: the tour, a made-up crawl, a local HBase."""
