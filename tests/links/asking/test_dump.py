"""The link index as one table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.links.asking.test_link_queries import NOW
from tests.links.web import captures, links_at
from webtable.cli.main import cli
from webtable.links.asking.dump import DumpCell, dump, layout
from webtable.links.link_index import LinkIndex
from webtable.links.schema import uri_of
from webtable.pages.asking.paged_results import _sealed

PAGES = (
    ("https://a.com/page1", ("https://c.com", "https://b.com")),
    ("https://b.com", ("https://c.com/page1", "https://c.com")),
    ("https://d.com", ("https://c.com",)),
)
# The worked example of the specification, with the counts that are right: it says 2 for com.b, to
# which one page links, and 1 for com.a/page1 and com.d, to which none does.
TABLE = """\
row               cf        cq              value
--------------------------------------------------
d:com.a           domain    pagecount       1
                  rank      0:com.a/page1   0
d:com.b           domain    pagecount       1
                  rank      1:com.b         1
d:com.c           domain    pagecount       2
                  rank      3:com.c         3
                            1:com.c/page1   1
d:com.d           domain    pagecount       1
                  rank      0:com.d         0
p:com.a/page1     page      cur             {"outlinkcount": 2, "outlinks": ["c.com", "b.com"]}
                            incount         0
p:com.b           inlinks   com.a/page1     anchorText
                  page      cur             {"outlinkcount": 2, "outlinks": ["c.com/page1", "c.com"]}
                            incount         1
p:com.c           inlinks   com.a/page1     anchorText
                            com.b           anchorText
                            com.d           anchorText
                  page      incount         3
p:com.c/page1     inlinks   com.b           anchorText
                  page      incount         1
p:com.d           page      cur             {"outlinkcount": 1, "outlinks": ["c.com"]}
                            incount         0
t:3:com.c                                   3
t:1:com.b                                   1
t:1:com.c/page1                             1
t:0:com.a/page1                             0
t:0:com.d                                   0
"""  # noqa: E501


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The pages of the specification, loaded as people do it."""
    folder = tmp_path_factory.mktemp("seed")
    lines = [
        json.dumps(
            {
                "url": url,
                "fetched": "2026-09-01T12:00:00Z",
                "html": "".join(f'<a href="{target}">anchorText</a>' for target in targets),
            }
        )
        for url, targets in PAGES
    ]
    (folder / "pages.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    location = str(folder / "store")
    for command in (["init"], ["load", "--workers", "0", str(folder / "pages.jsonl")]):
        done = CliRunner().invoke(cli, [*command, "--store", location])
        assert done.exit_code == 0, done.stderr
    return location


def test_the_worked_example_with_the_counts_that_are_right(store: str) -> None:
    answer = CliRunner().invoke(cli, ["links", "dump", "--store", store])
    assert answer.exit_code == 0
    assert answer.stdout == TABLE


def test_a_dump_goes_on_where_it_ended(store: str) -> None:
    whole = CliRunner().invoke(cli, ["links", "dump", "--store", store, "--format", "jsonl"])
    items = [json.loads(line) for line in whole.stdout.splitlines()]
    assert items[0] == {
        "row": "d:com.a",
        "family": "domain",
        "qualifier": "pagecount",
        "value": "1",
    }
    parts: list[dict[str, str]] = []
    after: list[str] = []
    for _ in items:
        arguments = ["links", "dump", "--store", store, "--format", "json", "--limit", "1", *after]
        answer = json.loads(CliRunner().invoke(cli, arguments).stdout)
        parts += answer["items"]
        assert answer["truncated"] == (len(parts) < len(items))
        after = ["--after", str(answer["next"])]
    assert parts == items


def test_a_dump_of_some_rows_is_laid_out_for_them(store: str) -> None:
    arguments = [
        "links",
        "dump",
        "--store",
        store,
        "--limit",
        "2",
        "--after",
        _sealed("dump", "t:fffffffc:com.c/\t"),
    ]
    answer = CliRunner().invoke(cli, arguments)
    assert answer.stdout == (
        "row               cf   cq   value\n"
        "----------------------------------\n"
        "t:1:com.b                   1\n"
        "t:1:com.c/page1             1\n"
    )
    behind = _sealed("dump", "t:fffffffe:com.c/page1\t")
    assert f"more results follow: continue with --after '{behind}'" in answer.stderr


def test_every_page_and_every_link_is_in_the_table(web: LinkIndex) -> None:
    lines = [line for _, line in dump(web)]
    assert len(lines) == len({(line.row, line.family, line.qualifier) for line in lines})
    pairs = {(link.source, link.target) for link in links_at(NOW)}
    known = {target for _, target in pairs} | {capture.url for capture in captures()}
    shown = {_bare(uri_of(url).decode()) for url in known}
    assert {line.row[2:] for line in lines if line.qualifier == "incount"} == shown
    assert {(line.qualifier, line.row[2:]) for line in lines if line.family == "inlinks"} == {
        (_bare(uri_of(source).decode()), _bare(uri_of(target).decode())) for source, target in pairs
    }
    for line in lines:
        if line.family == "page" and line.qualifier == "cur":
            cur = json.loads(line.value)
            assert cur["outlinkcount"] == len(cur["outlinks"]) == len(set(cur["outlinks"]))
    counts = [int(line.value) for line in lines if line.row.startswith("t:")]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) == len(shown)


def test_a_wide_cell_far_down_does_not_need_the_whole_table(tmp_path: Path) -> None:
    short = [DumpCell("t:0:a", "", "", "0")] * 1_000
    table = list(layout([*short, DumpCell("t:0:" + "x" * 50, "", "", "0")]))
    assert table[2] == "t:0:a   " + " " * (5 + 5) + "0"
    assert table[-1].startswith("t:0:" + "x" * 50)


def _bare(name: str) -> str:
    return name[:-1] if name.find("/") == len(name) - 1 else name
