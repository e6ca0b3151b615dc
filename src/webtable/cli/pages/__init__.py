"""Commands about pages: loading, showing, reporting, exporting, verifying."""
