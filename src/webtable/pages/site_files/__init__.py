"""Files that describe a site to crawlers: robots.txt and sitemaps."""
