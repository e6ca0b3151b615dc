"""Administration of a cluster, through its master: one module an area, and `admin` over all."""
