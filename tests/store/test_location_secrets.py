"""A location with a user and a password is rejected, and the password is printed nowhere."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

import webtable
from webtable import happybase
from webtable.cli.main import cli
from webtable.errors import InvalidRequest
from webtable.store.hbase.location import parse_location
from webtable.store.location_secrets import SHOWN_OPTIONS, mask_secrets

SECRET = "pa55word"
LOCATIONS = [
    f"hbase://me:{SECRET}@zk",
    f"hbase://me:{SECRET}@zk:2181,zk2/hbase?namespace=web",
    f"hbase://zk,me:{SECRET}@zk2",
    f"hbase://me:x/{SECRET}@zk",
    f"hbase://me:x?{SECRET}@zk",
    f"hbase://me:x@{SECRET}@zk",
    f"hbase://{SECRET}@zk",
    f"hbase://me:{SECRET}",
    f"hbase://me:{SECRET}%40zk",
    f"hbase+masters://me:{SECRET}@master1",
    f"hbase+masters://me:{SECRET}@master1/path",
    f"hbase:/me:{SECRET}@zk",
    f"hbase//me:{SECRET}@zk",
    f"hbase:me:{SECRET}@zk",
    f"thrift://me:{SECRET}@zk:9090",
    f"zookeeper://zk?token={SECRET}",
    f"me:{SECRET}@zk:2181",
    f"hbase://zk?password={SECRET}",
    f"hbase://zk?namespace=web&token={SECRET}&timeout=3",
    f"hbase://zk?keytab={SECRET}&timeout=x",
    f"hbase+masters://zk?timeout=x&auth_token={SECRET}",
    f"hbase://zk/../x?secret={SECRET}",
]


@pytest.fixture(autouse=True)
def no_lookups(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **_: object) -> None:
        raise AssertionError(f"looked up {arguments}")

    monkeypatch.setattr(socket, "create_connection", fail)
    monkeypatch.setattr(socket, "getaddrinfo", fail)


@pytest.mark.parametrize("location", LOCATIONS)
def test_a_secret_is_rejected_and_not_shown(
    location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequest) as caught:
        webtable.open(location)
    assert SECRET not in f"{caught.value!r} {caught.value} {caught.value.hint}"
    assert caught.value.hint
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("location", LOCATIONS)
def test_no_command_prints_it(
    location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (["tables", "--format", "json"], ["stats"], ["shell", "-n"], ["init"]):
        for form in (["--store", location], None):
            monkeypatch.setenv("WEBTABLE_STORE", location if form is None else "other.wt")
            result = CliRunner().invoke(cli, [*arguments, *(form or ())], input="status\n")
            assert result.exit_code == 2, result.output
            assert SECRET not in result.output
            if "json" in arguments:
                assert json.loads(result.stderr)["code"] == "invalid-request"


@pytest.mark.parametrize("host", [f"me:{SECRET}@zk", f"me:x/{SECRET}@zk", LOCATIONS[0]])
def test_happybase_neither(host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception, match="user or a password") as caught:
        happybase.Connection(host)
    assert SECRET not in f"{caught.value!r} {caught.value}"


@pytest.mark.parametrize(
    "location",
    [
        "hbase://zk:2181,zk2/hbase?namespace=web&timeout=3",
        "hbase://[::1]:2181,::1",
        "hbase://zk?tls_ca=/home/me@work/ca.pem",
        "hbase+masters://a,b:16000?host_map=a=b:1",
        "crawl.wt",
        "/data/me@work/crawl:1.wt",
        "rocks:me:x@zk",
    ],
)
def test_what_has_no_secret_is_shown_as_it_is(location: str) -> None:
    assert mask_secrets(location) == location


def test_a_directory_may_have_such_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    webtable.open("rocks:a:b@c").close()
    webtable.open("a:b@c").close()
    webtable.open("me@work.wt").close()


def test_the_options_that_are_shown_are_those_there_are() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_location("hbase://zk?other=1")
    named = {each.partition("=")[0].strip() for each in (caught.value.hint or "").split(", ")}
    assert named == SHOWN_OPTIONS


def test_what_is_left_of_a_location() -> None:
    assert mask_secrets("hbase://me:x@zk/a?namespace=b&token=c") == (
        "hbase://***@zk/a?namespace=b&token=***"
    )
    assert mask_secrets("hbase://me:word,zk:1") == "hbase://me:***,zk:1"
