"""From filters, which are values, to rules, which are at work in one read."""

from __future__ import annotations

from webtable.errors import InvalidRequest
from webtable.store import filters as f
from webtable.store.rocks.filtering import lists, row_rules, rules
from webtable.store.rocks.filtering.comparing import passing

__all__ = ["make_rule"]


def make_rule(filter: f.Filter, *, reverse: bool = False) -> rules.Rule:
    """Returns a rule that does what the filter says, for one read.

    Raises:
        InvalidRequest: a regular expression is not one, or not the same in Java and Python.
    """
    match filter:
        case f.FilterList():
            parts = [make_rule(each, reverse=reverse) for each in filter.filters]
            kind = lists.All if filter.must_pass == "all" else lists.One
            return kind(parts, reverse=reverse)
        # In HBase these two do not tell their filter that a scan goes backwards.
        case f.SkipFilter():
            return lists.SkipRow(make_rule(filter.filter))
        case f.WhileMatchFilter():
            return lists.While(make_rule(filter.filter))
        case f.PrefixFilter():
            return row_rules.Prefix(filter, reverse=reverse)
        case f.InclusiveStopFilter():
            return row_rules.Stop(filter, reverse=reverse)
        case f.PageFilter():
            return row_rules.Page(filter)
        case f.RandomRowFilter():
            return row_rules.RandomRow(filter)
        case f.FuzzyRowFilter():
            return row_rules.Fuzzy(filter, reverse=reverse)
        case f.MultiRowRangeFilter():
            return row_rules.RowRanges(filter, reverse=reverse)
        case f.RowFilter():
            return row_rules.RowKey(passing(filter.op, filter.comparator))
        case _:
            return _cell_rule(filter)


def _cell_rule(filter: f.Filter) -> rules.Rule:
    match filter:
        case f.KeyOnlyFilter():
            return rules.KeyOnly(filter)
        case f.FirstKeyOnlyFilter():
            return rules.FirstKeyOnly()
        case f.ColumnPrefixFilter():
            return rules.ColumnPrefix(filter)
        case f.MultipleColumnPrefixFilter():
            return rules.ColumnPrefixes(filter)
        case f.ColumnRangeFilter():
            return rules.ColumnRange(filter)
        case f.ColumnCountGetFilter():
            return rules.ColumnCount(filter)
        case f.ColumnPaginationFilter():
            return rules.ColumnPage(filter)
        case f.TimestampsFilter():
            return rules.Timestamps(filter)
        case f.CompareFilter():
            return rules.Part(filter, passing(filter.op, filter.comparator))
        case f.SingleColumnValueExcludeFilter():
            return rules.SingleValueExclude(filter, passing(filter.op, filter.comparator))
        case f.SingleColumnValueFilter():
            return rules.SingleValue(filter, passing(filter.op, filter.comparator))
        case f.ColumnValueFilter():
            return rules.ColumnValue(filter, passing(filter.op, filter.comparator))
        case f.DependentColumnFilter():
            if filter.op is None or filter.comparator is None:
                return rules.Dependent(filter, None)
            return rules.Dependent(filter, passing(filter.op, filter.comparator))
        case _:
            raise InvalidRequest(
                f"{type(filter).__name__} is not one of the filters of HBase",
                hint="compose it from those in webtable.filters",
            )
