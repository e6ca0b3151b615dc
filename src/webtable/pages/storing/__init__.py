"""From captures to rows: what a capture changes in the row of its page, cell by cell."""
