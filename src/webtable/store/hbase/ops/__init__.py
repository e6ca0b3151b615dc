"""Operations on rows: many at once, conditional ones, scans, and bulks of writes."""
