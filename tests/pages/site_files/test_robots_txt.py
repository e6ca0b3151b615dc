"""Reading robots.txt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webtable.pages.body_facts import RobotsFacts, RobotsGroup, decode_facts
from webtable.pages.site_files import robots_txt
from webtable.pages.site_files.robots_txt import allows, read_robots
from webtable.pages.site_files.site_file_facts import site_facts

URL = "https://a.org/robots.txt"
TEXT = """\ufeff# a comment
User-Agent: *
Disallow: /private # why
Allow: /private/open
Crawl-delay: 2.5
Sitemap: /sitemap.xml
Sitemap: mailto:x

User-agent: One
User-agent: two
disallow:/
no rule
"""


def test_groups_rules_and_sitemaps() -> None:
    found = read_robots(TEXT.encode(), URL)
    assert found == RobotsFacts(
        groups=(
            RobotsGroup("*", ("disallow: /private", "allow: /private/open"), 2.5),
            RobotsGroup("one", ("disallow: /",)),
            RobotsGroup("two", ("disallow: /",)),
        ),
        sitemaps=("https://a.org/sitemap.xml",),
    )


@pytest.mark.parametrize(
    ("path", "agent", "allowed"),
    [
        ("/", "*", True),
        ("/private/x", "*", False),
        ("/private/open", "*", True),
        ("/", "one", False),
        ("/private", "three", False),
    ],
)
def test_rules_decide(path: str, agent: str, allowed: bool) -> None:
    assert allows(read_robots(TEXT.encode(), URL), f"https://a.org{path}", agent) is allowed


@given(
    body=st.binary(max_size=200) | st.text("user-agent: allow*/\n\r#", max_size=200).map(str.encode)
)
def test_any_bytes_have_facts(body: bytes) -> None:
    found = read_robots(body, URL)
    assert decode_facts(site_facts(URL, "text/plain", body)) == found
    allows(found, "https://a.org/x")


@pytest.mark.parametrize(
    "part",
    [
        "user-agent: %d\n",
        "user-agent: *\ndisallow: /%d\n",
        "sitemap: /%d\n",
        "user-agent: x%d\nallow:",
    ],
)
def test_a_large_file_is_cut(part: str) -> None:
    found = read_robots("".join(part % number for number in range(50_000)).encode(), URL)
    assert found.is_cut
    assert len(found.groups) <= robots_txt.MAX_GROUPS
    assert sum(len(group.rules) for group in found.groups) <= robots_txt.MAX_RULES
    assert len(found.sitemaps) <= robots_txt.MAX_SITEMAPS


def test_many_agents_share_few_rules() -> None:
    agents = "".join(f"user-agent: {number}\n" for number in range(150))
    found = read_robots((agents + "disallow: /x\n" * 1_000).encode(), URL)
    assert sum(len(group.rules) for group in found.groups) == robots_txt.MAX_RULES


def test_other_paths_and_types_are_no_robots_txt() -> None:
    assert site_facts("https://a.org/x/robots.txt", "text/plain", b"user-agent: *") == b""
    assert site_facts(URL, "image/png", b"x") == b""
