"""What the HTML of a page says: charset, title, links and their targets."""
