"""Whether a store of pages is right, how large it is, and its repair."""
