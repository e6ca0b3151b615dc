"""Running a store: what must be remembered about its operation, and the consumers of its feeds."""
