"""From filters, which are values, to rules, which are at work in one read."""

from __future__ import annotations

from webtable.errors import InvalidRequest
from webtable.store.filtering import filters as f
from webtable.store.rocks.filtering import cell_rules, filter_lists, row_rules
from webtable.store.rocks.filtering.comparators import passing

__all__ = ["make_rule"]


def make_rule(filter: f.Filter, *, reverse: bool = False) -> cell_rules.Rule:
    """Returns a rule that implements the filter, for one read.

    Raises:
        InvalidRequest: a regular expression is not valid, or not the same in Java and Python.
    """
    match filter:
        case f.FilterList():
            parts = [make_rule(each, reverse=reverse) for each in filter.filters]
            kind = filter_lists.All if filter.must_pass == "all" else filter_lists.One
            return kind(parts, reverse=reverse)
        # In HBase the filters inside these two do not see that a scan goes backwards.
        case f.SkipFilter():
            return filter_lists.SkipRow(make_rule(filter.filter))
        case f.WhileMatchFilter():
            return filter_lists.While(make_rule(filter.filter))
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


def _cell_rule(filter: f.Filter) -> cell_rules.Rule:
    match filter:
        case f.KeyOnlyFilter():
            return cell_rules.KeyOnly(filter)
        case f.FirstKeyOnlyFilter():
            return cell_rules.FirstKeyOnly()
        case f.ColumnPrefixFilter():
            return cell_rules.ColumnPrefix(filter)
        case f.MultipleColumnPrefixFilter():
            return cell_rules.ColumnPrefixes(filter)
        case f.ColumnRangeFilter():
            return cell_rules.ColumnRange(filter)
        case f.ColumnCountGetFilter():
            return cell_rules.ColumnCount(filter)
        case f.ColumnPaginationFilter():
            return cell_rules.ColumnPage(filter)
        case f.TimestampsFilter():
            return cell_rules.Timestamps(filter)
        case f.CompareFilter():
            return cell_rules.Part(filter, passing(filter.op, filter.comparator))
        case f.SingleColumnValueExcludeFilter():
            return cell_rules.SingleValueExclude(filter, passing(filter.op, filter.comparator))
        case f.SingleColumnValueFilter():
            return cell_rules.SingleValue(filter, passing(filter.op, filter.comparator))
        case f.ColumnValueFilter():
            return cell_rules.ColumnValue(filter, passing(filter.op, filter.comparator))
        case f.DependentColumnFilter():
            if filter.op is None or filter.comparator is None:
                return cell_rules.Dependent(filter, None)
            return cell_rules.Dependent(filter, passing(filter.op, filter.comparator))
        case _:
            raise InvalidRequest(
                f"{type(filter).__name__} is not one of the filters of HBase",
                hint="compose it from those in webtable.filters",
            )
