"""Reading records: ranges of keys, partitions merged in order, rows decoded, indexes looked up."""
