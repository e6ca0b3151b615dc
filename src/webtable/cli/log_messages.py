"""The log messages of the library, printed to stderr while a command runs: `-v` prints more."""

from __future__ import annotations

import logging
from collections.abc import Callable

import click

from webtable.cli.output_formats import talk
from webtable.cli.shared_options import FORMAT_KEY

__all__ = ["print_logs"]

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_SHORT_FORMAT = "webtable: warning: %(message)s"
_FOR_PROGRAMS = ("json", "jsonl")
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


class _Printer(logging.Handler):
    """Prints each log message as one line; foreign text in it is made safe for terminals.

    Args:
        is_wanted: whether to print at all.
    """

    def __init__(self, is_wanted: Callable[[], bool]) -> None:
        super().__init__()
        self._is_wanted = is_wanted

    def emit(self, record: logging.LogRecord) -> None:
        """Prints one message."""
        if not self._is_wanted():
            return
        try:
            talk(self.format(record))
        except (OSError, ValueError, TypeError):  # as logging: a message must not end the program
            self.handleError(record)


def print_logs(root: click.Context, verbosity: int) -> None:
    """Prints messages of the loggers `webtable.*` until the command line ends.

    Args:
        root: the context of the whole command line.
        verbosity: 0 for warnings alone, 1 for information, 2 or more for debug messages.
    """
    logger = logging.getLogger("webtable")
    before = logger.level
    # A program that reads JSON reads the error as JSON, too: no line may come before it.
    printer = _Printer(lambda: bool(verbosity) or root.meta.get(FORMAT_KEY) not in _FOR_PROGRAMS)
    printer.setFormatter(logging.Formatter(_FORMAT if verbosity else _SHORT_FORMAT))
    for old in [each for each in logger.handlers if isinstance(each, _Printer)]:
        logger.removeHandler(old)
    logger.addHandler(printer)
    logger.setLevel(_LEVELS[min(verbosity, len(_LEVELS) - 1)])

    def stop() -> None:
        logger.removeHandler(printer)
        logger.setLevel(before)

    root.call_on_close(stop)
