"""Whether the link index is what the stored pages give: verifying, repairing, rebuilding."""
