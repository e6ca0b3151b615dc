"""The schema update at the start of a program: its modes, and whom it notifies."""

from __future__ import annotations

import email
import email.policy
import logging
import re
from pathlib import Path

import msgspec
import pytest

import webtable
from tests.hbase.wire.certificates import Authority
from tests.operations.schema_update.smtp_server import SmtpServer
from webtable.config import Config, EmailOptions, SchemaUpdateOptions, parse_config
from webtable.errors import FormatVersionError, InvalidRequest
from webtable.operations.schema_update.send_notices import Notice, send_notices
from webtable.operations.schema_update.start_up import update_at_start
from webtable.records import Collection, Key, Record
from webtable.store.schema import Family
from webtable.webtable import WebTable

LATER = "alter 'webtable', {NAME => 'content', BLOCKSIZE => 65536}"
DROPPING = "alter 'webtable', {NAME => 'metadata', VERSIONS => 1}"


class Visit(Record, table="visits"):
    key: Key[str]


@pytest.fixture
def location(tmp_path: Path) -> str:
    """A store of pages whose main table differs in two options."""
    where = str(tmp_path / "store")
    with WebTable.open(where) as web:
        schema = web.store.describe_table("webtable")
        for name, option in (("content", {"blocksize": 4096}), ("metadata", {"versions": 5})):
            family = schema.family(name)
            assert family is not None
            schema = schema.with_family(msgspec.structs.replace(family, **option))
        web.store.alter_table(schema)
    return where


def opened(location: str, **options: object) -> Config:
    """Opens and closes the store as a program does that is configured so."""
    config = Config(schema_update=msgspec.convert(options, SchemaUpdateOptions))
    WebTable.open(location, config=config).close()
    return config


def differs(location: str) -> tuple[int, int]:
    with webtable.open(location, read_only=True) as store:
        schema = store.describe_table("webtable")
    content, metadata = schema.family("content"), schema.family("metadata")
    assert content is not None
    assert metadata is not None
    return content.blocksize, metadata.versions


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    caplog.clear()
    return found


def test_by_default_a_program_prints_what_would_run(
    location: str, caplog: pytest.LogCaptureFixture
) -> None:
    WebTable.open(location).close()
    first, second = warnings(caplog)
    assert first == f"store '{location}': `webtable schema apply` would run: {LATER}"
    assert second == (
        f"store '{location}': a schema statement that drops data is withheld: {DROPPING}"
    )
    assert differs(location) == (4096, 5)
    WebTable.open(location, read_only=True).close()  # a reader cannot alter anything
    assert warnings(caplog) == []


def test_off_compares_nothing(location: str, caplog: pytest.LogCaptureFixture) -> None:
    opened(location, mode="off")
    assert warnings(caplog) == []
    assert differs(location) == (4096, 5)


def test_execute_runs_what_the_switches_allow(
    location: str, caplog: pytest.LogCaptureFixture
) -> None:
    opened(location, mode="execute", options=False)
    assert differs(location) == (4096, 5)
    assert [DROPPING in each for each in warnings(caplog)] == [True]
    opened(location, mode="execute")
    assert differs(location) == (65_536, 5)
    warnings(caplog)
    opened(location, mode="execute", drop_data=True)
    assert differs(location) == (65_536, 1)
    assert warnings(caplog) == []
    opened(location, mode="print")
    assert warnings(caplog) == []


def test_ignored_tables_and_new_ones(location: str) -> None:
    opened(location, mode="execute", ignore=["webtable"], records=[f"{__name__}:Visit"])
    assert differs(location) == (4096, 5)
    with webtable.open(location) as store:
        assert "visits" in store.tables()


def test_the_users_file_decides(
    location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "webtable.toml"
    file.write_text('[schema_update]\nmode = "execute"\n')
    monkeypatch.setenv("WEBTABLE_CONFIG", str(file))
    WebTable.open(location).close()
    assert differs(location) == (65_536, 5)
    file.write_text("[schema_update]\nmodee = 1\n")
    with pytest.raises(InvalidRequest, match=r"unknown key 'schema_update[.]modee'"):
        WebTable.open(location)
    WebTable.open(location, read_only=True).close()


def test_a_store_of_another_format_is_not_compared(
    location: str, caplog: pytest.LogCaptureFixture
) -> None:
    with webtable.open(location) as store:
        store.table("webtable_settings").put(b"pages", {b"a:format": b"3"})
        update_at_start(store, Config(schema_update=SchemaUpdateOptions(mode="execute")))
        assert warnings(caplog) == []
    assert differs(location) == (4096, 5)
    with pytest.raises(FormatVersionError):
        WebTable.open(location)


def test_a_comparison_that_fails_stops_only_a_program_that_executes(
    location: str, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = {"mode": "print", "records": ["nothing:Visit"]}
    opened(location, **wrong)
    (warning,) = warnings(caplog)
    assert "its schema cannot be compared: record class 'nothing:Visit'" in warning
    with pytest.raises(InvalidRequest, match="'nothing:Visit' cannot be imported"):
        opened(location, **{**wrong, "mode": "execute"})


def test_a_store_without_pages_is_compared_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with webtable.open(str(tmp_path / "records")) as store:
        Collection(store, Visit)
        store.alter_table(store.describe_table("visits").with_family(Family(name="a", versions=1)))
        update_at_start(store, Config())
        (warning,) = warnings(caplog)
        assert "alter 'visits', {NAME => 'a', BLOOMFILTER => 'NONE'" in warning


# Where the statements go


def test_statements_go_to_a_log_file(location: str, tmp_path: Path) -> None:
    file = tmp_path / "statements.log"
    opened(location, log_file=str(file))
    opened(location, mode="execute", log_file=str(file))
    lines = file.read_text().splitlines()
    assert [re.sub(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ", "", line) for line in lines] == [
        f"{location} not run: {LATER}",
        f"{location} withheld: drops data: {DROPPING}",
        f"{location} run: {LATER}",
        f"{location} withheld: drops data: {DROPPING}",
    ]
    opened(location, mode="execute", drop_data=True, log_file=str(file))
    length = file.stat().st_size
    opened(location, log_file=str(file))
    assert file.stat().st_size == length  # no difference, no line


def test_a_location_cannot_add_lines_to_a_notice(tmp_path: Path) -> None:
    file = tmp_path / "statements.log"
    notices = [Notice("run", "create 't', {NAME => 'a'}")]
    with SmtpServer() as server:
        options = msgspec.convert(
            {"log_file": str(file), "email": mail_to(server)}, SchemaUpdateOptions
        )
        send_notices(options, "a\nb\udcff", notices)
        (received,) = server.messages
    assert "a\\nb\\udcff" in received.text
    (line,) = file.read_text().splitlines()
    assert line.endswith("Z a\\nb\\udcff run: create 't', {NAME => 'a'}")


def mail_to(server: SmtpServer, **options: object) -> dict[str, object]:
    return {
        "host": "127.0.0.1",
        "port": server.port,
        "from": "store@example.org",
        "to": ["ops@example.org", "more@example.org"],
        **options,
    }


def test_statements_are_sent_by_email(location: str) -> None:
    with SmtpServer() as server:
        opened(location, email=mail_to(server, subject="Tables"))
        (received,) = server.messages
    assert received.sender == "store@example.org"
    assert received.recipients == ("ops@example.org", "more@example.org")
    assert received.login is None
    message = email.message_from_string(received.text, policy=email.policy.default)
    assert message["Subject"].strip() == f"Tables: {location}"  # folded, as it is long
    assert message["From"] == "store@example.org"
    assert message["To"] == "ops@example.org, more@example.org"
    lines = message.get_content().splitlines()
    assert lines[0] == f"Schema update of the store '{location}'."
    assert lines[lines.index("not run:") + 2] == LATER
    assert lines[lines.index("withheld: drops data:") + 2] == DROPPING


def test_an_email_may_be_encrypted_and_need_a_password(
    location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    authority = Authority(tmp_path)
    with SmtpServer(authority.issue("mail")) as server:
        options = mail_to(server, starttls=True, user="store", password_env="MAIL_PASSWORD")
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.ca))
        opened(location, email=options)
        assert any("MAIL_PASSWORD is not set" in each for each in warnings(caplog))
        monkeypatch.setenv("MAIL_PASSWORD", "s3cret")
        opened(location, email=options)
        (received,) = server.messages
        assert received.is_encrypted
        assert received.login == ("store", "s3cret")
        assert "s3cret" not in "".join(warnings(caplog))
        # The certificate is checked: another authority has not signed it.
        monkeypatch.setenv("SSL_CERT_FILE", str(Authority(tmp_path, "other").ca))
        opened(location, email=options)
        assert any("cannot be sent by '127.0.0.1'" in each for each in warnings(caplog))
        assert len(server.messages) == 1


def test_a_notice_that_cannot_be_sent_does_not_stop_the_program(
    location: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with SmtpServer() as server:
        closed = mail_to(server)
    opened(location, email=closed, log_file=str(tmp_path))
    shown = warnings(caplog)
    assert any(f"cannot be appended to '{tmp_path}'" in each for each in shown)
    assert any("cannot be sent by '127.0.0.1'" in each for each in shown)


def test_a_recipient_that_is_rejected_is_named(
    location: str, caplog: pytest.LogCaptureFixture
) -> None:
    with SmtpServer(rejects="more@example.org") as server:
        opened(location, email=mail_to(server))
    assert [each.recipients for each in server.messages] == [("ops@example.org",)]
    assert any("more@example.org" in each for each in warnings(caplog))


def test_an_address_cannot_add_lines_to_a_message() -> None:
    text = '[schema_update.email]\nhost = "h"\nfrom = "a"\nto = ["b\\nBcc: c"]\n'
    with pytest.raises(InvalidRequest, match="one line each"):
        parse_config(text)
    with pytest.raises(InvalidRequest, match="no recipient"):
        parse_config('[schema_update.email]\nhost = "h"\nfrom = "a"\nto = []\n')
    assert "password" not in EmailOptions.__struct_fields__
