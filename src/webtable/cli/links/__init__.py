"""Commands about links."""
