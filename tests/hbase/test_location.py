"""What locations say, and table names in namespaces."""

from __future__ import annotations

import pytest

from webtable.errors import InvalidRequest
from webtable.store.hbase.cluster.table_names import Names
from webtable.store.hbase.location import parse_location
from webtable.store.hbase.wire.errors_and_responses import Server


def test_zookeeper_with_everything_left_out() -> None:
    location = parse_location("hbase://zk")
    assert location.by_zookeeper
    assert location.servers == (Server("zk", 2181),)
    assert location.parent == "/hbase"
    assert location.namespace is None
    assert location.timeout_seconds == 60


def test_zookeeper_with_everything() -> None:
    location = parse_location("hbase://a:1,b,[::1]:3/hbase-secure/?namespace=web&timeout=2.5")
    assert location.servers == (Server("a", 1), Server("b", 2181), Server("::1", 3))
    assert location.parent == "/hbase-secure"
    assert location.namespace == "web"
    assert location.timeout_seconds == 2.5


def test_masters() -> None:
    location = parse_location("hbase+masters://a,b:16001")
    assert not location.by_zookeeper
    assert location.servers == (Server("a", 16000), Server("b", 16001))


def test_the_host_map() -> None:
    location = parse_location("hbase://zk?host_map=rs1=10.0.0.1,rs2:16020=localhost:9")
    assert location.address_of(Server("rs1", 16020)) == Server("10.0.0.1", 16020)
    assert location.address_of(Server("rs2", 16020)) == Server("localhost", 9)
    assert location.address_of(Server("rs2", 16021)) == Server("rs2", 16021)


def test_spinning_can_be_switched_off() -> None:
    assert parse_location("hbase://a").spins
    assert parse_location("hbase://a?spin=on").spins
    assert not parse_location("hbase://a?spin=off").spins


def test_a_parent_of_several_nodes() -> None:
    assert parse_location("hbase://a/clusters/.one..b/").parent == "/clusters/.one..b"
    assert parse_location("hbase://a//").parent == "/hbase"


def test_the_letters_of_a_namespace_are_those_of_any_script() -> None:
    assert parse_location("hbase://a?namespace=Ä_1").namespace == "Ä_1"  # as HBase has it


@pytest.mark.parametrize(
    "text",
    [
        "rocks:here",
        "hbase://",
        "hbase://a,,b",
        "hbase://a:port",
        "hbase://a:0",
        "hbase://a:70000",
        "hbase://a:²",
        f"hbase://a:{'9' * 5000}",
        "hbase+masters://a/parent",
        "hbase://a/..",
        "hbase://a/.",
        "hbase://a/b/../c",
        "hbase://a/b//c",
        "hbase://a/b\0c",
        "hbase://a/b\x7f",
        "hbase://a?timeout=soon",
        "hbase://a?timeout=0",
        "hbase://a?namespace=",
        "hbase://a?namespace=a:b",
        "hbase://a?host_map=x",
        "hbase://a?host_map=x=y:z",
        "hbase://a?host_map=x=y:0",
        "hbase://a?host_map=x=y:65536",
        "hbase://a?host_map=x=y:99999",
        "hbase://a?host_map=x=y:²",
        "hbase://a?spin=fast",
        "hbase://a?colour=blue",
    ],
)
def test_what_is_no_location(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_location(text)
    assert caught.value.hint


def test_names_in_the_whole_cluster() -> None:
    names = Names(None)
    assert names.full("t") == b"t"
    assert names.full("web:t") == b"web:t"
    assert names.full("default:t") == b"t"
    assert names.shown(b"t") == "t"
    assert names.shown(b"web:t") == "web:t"
    assert names.shown(b"hbase:meta") is None


def test_names_in_the_default_namespace() -> None:
    names = Names("default")
    assert names.full("t") == b"t"
    assert names.shown(b"t") == "t"


def test_names_in_one_namespace() -> None:
    names = Names("web")
    assert names.full("t") == b"web:t"
    assert names.shown(b"web:t") == "t"
    assert names.shown(b"t") is None
    assert names.shown(b"other:t") is None
    message = names.message("t")
    assert (message.namespace, message.qualifier) == (b"web", b"t")
    with pytest.raises(InvalidRequest, match="'other:t' is not in the namespace 'web'"):
        names.full("other:t")
