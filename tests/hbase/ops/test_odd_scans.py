"""Scans of a simulated server, whose responses are valid messages without a valid meaning."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.hbase.played import played
from tests.hbase.servers import Peer, Request
from webtable.errors import ServerUnavailable
from webtable.store.hbase.engine import HBaseEngine
from webtable.store.hbase.proto import client_pb2
from webtable.store.hbase.wire.cell_blocks import encode_cells
from webtable.store.scan import Scan


@contextmanager
def scanned(response: client_pb2.ScanResponse, cells: bytes = b"") -> Iterator[HBaseEngine]:
    """Yields an engine whose only region gives the same response to every scan."""

    def reply(peer: Peer, request: Request) -> None:
        peer.answer(request.header.call_id, response, cells)

    with played(reply, 2) as (cluster, _):
        yield HBaseEngine(cluster)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "response",
    [
        client_pb2.ScanResponse(),
        client_pb2.ScanResponse(more_results=True, more_results_in_region=True),
        client_pb2.ScanResponse(heartbeat_message=True),
    ],
    ids=["nothing", "more", "heartbeat"],
)
def test_responses_that_lead_nowhere(response: client_pb2.ScanResponse, reverse: bool) -> None:
    with scanned(response) as engine:
        with pytest.raises(ServerUnavailable, match="without its number"):
            list(engine.scan("t", Scan(reverse=reverse)))
        with pytest.raises(ServerUnavailable, match="without its number"):
            list(itertools.chain(*engine.scan_many("t", [Scan(reverse=reverse)] * 2)))


def test_rows_of_a_scanner_without_a_number_are_not_given_out_again_and_again() -> None:
    parts: list[bytes] = []
    encode_cells(parts, b"row", [(b"f:q", b"v")], 1)
    response = client_pb2.ScanResponse(cells_per_result=[1], partial_flag_per_result=[False])
    with (
        scanned(response, b"".join(parts)) as engine,
        pytest.raises(ServerUnavailable, match="without its number"),
    ):
        list(engine.scan("t", Scan()))
