"""`WebTable`: one object over a store of pages, its links and what is below. The front door."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, BinaryIO, Literal, Self

from webtable.errors import AlreadyExists, WebTableError
from webtable.links.asking.links_api import Links
from webtable.links.create_or_open_tables import create_tables, link_hook, opened_links
from webtable.links.link_index import LinkIndex
from webtable.operations.changes_api import Changes
from webtable.operations.jobs.open_store_after_jobs import open_store
from webtable.operations.removals import Removals
from webtable.pages.asking.page_at_time import captures_of, indexability_of, page_at
from webtable.pages.asking.paged_results import Results
from webtable.pages.asking.reports import Reports, pages_under
from webtable.pages.body_facts import Facts, Indexability
from webtable.pages.page import Outcome, Page, PageCapture
from webtable.pages.page_table import PageTable
from webtable.pages.storing.capture_parser import parse_stored, ready
from webtable.pages.time_arguments import When, optional_second
from webtable.store.store import Store, closed_on_error
from webtable.temporary_folders import remove_all_dead

if TYPE_CHECKING:
    from webtable.config import Config
    from webtable.links.checking.rebuild import RebuildReport
    from webtable.links.updating.cluster_counts import Drained
    from webtable.links.whole_store_verification import StoreReport
    from webtable.operations.removals import RemovalReport
    from webtable.pages.asking.export import ExportReport, Form
    from webtable.pages.asking.page_diff import PageDiff
    from webtable.pages.asking.response_headers import ResponseHeaders
    from webtable.pages.captures import Position, Skipped
    from webtable.pages.checking.doctor import Finding
    from webtable.pages.formats.program_captures import Headers
    from webtable.pages.loading.loader import LoadReport
    from webtable.pages.upgrading.upgrade import UpgradeReport

__all__ = ["KeyName", "ProfileName", "WebTable"]

KeyName = Literal["readable", "salted"]
"""How row keys are made."""
ProfileName = Literal["live", "archive"]
"""How long versions are kept."""


class WebTable:
    """A store of crawled pages: every version of a page, everything under a domain, and the links.

    `open` opens a store, and creates it if it does not exist. Use it in a `with` block, and share
    it between threads: reads run side by side, and writes of one object take turns. One process may
    write an embedded store; any number of processes read it at the same time (`read_only=True`).
    `WebTable(store)` uses a store that is open already.

    Every method with a URL raises `InvalidUrl` if no page can have that URL; every method with a
    time or a domain raises `InvalidRequest` if that is not valid. Methods that write raise
    `ReadOnly` after `read_only=True`; after `close` every method raises `StoreClosed`. On a
    cluster, a `RetryableError` means that the same call may work later.

    Attributes:
        store: the wide-column store below: its tables, rows and administration.
        reports: lists of pages: the largest, errors, redirects, duplicates, modified …
        links: links to and on pages, the most linked pages, broken links, changes …
        changes: call it for the pages that changed after a cursor; its methods are about named
            consumers of these changes.
        removals: what was removed, and what is blocked; see `remove`.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._table = PageTable.open(store, parse_stored)
        self.reports = Reports(self._table)
        self.links = Links(self._table)
        self.changes = Changes(self._table)
        self._write_lock = threading.RLock()
        self.removals = Removals(self._table, self._writing)

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str],
        *,
        create: bool = True,
        read_only: bool = False,
        keys: KeyName | None = None,
        profile: ProfileName | None = None,
        config: Config | None = None,
    ) -> Self:
        """Opens a store of pages.

        Args:
            location: a directory, `hbase://HOST` or `hbase+masters://HOST`.
            create: create the store if it does not exist, and complete a creation that was
                interrupted.
            read_only: do not write. An embedded store may be written by another process meanwhile;
                `refresh` shows what it has stored since.
            keys, profile: for a new store, see `create`.
            config: what to do if the schema differs, and more; None: the user's configuration.

        Raises:
            NotFound: there is no store of pages, and it is not to be created.
            FormatVersionError: the store has an earlier format, see `upgrade`, or a newer one.
            StoreLocked: another process writes this embedded store.
        """
        is_new_allowed = create and not read_only
        store = open_store(os.fspath(location), read_only=read_only, create=is_new_allowed)
        with closed_on_error(store):
            if is_new_allowed:
                with contextlib.suppress(AlreadyExists):
                    create_tables(store, keys, profile)
            if not read_only:
                from webtable.operations.schema_update.start_up import update_at_start

                remove_all_dead()
                update_at_start(store, config)
            return cls(store)

    @classmethod
    def create(
        cls,
        location: str | os.PathLike[str],
        *,
        keys: KeyName | None = None,
        profile: ProfileName | None = None,
    ) -> Self:
        """Creates a store of pages, or finishes one whose creation was interrupted.

        Args:
            keys: `readable` row keys (the default in a directory), or `salted` ones, which spread
                over the servers of a cluster (the default there).
            profile: `archive` (the default) keeps every version for ever, `live` keeps three
                bodies for 90 days and two lists of links for 180 days.

        Raises:
            AlreadyExists: it exists.
            InvalidRequest: other tables have the same names.
        """
        store = open_store(os.fspath(location))
        with closed_on_error(store):
            create_tables(store, keys, profile)
            return cls(store)

    @staticmethod
    def upgrade(
        location: str | os.PathLike[str],
        *,
        on_progress: Callable[[str, int], None] | None = None,
    ) -> UpgradeReport:
        """Brings a store of pages of an earlier format to the present one, in bounded memory.

        `open` rejects such a store with `FormatVersionError`. Close it in every other process
        first. An upgrade that was stopped, at any moment, continues when it is run again; a store
        of the present format stays as it is.

        Args:
            on_progress: is called with a step of the upgrade and the number of pages that it has
                read.

        Raises:
            NotFound: there is no store of pages.
            FormatVersionError: the store has a newer format; the hint names the version to install.
            StoreLocked: another process writes this embedded store.
        """
        from webtable.links.feed_backfill import LINK_STEPS
        from webtable.pages.upgrading.upgrade import upgrade

        with open_store(os.fspath(location), create=False) as store:
            report = on_progress or (lambda *_: None)
            return upgrade(store, parse_stored, LINK_STEPS, on_progress=report)

    @property
    def keys(self) -> str:
        """How row keys are made: `readable` or `salted`."""
        return self._table.keys.name

    @property
    def profile(self) -> str:
        """How long versions are kept: `archive` or `live`."""
        return self._table.profile

    # Writing

    def load(
        self,
        *paths: str | os.PathLike[str],
        workers: int | None = None,
        on_skipped: Callable[[Skipped], None] | None = None,
        on_progress: Callable[[str, Position, LoadReport], None] | None = None,
        check: bool = True,
    ) -> LoadReport:
        """Loads crawl files: WARC, ARC, WAT or JSON lines; indexes and links follow.

        A file that is loaded again changes nothing; a load that was stopped is resumed.

        Args:
            paths: files, `-` for the standard input.
            workers: processes that read and parse; None: one for each processor core.
            on_skipped: is called for every record that is not stored, or not in full.
            on_progress: is called with a file and how far in it everything is stored.
            check: raise an error if something was not read or not stored. Without it, the report
                has the numbers.

        Raises:
            IncompleteLoad: a part of a file was not read; the rest is stored. The notes of the
                error have the reason for each file.
        """
        from webtable.pages.loading.loader import Loader

        with self._writing() as pages:
            loader = Loader(
                pages,
                workers=os.cpu_count() or 1 if workers is None else workers,
                on_skipped=on_skipped,
            )
            if on_progress is not None:
                loader.on_progress = lambda path, at: on_progress(path, at, loader.report)
            report = loader.load([os.fspath(path) for path in paths])
            self.removals.purge_some()
        if check:
            report.check()
        return report

    def put(
        self,
        url: str,
        body: bytes | str,
        *,
        status: int = 200,
        headers: Headers = (),
        fetched: When | None = None,
    ) -> Outcome:
        """Stores one capture of a program's own crawler; indexes and links follow.

        Returns the outcome: `new`, `changed`, `unchanged`, or `older` than the newest stored
        capture. Each call is one commit: for many pages, `load` is several times faster.

        Args:
            body: text is stored as UTF-8, and is HTML unless the headers have another type. Bytes
                may be uncompressed, or compressed as the header `Content-Encoding` says. A body of
                more than 8 MiB is not stored, but its capture is.
            headers: as the server sent them; they are stored with the capture. Type, charset,
                redirect, canonical and robots count.
            fetched: the time of the capture; None: now.

        Raises:
            InvalidUrl: no page can have this URL.
            InvalidRequest: status, headers or time are not valid for a capture.
            UrlBlocked: the URL was removed, and is not to be stored again.
        """
        from webtable.pages.formats.program_captures import capture_of_program

        second = optional_second(fetched)
        capture = ready(capture_of_program(url, body, status, headers, second))
        with self._writing() as pages:
            (outcome,) = pages.try_captures([capture])
            if isinstance(outcome, WebTableError):
                raise outcome
            if pages.hook is not None:
                pages.hook.settle(is_last=True)
        return outcome

    def remove(self, target: str, *, dry_run: bool = False, block: bool = False) -> RemovalReport:
        """Removes pages with all their versions, index entries, and the links that they gave.

        Args:
            target: a URL, a domain with everything under it, or a prefix such as
                `example.com/blog/*`.
            dry_run: only count, and return examples.
            block: do not store these URLs again, and leave them out of links.

        Raises:
            NotFound: the page of the URL is not stored, and is not to be blocked.
        """
        return self.removals.remove(target, dry_run=dry_run, block=block)

    # One page

    def page(self, url: str, *, as_of: When | None = None) -> Page | None:
        """Returns a page as its newest capture shows it; None where it is not stored.

        Args:
            url: `https://` may be left out; `http` is tried where https is not stored.
            as_of: the page as it was at this time; a day means its end. The result has no number
                of inlinks.
        """
        url = self._table.find_url(url)
        second = optional_second(as_of)
        found = None if second is None else page_at(self._table, url, second)
        page = self._table.page(url) if second is None else found and found[0]
        return page and page.with_facts(lambda: self._table.facts(url, second))

    def body(self, url: str, *, as_of: When | None = None) -> bytes | None:
        """Returns the body of a page, byte for byte; None where it is not stored."""
        content = self._table.content(self._table.find_url(url), optional_second(as_of))
        return None if content is None else content.body

    def headers(self, url: str, *, as_of: When | None = None) -> ResponseHeaders | None:
        """Returns the status line and the headers of a page's response, as received.

        None where they are not stored: they have expired, or the store had an earlier format.

        Args:
            as_of: those of the newest capture at this time; a day means its end.
        """
        from webtable.pages.asking.response_headers import headers_at

        return headers_at(self._table, self._table.find_url(url), optional_second(as_of))

    def facts(self, url: str, *, as_of: When | None = None) -> Facts | None:
        """Returns what the body of a page contains: `PageFacts`, `RobotsFacts` or `SitemapFacts`.

        Facts are computed when a body is stored, and remain when the body expires. None where the
        page or its body is not stored, and for other bodies than HTML, robots.txt and sitemaps.

        Args:
            as_of: the page as it was at this time; a day means its end.
        """
        return self._table.facts(self._table.find_url(url), optional_second(as_of))

    def indexability(self, url: str, *, as_of: When | None = None) -> Indexability | None:
        """Returns whether search engines may index a page, and why; None where it is not stored.

        Args:
            as_of: the page as it was at this time; a day means its end.
        """
        page = self.page(url, as_of=as_of)
        return None if page is None else indexability_of(page, self.facts(page.url, as_of=as_of))

    def history(self, url: str) -> list[PageCapture]:
        """Returns the captures of a page, the newest first; none where it is not stored."""
        return captures_of(self._table, self._table.find_url(url))

    def diff(self, url: str, old: When | None = None, new: When | None = None) -> PageDiff:
        """Returns what changed in a page from one time to another, in its text and its links.

        Args:
            old: None: the version before `new`.
            new: None: now.

        Raises:
            NotFound: the page was not captured by then, or its body is not stored.
        """
        from webtable.pages.asking.page_diff import compare

        url = self._table.find_url(url)
        return compare(self._table, url, optional_second(old), optional_second(new))

    # Many pages

    def pages(
        self,
        domain: str = "",
        *,
        with_subdomains: bool = True,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Results[Page]:
        """Returns the pages of a domain, or those whose URLs begin with `domain/directory/`.

        They come in the order of their row keys. For a domain without pages the list is empty.

        Args:
            domain: such as `example.com`, `127.0.0.1:8766` or `example.com/blog/`; empty: all
                pages.
            with_subdomains: also the pages of `www.example.com` and so on.

        Raises:
            InvalidRequest: it is not a domain.
        """
        return pages_under(self._table, domain, limit, cursor, with_subdomains)

    def export(
        self,
        out: str | os.PathLike[str] | BinaryIO,
        *,
        form: Form = "warc",
        domain: str = "",
        urls: Iterable[str] | None = None,
        overwrite: bool = False,
    ) -> ExportReport:
        """Writes pages to a file: WARC, JSON lines or CDXJ.

        Args:
            out: a path, or a binary file. A file of that name appears when all of it is written.
            form: `warc` has every capture, `jsonl` the newest with its HTML, `cdxj` a line for
                each capture.
            domain: only pages of it.
            urls: only these pages; `https://` may be left out.
            overwrite: replace a file of that name.

        Raises:
            AlreadyExists: there is a file of that name.
            InvalidUrl: one of the URLs is not the URL of a page; no file is left behind.
        """
        from webtable.pages.asking.export import chosen_urls, export_to

        of_domain = (page.url for page in self.pages(domain)) if domain else None
        chosen = chosen_urls(self._table, of_domain, urls)
        return export_to(self._table, chosen, out, form, overwrite=overwrite)

    # Upkeep

    def verify(
        self, *, repair: bool = False, quick: bool = False, sample: int | None = None
    ) -> StoreReport:
        """Reads everything that is stored and compares it with its source.

        Args:
            repair: repair what can be repaired, and verify again.
            quick: read no bodies, and not every block of every file.
            sample: verify only so many pages, chosen at random, and their links.

        Raises:
            CorruptData: a file of the store is damaged.
        """
        from webtable.links.whole_store_verification import verify_store

        with self._write_lock if repair else contextlib.nullcontext():
            if repair:
                self.removals.purge()
            return verify_store(self._table, repair=repair, quick=quick, sample=sample)

    def doctor(self) -> list[Finding]:
        """Checks whether the store has outgrown its setup; each finding has advice."""
        from webtable.pages.checking.doctor import examine

        return examine(self._table)

    def indexes(self) -> Mapping[str, str]:
        """Returns the indexes of pages, and whether each is `ready` or `building`."""
        rows = self._table.rows
        return {name: rows.state(name) for name in rows.indexes}

    def build_index(self, name: str) -> int:
        """Builds an index of pages again; returns the number of pages.

        Queries that need the index fail meanwhile. Other processes that write must open the store
        again.

        Raises:
            InvalidRequest: there is no index of that name.
        """
        from webtable.pages.storing.table_creation import build_index

        self._table.rows.index(name)
        with self._write_lock:
            return build_index(self._table.rows, name)

    def rebuild_links(
        self,
        *,
        temp_dir: str | None = None,
        on_progress: Callable[[str, int], None] | None = None,
    ) -> RebuildReport:
        """Empties the link index and writes it again from the stored pages, in bounded memory.

        No load may run meanwhile. A rebuild that was stopped starts from the beginning.
        """
        from webtable.links.checking.rebuild import rebuild

        with self._write_lock:
            index = opened_links(self._table)
            return rebuild(index, directory=temp_dir, on_progress=on_progress or (lambda *_: None))

    def drain_links(self) -> Drained:
        """Finishes the link updates that stopped loads left behind; the next load does it too."""
        with self._write_lock:
            return link_hook(LinkIndex.open(self._table)).drain()

    def refresh(self) -> None:
        """Makes what the writer has stored so far visible to a read-only WebTable."""
        self.store.refresh()

    def close(self) -> None:
        """Closes the store; closing again does nothing."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<WebTable at {self.store.location}>"

    @contextlib.contextmanager
    def _writing(self) -> Iterator[PageTable]:
        """Takes the turn to write; the link index follows what is stored."""
        with self._write_lock:
            if self._table.hook is None:
                self._table.hook = link_hook(opened_links(self._table))
            yield self._table
