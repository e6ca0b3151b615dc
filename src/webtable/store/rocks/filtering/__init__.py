"""Filters on the embedded engine: what HBase's servers do with a filter, on RocksDB.

`rules` has what each filter does to cells, `row_rules` to rows, `lists` how they are combined,
`comparing` and `java_regex` the comparators, and `reading` walks through the store with them;
`deciding` and `whole_rows` spare that walk where a filter can be asked about whole rows.
"""
