"""Files with anything done to them are read to their end, and what was not touched is found."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.pages.formats.crawls import http, members, page, piped
from tests.pages.formats.test_crawl_files import PACKINGS
from tests.pages.formats.test_second_reader import arc
from webtable.pages.captures import REASONS, Capture, Skipped
from webtable.pages.formats.crawl_files import read_captures

RECORDS = [page(number, 150) for number in range(8)]
LINES = b"".join(
    b'{"url": "https://example.com/%d", "fetched": 1767225600, "html": "%d"}\n' % (number, number)
    for number in range(8)
)
ARC = arc([(f"https://example.com/{number}", http(b"x" * 99)) for number in range(8)])
FILES = {
    **{name: pack(RECORDS) for name, pack in PACKINGS.items()},
    "arc": b"".join(ARC),
    "arc in gzip": members(ARC),
    "lines": LINES,
    "lines in gzip": gzip.compress(LINES),
}
DAMAGES = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.integers(0, 60),
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from(
                [b"WARC/1.0\r\n", b"\r\n\r\n", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"\n{"]
            ),
        ),
    ),
    max_size=4,
)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damages=DAMAGES)
def test_a_damaged_file_is_read_to_its_end(
    name: str, damages: list[tuple[float, int, bytes]], tmp_path: Path
) -> None:
    data = FILES[name]
    for place, length, new in damages:
        at = int(place * len(data))
        data = data[:at] + new + data[at + length :]
    path = tmp_path / "crawl"
    path.write_bytes(data)
    items = list(read_captures(path))
    places = [item.position for item in items]
    assert places == sorted(places)
    assert all(item.position <= item.after for item in items)
    assert {item.reason for item in items if isinstance(item, Skipped)} <= REASONS.keys()
    piped(data)
    if not damages:
        assert sum(isinstance(item, Capture) for item in items) == 8


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.integers(0, 7), place=st.floats(0, 1), new=st.binary(min_size=1, max_size=30))
@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_damage_in_a_member_costs_that_member_only(
    packing: str, number: int, place: float, new: bytes, tmp_path: Path
) -> None:
    packed = [PACKINGS[packing]([each]) for each in RECORDS]
    at = int(place * (len(packed[number]) - 1))
    packed[number] = packed[number][:at] + new + packed[number][at + len(new) :]
    path = tmp_path / "crawl"
    path.write_bytes(b"".join(packed))
    found = {item.url for item in read_captures(path) if isinstance(item, Capture)}
    others = {f"https://example.com/{each}" for each in range(8) if each != number}
    # A first member that cannot be recognised leaves a file of no known kind.
    assert found >= others or (number == 0 and at < 4)
