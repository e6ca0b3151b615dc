"""The link index: which page links to which, with its anchor and rel; updated page by page."""
