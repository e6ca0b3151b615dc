"""Filters as values: the filters and comparators of HBase, their language, the rows they keep.

The public names are in `webtable.filters`; what a filter does is the engines' business.
"""
