"""Loads crawls: worker processes read files in batches, and a stopped load resumes."""
