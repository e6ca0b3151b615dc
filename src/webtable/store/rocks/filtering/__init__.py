"""Filters on the embedded engine: what HBase's servers do with a filter, on RocksDB.

`cell_rules` has what each filter does to cells, `row_rules` to rows, `filter_lists` how they are
combined, `comparators` the comparators, and `filtered_reader` walks through the store with them;
`whole_row_decisions` and `whole_row_scan` avoid that walk where a filter can decide about whole
rows.
"""
