"""The files of an embedded store: the database, its directory, readers beside it, checkpoints."""
