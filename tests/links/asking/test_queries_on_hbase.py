"""Queries about links on HBase: some of the checks of an embedded store, on one set of tables."""

from __future__ import annotations

import pytest

from tests.links.asking import test_dump, test_link_history, test_link_problems, test_link_queries
from webtable.links.link_index import LinkIndex

pytestmark = pytest.mark.hbase


def test_queries_about_the_newest_links(web_on_hbase: LinkIndex) -> None:
    for kind in test_link_queries.KINDS:
        test_link_queries.test_links_to_every_page_are_those_of_the_newest_captures(
            web_on_hbase, kind
        )
    test_link_queries.test_links_on_every_page(web_on_hbase, "all")
    test_link_queries.test_the_most_linked_come_first(web_on_hbase, "all")
    test_link_queries.test_the_most_linked_of_a_domain_and_of_a_host(web_on_hbase)
    test_link_queries.test_domains_have_the_pages_that_are_crawled_or_linked_to(web_on_hbase)
    test_link_queries.test_an_unknown_page_is_named_with_those_near_to_it(
        web_on_hbase, "https://example.com/aboutt", test_link_queries.ABOUT
    )


def test_a_page_with_very_many_links_to_it(web_on_hbase: LinkIndex) -> None:
    test_link_queries.test_a_page_with_very_many_links_to_it_is_read_in_pieces(web_on_hbase)


def test_earlier_times(web_on_hbase: LinkIndex) -> None:
    test_link_history.test_links_to_every_page_at_every_crawl(web_on_hbase, "all")
    test_link_history.test_what_came_and_went_to_a_page(web_on_hbase)
    test_link_history.test_what_came_and_went_to_a_domain(web_on_hbase, 0, 2)


def test_reports_about_links(web_on_hbase: LinkIndex) -> None:
    test_link_problems.test_broken_links_are_all_those_to_errors(web_on_hbase, "all")
    test_link_problems.test_orphans_are_good_pages_without_inlinks(web_on_hbase, "all")
    test_link_problems.test_dead_ends_are_good_pages_without_links(web_on_hbase, "external")
    test_link_problems.test_links_are_counted_through_redirects(web_on_hbase)
    test_link_problems.test_redirects_are_followed_to_their_ends(web_on_hbase)


def test_the_whole_table(web_on_hbase: LinkIndex) -> None:
    test_dump.test_every_page_and_every_link_is_in_the_table(web_on_hbase)
