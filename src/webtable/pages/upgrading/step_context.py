"""`StepRun`: what an upgrade step works with, and its position, which survives a kill.

While an upgrade runs, the settings (see `webtable.pages.settings`) have three more cells:

    a:upgrade      the token of the process that runs it; another process that starts takes over
    a:upgrade_step the step with a stored position
    a:upgrade_row  that position: the step continues with this row of the main table
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from webtable.errors import CheckFailed
from webtable.pages.schema import SETTINGS_TABLE
from webtable.pages.settings import SETTINGS_ROW, PageSettings, decode_settings
from webtable.pages.storing.row_write import Parse
from webtable.store.mutation import Check, Put
from webtable.store.store import Store

__all__ = ["RUN_CELLS", "StepRun"]

TOKEN, STEP, ROW = RUN_CELLS = (b"a:upgrade", b"a:upgrade_step", b"a:upgrade_row")


class StepRun:
    """One run of one upgrade step.

    A step that was stopped runs again, so everything that it does must be harmless a second time.
    A long step stores its position now and then, and continues there.

    Attributes:
        store: the store.
        settings: its keys, profile and suffix list.
        values: the cells of the settings when the upgrade began, also those of earlier formats.
        parse: parses a stored body again.
        pages: how many pages the step has read; for the report.
    """

    def __init__(
        self,
        store: Store,
        values: Mapping[bytes, bytes],
        parse: Parse,
        *,
        token: bytes,
        name: str,
        on_progress: Callable[[str, int], None],
    ) -> None:
        self.store = store
        self.settings: PageSettings = decode_settings(values)
        self.values = values
        self.parse = parse
        self.pages = 0
        self._name = name
        self._token = token
        self._on_progress = on_progress

    @property
    def position(self) -> bytes | None:
        """The row to continue with; None: this step was not begun, or stored no position."""
        is_own = self.values.get(STEP) == self._name.encode()
        return self.values.get(ROW) if is_own else None

    def save_position(self, row: bytes, pages: int) -> None:
        """Stores where a later run continues, and reports progress.

        Args:
            row: everything before this row is done.
            pages: how many pages this run has read.

        Raises:
            CheckFailed: another process has taken over the upgrade.
        """
        self.change_settings({STEP: self._name.encode(), ROW: row})
        self.pages = pages
        self._on_progress(self._name, pages)

    def check_alone(self) -> None:
        """Checks that no other process has taken over the upgrade; before data is dropped.

        Raises:
            CheckFailed: it has.
        """
        self.change_settings({TOKEN: self._token})

    def change_settings(self, values: Mapping[bytes, bytes]) -> None:
        """Changes cells of the settings, if no other process has taken over the upgrade.

        Raises:
            CheckFailed: it has.
        """
        table, is_own = self.store.table(SETTINGS_TABLE), Check.equal(TOKEN, self._token)
        put = Put(SETTINGS_ROW, values)
        if not table.check_and_mutate(SETTINGS_ROW, is_own, put, durability="sync"):
            raise CheckFailed(
                f"another process upgrades the store '{self.store.location}'",
                hint="let it finish; if it has ended, run `webtable upgrade` again",
            )
