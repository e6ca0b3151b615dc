"""Commands about the regions, servers, balancer and snapshots of a cluster."""
