"""What the newest links of a page change, against the words of the rule, over random input."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webtable.links import schema
from webtable.links.cell_encoding import decode_cur, encode_cur, encode_uris, live_values
from webtable.links.updating.link_changes import LinkChanges, Newest, link_changes

PAGE = b"com.page/"
TARGETS = [b"com.a/", b"com.b/", b"com.c/", b"com.d/"]
URLS = ["https://a.com/", "https://b.com/", "https://c.com/", "https://d.com/"]

targets = st.lists(st.sampled_from(TARGETS), max_size=4, unique=True)
texts = st.lists(
    st.tuples(st.sampled_from(URLS), st.sampled_from(["", "nofollow"]), st.sampled_from("xy")),
    max_size=5,
).map(lambda links: "\n".join("\t".join(link) for link in links))
newest_links = st.none() | st.builds(Newest, st.integers(1, 4), texts, st.just(False))


@st.composite
def rows(draw: st.DrawFn) -> dict[bytes, bytes]:
    """A row of the index, or the cells that it may lack."""
    row: dict[bytes, bytes] = {}
    if draw(st.booleans()):
        row[schema.AT] = b"%d" % draw(st.integers(1, 4))
        row[schema.CUR] = encode_cur(draw(texts))
    if draw(st.booleans()):
        row[schema.JOURNAL] = encode_uris(draw(targets))
    return row


def is_written(row: dict[bytes, bytes], newest: Newest | None) -> bool:
    return newest is not None and newest.revision > int(row.get(schema.AT, b"0"))


@given(row=rows(), newest=newest_links, own=targets)
def test_the_states_before_and_after(
    row: dict[bytes, bytes], newest: Newest | None, own: list[bytes]
) -> None:
    changes = link_changes(PAGE, row, newest, own)
    assert changes.before == live_values(decode_cur(row.get(schema.CUR)))
    if newest is not None and is_written(row, newest):
        assert changes.after == live_values(newest.links)
        assert changes.put[schema.AT] == b"%d" % newest.revision
        stored = changes.put.get(schema.CUR, row.get(schema.CUR))
        assert decode_cur(stored) == newest.links
    else:
        assert changes.after == changes.before
        assert changes.put == {}
        assert changes.changed == set()


@given(row=rows(), newest=newest_links, own=targets)
def test_targets_that_are_updated(
    row: dict[bytes, bytes], newest: Newest | None, own: list[bytes]
) -> None:
    changes = link_changes(PAGE, row, newest, own)
    before, after = changes.before, changes.after
    expected = {target for target in TARGETS if before.get(target) != after.get(target)}
    if is_written(row, newest) and schema.AT not in row:
        expected.add(PAGE)
    assert changes.changed == expected
    expected |= set(own) - set(after)
    expected |= set(changes.unfinished)
    assert encode_uris(changes.unfinished) == row.get(schema.JOURNAL, b"")
    assert changes.targets() == expected


@given(row=rows(), newest=newest_links, own=targets)
def test_the_same_links_again_change_nothing(
    row: dict[bytes, bytes], newest: Newest | None, own: list[bytes]
) -> None:
    first = link_changes(PAGE, row, newest, own)
    again = link_changes(PAGE, {**row, **first.put}, newest, own)
    others = first.others, first.unfinished
    assert again == LinkChanges(first.after, first.after, {}, (), set(), *others)


def test_links_in_another_order_are_stored_without_updates_of_targets() -> None:
    one, other = "https://a.com/\t\tx", "https://b.com/\t\ty"
    row = {schema.AT: b"1", schema.CUR: encode_cur(f"{one}\n{other}")}
    changes = link_changes(PAGE, row, Newest(2, f"{other}\n{one}"))
    assert decode_cur(changes.put[schema.CUR]) == f"{other}\n{one}"
    assert changes.targets() == set()


def test_links_that_stay_are_not_stored_again() -> None:
    row = {schema.AT: b"1", schema.CUR: encode_cur("https://a.com/\t\tx")}
    changes = link_changes(PAGE, row, Newest(2, "https://a.com/\t\tx"))
    assert changes.put == {schema.AT: b"2"}


def test_a_removed_page_keeps_the_end_of_its_links_as_a_guard() -> None:
    row = {schema.AT: b"3", schema.CUR: encode_cur("https://a.com/\t\tx")}
    removed = link_changes(PAGE, row, Newest(5, "", is_removed=True), [b"com.b/"])
    assert (removed.put, set(removed.delete)) == (
        {schema.REMOVED_AT: b"5"},
        {schema.AT, schema.CUR},
    )
    assert removed.targets() == {PAGE, b"com.a/", b"com.b/"}
    assert removed.after == {}
    late = link_changes(PAGE, removed.put, Newest(4, "https://a.com/\t\tx"))
    assert (late.put, late.targets()) == ({}, set())
    again = link_changes(PAGE, removed.put, Newest(6, "https://a.com/\t\tx"))
    assert again.put[schema.AT] == b"6"
    assert again.targets() == {PAGE, b"com.a/"}


def test_targets_that_are_left_out_have_no_state() -> None:
    links = "https://a.com/\t\tx\nhttps://b.com/\t\ty"
    row = {schema.AT: b"1", schema.CUR: encode_cur(links)}
    changes = link_changes(
        PAGE, row, Newest(2, links), [b"com.a/"], is_left_out=lambda uri: uri == b"com.a/"
    )
    assert set(changes.before) == set(changes.after) == {b"com.b/"}
    assert changes.targets() == set()
