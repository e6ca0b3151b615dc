"""The schema update at the start of a program that writes: off, print or execute."""

from __future__ import annotations

from webtable.config import Config, load_config
from webtable.errors import WebTableError
from webtable.loggers import get_logger
from webtable.operations.schema_update.compare_and_alter import SchemaUpdate
from webtable.operations.schema_update.send_notices import Notice, Outcome, send_notices
from webtable.operations.schema_update.update_plan import SchemaDiff
from webtable.pages.settings import is_current, read_settings
from webtable.store.store import Store

__all__ = ["notices_of", "update_at_start"]

_log = get_logger("webtable.operations")


def update_at_start(store: Store, config: Config | None = None) -> None:
    """Does what the configuration says about schema updates at the start of a program.

    `print` logs the statements as warnings; a program starts also where that fails. `execute` runs
    them. A store of pages that must be completed or upgraded first stays as it is.

    Args:
        config: None: that of the user.

    Raises:
        WebTableError: the mode is `execute`, and a statement failed.
    """
    config = load_config() if config is None else config
    mode = config.schema_update.mode
    if mode == "off":
        return
    try:
        settings = read_settings(store)
        if settings and not is_current(settings):
            return
        update = SchemaUpdate(store, config)
        found = update.diff(with_counts=False)
        if mode == "execute":
            update.run(found)
    except WebTableError as error:
        if mode == "execute":
            raise
        _log.warning("store '%s': its schema cannot be compared: %s", store.location, error)
        return
    _report(store, config, found)


def _report(store: Store, config: Config, found: SchemaDiff) -> None:
    is_run = config.schema_update.mode == "execute"
    notices = notices_of(found, is_run=is_run)
    for notice in notices:
        if notice.outcome == "not run":
            _log.warning(
                "store '%s': `webtable schema apply` would run: %s",
                store.location,
                notice.statement,
            )
        elif notice.outcome == "withheld: drops data":
            _log.warning(
                "store '%s': a schema statement that drops data is withheld: %s",
                store.location,
                notice.statement,
            )
    for advice in found.advice if is_run else ():
        _log.warning("store '%s': %s", store.location, advice)
    send_notices(config.schema_update, store.location, notices)


def notices_of(found: SchemaDiff, *, is_run: bool) -> list[Notice]:
    """Returns the notices of a diff; what a switch for a kind withholds is not among them."""
    outcome: Outcome = "run" if is_run else "not run"
    return [
        *(Notice(outcome, each.text) for each in found.statements),
        *(
            Notice("withheld: drops data", each.statement.text)
            for each in found.withheld
            if each.switch == "drop_data"
        ),
    ]
