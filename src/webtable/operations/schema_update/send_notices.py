"""Sends the statements of a schema update to a log file and by e-mail, as configured.

A line of the log file is `TIME LOCATION OUTCOME: STATEMENT`; control characters are escaped. What
cannot be sent is logged as a warning, and is never an error of the program that sends it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple, TypeAlias

from webtable.config import EmailOptions, SchemaUpdateOptions
from webtable.errors import InvalidRequest
from webtable.loggers import get_logger

__all__ = ["Notice", "Outcome", "send_notices"]

_log = get_logger("webtable.operations")

Outcome: TypeAlias = Literal["run", "not run", "withheld: drops data"]


class Notice(NamedTuple):
    """A statement, and whether it was run."""

    outcome: Outcome
    statement: str


def send_notices(options: SchemaUpdateOptions, location: str, notices: Sequence[Notice]) -> None:
    """Appends notices to the log file, and sends them by e-mail, where these are configured."""
    if not notices:
        return
    location = _one_line(location)
    if options.log_file is not None:
        try:
            _append(os.path.expanduser(options.log_file), location, notices)
        except OSError as exc:
            _log.warning("schema statements cannot be appended to '%s': %s", options.log_file, exc)
    if options.email is not None:
        try:
            _send(options.email, location, notices)
        except (OSError, InvalidRequest) as exc:  # those of smtplib are among the first
            _log.warning("schema statements cannot be sent by '%s': %s", options.email.host, exc)


def _one_line(text: str) -> str:
    r"""Returns a text without line ends and other control characters.

    >>> _one_line("a\nb")
    'a\\nb'
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def _append(path: str, location: str, notices: Sequence[Notice]) -> None:
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    lines = [f"{now} {location} {each.outcome}: {each.statement}\n" for each in notices]
    # One write to the end: processes that start at the same time do not mix their lines.
    with open(path, "ab", buffering=0) as file:
        file.write("".join(lines).encode())


def _send(options: EmailOptions, location: str, notices: Sequence[Notice]) -> None:
    # Imported here: every program that writes imports this module at its start.
    import smtplib
    import ssl
    from email.message import EmailMessage

    message = EmailMessage()
    message["Subject"] = f"{options.subject}: {location}"
    message["From"] = options.sender
    message["To"] = ", ".join(options.to)
    lines = [f"Schema update of the store '{location}'.", ""]
    outcome = ""
    for each in sorted(notices, key=lambda notice: notice.outcome):
        if each.outcome != outcome:
            lines += [f"{each.outcome}:", ""]
            outcome = each.outcome
        lines.append(each.statement)
    message.set_content("\n".join(lines) + "\n")
    with smtplib.SMTP(options.host, options.port, timeout=options.timeout_seconds) as server:
        if options.starttls:
            server.starttls(context=ssl.create_default_context())
        if options.user is not None:
            server.login(options.user, _password(options))
        rejected = server.send_message(message)
    if rejected:  # some recipients; if all are, smtplib raises this itself
        raise smtplib.SMTPRecipientsRefused(rejected)


def _password(options: EmailOptions) -> str:
    password = os.environ.get(options.password_env)
    if password is None:
        raise InvalidRequest(
            f"the environment variable {options.password_env} is not set",
            hint="it has the password of the SMTP server",
        )
    return password
