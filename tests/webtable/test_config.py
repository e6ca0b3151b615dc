"""The user's configuration: where it is, what it may have, and what an error in it names."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import fields

from webtable.config import (
    Config,
    EmailOptions,
    FamilyOptions,
    SchemaUpdateOptions,
    TableOptions,
    load_config,
    parse_config,
)
from webtable.errors import InvalidRequest, NotFound
from webtable.store.schema import Family

WHOLE = """
[schema_update]
mode = "execute"
create = false
ttl = false
versions = false
options = false
splits = true
drop_data = true
ignore = ["test_*"]
records = ["models:Visit"]
log_file = "~/schema.log"

[schema_update.email]
host = "mail.example.org"
port = 587
starttls = true
user = "store"
password_env = "MAIL_PASSWORD"
from = "store@example.org"
to = ["ops@example.org"]
subject = "Tables"
timeout_seconds = 3.5

[tables.logs]
max_filesize = 1000
memstore_flushsize = 2000
splits = ["m"]
attributes = { OWNER = "ops" }

[tables.logs.families.a]
versions = 3
min_versions = 1
ttl_seconds = 86400
keep_deleted_cells = "TTL"
bloomfilter = "ROWCOL"
compression = "ZSTD"
data_block_encoding = "DIFF"
blocksize = 4096
in_memory = true
attributes = { "hbase.hstore.compaction.min" = "5" }
"""


def test_every_key_is_read() -> None:
    assert parse_config(WHOLE) == Config(
        schema_update=SchemaUpdateOptions(
            mode="execute",
            create=False,
            ttl=False,
            versions=False,
            options=False,
            splits=True,
            drop_data=True,
            ignore=("test_*",),
            records=("models:Visit",),
            log_file="~/schema.log",
            email=EmailOptions(
                host="mail.example.org",
                port=587,
                starttls=True,
                user="store",
                password_env="MAIL_PASSWORD",
                sender="store@example.org",
                to=("ops@example.org",),
                subject="Tables",
                timeout_seconds=3.5,
            ),
        ),
        tables={
            "logs": TableOptions(
                families={
                    "a": FamilyOptions(
                        versions=3,
                        min_versions=1,
                        ttl_seconds=86_400,
                        keep_deleted_cells="TTL",
                        bloomfilter="ROWCOL",
                        compression="ZSTD",
                        data_block_encoding="DIFF",
                        blocksize=4096,
                        in_memory=True,
                        attributes={"hbase.hstore.compaction.min": "5"},
                    )
                },
                max_filesize=1000,
                memstore_flushsize=2000,
                splits=("m",),
                attributes={"OWNER": "ops"},
            )
        },
    )


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[schema_updates]", "unknown key 'schema_updates'", "did you mean 'schema_update'?"),
        ("[schema_update]\nmodes = 1", "unknown key 'schema_update.modes'", "mean 'mode'?"),
        ("[schema_update]\nxyz = 1", "unknown key 'schema_update.xyz'", "known keys: create, "),
        ("[tables.t.families.a]\nttl = 1", "key 'tables.t.families.a.ttl'", "'ttl_seconds'?"),
        ("[schema_update.email]\nhosts = 1", "key 'schema_update.email.hosts'", "'host'?"),
        (
            '[schema_update.email]\npassword = "x"',
            "unknown key 'schema_update.email.password'",
            "'password_env'?",
        ),
        ('[schema_update]\nmode = "on"', "key 'schema_update.mode': Invalid enum value 'on'", ""),
        ('[schema_update]\nttl = "no"', "key 'schema_update.ttl': Expected `bool`", ""),
        ("[tables.t]\nmax_filesize = 1", "key 'tables.*': Object missing required field", ""),
        ("schema_update = 3", "key 'schema_update': Expected `object`", ""),
        ("[schema_update", "it is not TOML", ""),
    ],
)
def test_an_error_names_the_key(text: str, message: str, hint: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_config(text)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_the_file_is_that_of_the_environment_or_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "webtable.toml").write_text("[schema_update]\nmode = 'off'\n")
    assert load_config() == Config()  # not the one in the current folder
    users = tmp_path / "config" / "webtable" / "webtable.toml"
    users.parent.mkdir(parents=True)
    users.write_text("[schema_update]\nttl = false\n")
    assert not load_config().schema_update.ttl
    other = tmp_path / "other.toml"
    other.write_text("[schema_update]\nversions = false\n")
    monkeypatch.setenv("WEBTABLE_CONFIG", str(other))
    found = load_config().schema_update
    assert (found.ttl, found.versions) == (True, False)
    assert not load_config(users).schema_update.ttl

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("WEBTABLE_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    users = tmp_path / "home" / ".config" / "webtable" / "webtable.toml"
    users.parent.mkdir(parents=True)
    users.write_text("[schema_update]\ncreate = false\n")
    assert not load_config().schema_update.create


def test_an_error_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "webtable.toml"
    with pytest.raises(NotFound, match=f"configuration '{file}' does not exist"):
        load_config(file)
    monkeypatch.setenv("WEBTABLE_CONFIG", str(file))
    with pytest.raises(NotFound):
        load_config()
    file.write_text("[x]")
    with pytest.raises(InvalidRequest, match=f"'{file}': unknown key 'x'"):
        load_config()
    file.write_bytes(b"\xff")
    with pytest.raises(InvalidRequest, match="is not UTF-8"):
        load_config()


def test_a_declared_family_has_the_options_of_a_family() -> None:
    declared = {field.name: field.type for field in fields(FamilyOptions)}
    options = {field.name: field.type for field in fields(Family) if field.name != "name"}
    assert declared.keys() == options.keys()
    for name, kind in options.items():
        if choices := [each for each in get_args(kind) if isinstance(each, str)]:
            (given,) = (each for each in get_args(declared[name]) if get_args(each))
            assert get_args(given) == tuple(choices), name
