"""`SchemaDiff`: what a schema update would run, and what its switches withhold."""

from __future__ import annotations

from typing import NamedTuple

from webtable.operations.schema_update.statements import Statement

__all__ = ["DiffDraft", "SchemaDiff", "Withheld"]


class Withheld(NamedTuple):
    """A statement that a switch withholds.

    Attributes:
        switch: `create`, `ttl`, `versions`, `options` or `drop_data`.
        lost_cells: how many cells the statement would drop; None where they were not counted.
    """

    statement: Statement
    switch: str
    lost_cells: int | None = 0


class SchemaDiff(NamedTuple):
    """What a store has to change.

    Attributes:
        statements: those that `apply` runs, in this order.
        withheld: those that a switch withholds.
        advice: what to do after the statements were run.
        lost_cells: how many cells the statements drop; None where they were not counted.
    """

    statements: tuple[Statement, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    advice: tuple[str, ...] = ()
    lost_cells: int | None = 0

    @property
    def is_empty(self) -> bool:
        """Whether the store has everything that is declared."""
        return not self.statements and not self.withheld

    def withheld_by(self, switch: str) -> SchemaDiff:
        """Returns the diff with all its statements withheld; the last one has their lost cells."""
        last = len(self.statements) - 1
        withheld = (
            Withheld(each, switch, self.lost_cells if number == last else 0)
            for number, each in enumerate(self.statements)
        )
        return SchemaDiff(withheld=(*withheld, *self.withheld))


class DiffDraft:
    """Collects a diff, table by table."""

    def __init__(self) -> None:
        # By text: two declarations may need the same statement.
        self._statements: dict[str, Statement] = {}
        self._withheld: dict[tuple[str, str], Withheld] = {}
        self._advice: dict[str, None] = {}
        self._lost_cells: int | None = 0

    def add(self, statement: Statement, lost_cells: int | None = 0) -> None:
        """Adds a statement that is to run."""
        if statement.text in self._statements:
            return
        self._statements[statement.text] = statement
        known = self._lost_cells is not None and lost_cells is not None
        self._lost_cells = (self._lost_cells or 0) + (lost_cells or 0) if known else None

    def withhold(self, statement: Statement, switch: str, lost_cells: int | None = 0) -> None:
        """Adds a statement that a switch withholds."""
        self._withheld.setdefault((statement.text, switch), Withheld(statement, switch, lost_cells))

    def advise(self, advice: str) -> None:
        """Adds what to do after the statements were run."""
        self._advice[advice] = None

    def finished(self) -> SchemaDiff:
        """Returns the diff."""
        return SchemaDiff(
            tuple(self._statements.values()),
            tuple(self._withheld.values()),
            tuple(self._advice),
            self._lost_cells,
        )
