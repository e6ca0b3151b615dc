"""Commands about tables, namespaces, records and the files of a store."""
