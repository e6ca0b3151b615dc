"""Jobs: maintenance that runs on a schedule, in one process at a time."""
