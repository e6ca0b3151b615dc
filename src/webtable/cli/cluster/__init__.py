"""Commands about the regions, servers and snapshots of a cluster."""
