"""The cluster: where its master, its servers and its regions are, and calls that find them."""
