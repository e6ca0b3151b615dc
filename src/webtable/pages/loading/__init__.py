"""Loading crawls: files read by worker processes, in batches, and where a stopped load goes on."""
