"""Java's regular expressions, searched in bounded time.

`translation` turns an expression of Java into one of Python, `backtracking_cost` bounds the steps
that Python's backtracking search can take with it, `automaton` searches without backtracking, and
`search` chooses between the two.
"""

from webtable.store.regex.search import Search, compile_regex

__all__ = ["Search", "compile_regex"]
