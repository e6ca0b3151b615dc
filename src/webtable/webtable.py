"""`WebTable`: one object over a store of pages, its links and what is below. The front door."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Literal, Self

from webtable.errors import AlreadyExists, InvalidRequest, NotFound, SchemaMismatch
from webtable.links.asking.links import Links
from webtable.links.index import LinkIndex
from webtable.pages.asking.page_at_time import completed_captures, page_at
from webtable.pages.asking.queries import PageQueries
from webtable.pages.asking.reports import Reports, list_of
from webtable.pages.asking.results import Results
from webtable.pages.page import Outcome, Page, PageCapture, capture_of
from webtable.pages.storing.capture_parser import parse_stored, ready
from webtable.pages.storing.cells import encode_time
from webtable.pages.table import PageTable
from webtable.pages.times import When, second_of
from webtable.pages.urls import typed_url
from webtable.store.store import Store, open_store
from webtable.temporary_folders import remove_all_dead

if TYPE_CHECKING:
    from webtable.links.checking.rebuild import RebuildReport
    from webtable.links.checking.store_report import StoreReport
    from webtable.links.updating.count_exporter import Drained
    from webtable.links.updating.hook import LinkHook
    from webtable.pages.asking.diff import PageDiff
    from webtable.pages.asking.export import ExportReport, Form
    from webtable.pages.captures import Position, Skipped
    from webtable.pages.checking.doctor import Finding
    from webtable.pages.formats.program_captures import Headers
    from webtable.pages.loading.loader import LoadReport

__all__ = ["KeyName", "ProfileName", "WebTable", "create_tables"]

KeyName = Literal["readable", "salted"]
"""How row keys are made."""
ProfileName = Literal["live", "archive"]
"""How long versions are kept."""


class WebTable:
    """A store of crawled pages: every version of a page, everything under a domain, and the links.

    `open` opens one, and creates it where there is none. Use it in a `with` block, and share it
    between threads: reads run side by side, and writes of one object take turns. Of an embedded
    store one process may write; any number read it at the same time (`read_only=True`).
    `WebTable(store)` takes a store that is open already.

    Every method that takes a URL raises `InvalidUrl` where it cannot be one of a page, and every
    one that takes a time or a domain `InvalidRequest`. Methods that write raise `ReadOnly` after
    `read_only=True`; after `close` every method raises `StoreClosed`. On a cluster, a
    `RetryableError` says that the same call may work later.

    Attributes:
        store: the wide-column store below: its tables, rows and administration.
        reports: lists of pages: the largest, errors, redirects, duplicates, modified …
        links: links to and on pages, the most linked pages, broken links, changes …
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._table = PageTable.open(store, parse_stored)
        self.reports = Reports(self._table)
        self.links = Links(self._table)
        self._write_lock = threading.RLock()

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str],
        *,
        create: bool = True,
        read_only: bool = False,
        keys: KeyName | None = None,
        profile: ProfileName | None = None,
    ) -> Self:
        """Opens a store of pages.

        Args:
            location: a directory, `hbase://HOST` or `hbase+masters://HOST`.
            create: create the store where there is none, and finish one whose creation was
                interrupted.
            read_only: do not write. An embedded store may be written by another process meanwhile;
                `refresh` shows what it has stored since.
            keys, profile: for a new store, see `create`.

        Raises:
            NotFound: there is no store of pages, and it is not to be created.
            StoreLocked: another process writes this embedded store.
        """
        is_new_allowed = create and not read_only
        store = open_store(os.fspath(location), read_only=read_only, create=is_new_allowed)
        if not read_only:
            remove_all_dead()
        try:
            if is_new_allowed:
                with contextlib.suppress(AlreadyExists):
                    create_tables(store, keys, profile)
            return cls(store)
        except BaseException:
            store.close()
            raise

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
        try:
            create_tables(store, keys, profile)
            return cls(store)
        except BaseException:
            store.close()
            raise

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

        A file that is loaded again changes nothing; a load that was stopped goes on.

        Args:
            paths: files, `-` for the standard input.
            workers: processes that read and parse; None: one for each processor core.
            on_skipped: is called for every record that is not stored, or not in full.
            on_progress: is called with a file and how far in it everything is stored.
            check: raise an error where something was not read or not stored; otherwise look at
                the report.

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

        Returns what it was: `new`, `changed`, `unchanged`, or `older` than what is stored. Each
        call is one commit: for many pages, `load` is several times faster.

        Args:
            body: text is stored as UTF-8, and is HTML unless the headers have another type. Bytes
                may be unpacked already, or be packed as the header `Content-Encoding` says. A body
                of more than 8 MiB is not stored, its capture is.
            headers: as the server sent them; type, charset, redirect, canonical and robots count.
            fetched: when; None: now.

        Raises:
            InvalidUrl: the URL is not one of a page.
            InvalidRequest: status, headers or time are not those of a capture.
        """
        from webtable.pages.formats.program_captures import capture_of_program

        second = None if fetched is None else second_of(fetched)
        capture = ready(capture_of_program(url, body, status, headers, second))
        with self._writing() as pages:
            (outcome,) = pages.store_captures([capture])
            if pages.hook is not None:
                pages.hook.settle(is_last=True)
        return outcome

    # One page

    def page(self, url: str, *, as_of: When | None = None) -> Page | None:
        """Returns a page as its newest capture shows it; None where it is not stored.

        Args:
            url: `https://` may be left out; `http` is tried where https is not stored.
            as_of: as it was then; a day stands for its end. The number of inlinks of then is not
                known.
        """
        url = self._table.find_url(url)
        if as_of is None:
            return self._table.page(url)
        found = page_at(self._table, url, second_of(as_of))
        return None if found is None else found[0]

    def body(self, url: str, *, as_of: When | None = None) -> bytes | None:
        """Returns the body of a page, byte for byte; None where it is not stored."""
        second = None if as_of is None else second_of(as_of)
        content = self._table.content(self._table.find_url(url), second)
        return None if content is None else content.body

    def history(self, url: str) -> list[PageCapture]:
        """Returns the captures of a page, the newest first; none where it is not stored."""
        notes = completed_captures(self._table.captures(self._table.find_url(url)))
        return [capture_of(note) for note in reversed(notes)]

    def diff(self, url: str, old: When | None = None, new: When | None = None) -> PageDiff:
        """Returns what changed in a page from one time to another, in its text and its links.

        Args:
            old: None: the version before `new`.
            new: None: now.

        Raises:
            NotFound: the page was not captured by then, or its body is not stored.
        """
        from webtable.pages.asking.diff import compare

        before, after = (None if each is None else second_of(each) for each in (old, new))
        if before is not None and after is not None and before > after:
            raise InvalidRequest(
                f"{encode_time(before)} is after {encode_time(after)}",
                hint="the older time (--from) comes first",
            )
        return compare(self._table, self._table.find_url(url), before, after)

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

        They come in the order of their row keys.

        Args:
            domain: such as `example.com`, `127.0.0.1:8766` or `example.com/blog/`; empty: all
                pages.
            with_subdomains: also the pages of `www.example.com` and so on.

        Raises:
            InvalidRequest: it is not a domain.
        """
        queries = PageQueries(self._table)
        if not domain:
            return list_of("all-pages", queries.everything, limit, cursor)
        if "/" in domain.rstrip("/"):
            url = typed_url(domain)
            return list_of("directory", partial(queries.in_directory, url), limit, cursor, url=url)
        fetch = partial(queries.under, domain, with_subdomains=with_subdomains)
        return list_of("pages", fetch, limit, cursor, domain=domain, subdomains=with_subdomains)

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
        from webtable.output_file import new_file
        from webtable.pages.asking.export import all_urls, export

        if domain and urls is not None:
            raise InvalidRequest("both a domain and a list of URLs", hint="name one of them")
        if isinstance(urls, str):
            raise InvalidRequest("urls is one text, not a list of URLs", hint="write urls=[URL]")
        if urls is not None:
            urls = map(self._table.find_url, urls)
        elif domain:
            urls = (page.url for page in self.pages(domain))
        else:
            urls = all_urls(self._table)
        if isinstance(out, str | os.PathLike):
            with new_file(os.fspath(out), overwrite=overwrite) as file:
                return export(self._table, urls, file, form)
        return export(self._table, urls, out, form)

    # Upkeep

    def verify(
        self, *, repair: bool = False, quick: bool = False, sample: int | None = None
    ) -> StoreReport:
        """Reads everything that is stored and compares it with its source.

        Args:
            repair: repair what can be repaired, and look again.
            quick: read no bodies, and not every block of every file.
            sample: only so many pages, chosen by chance, and their links.

        Raises:
            CorruptData: a file of the store is damaged.
        """
        from webtable.links.checking.store_report import verify_store

        with self._write_lock if repair else contextlib.nullcontext():
            return verify_store(self._table, repair=repair, quick=quick, sample=sample)

    def doctor(self) -> list[Finding]:
        """Measures whether the store still fits its size; each finding has advice."""
        from webtable.pages.checking.doctor import examine

        return examine(self._table)

    def indexes(self) -> Mapping[str, str]:
        """Returns the indexes of pages, and whether each is `ready` or `building`."""
        rows = self._table.rows
        return {name: rows.state(name) for name in rows.indexes}

    def build_index(self, name: str) -> int:
        """Builds an index of pages anew; returns the number of pages.

        Queries that need it fail meanwhile. Other processes that write must open the store again.

        Raises:
            InvalidRequest: there is no index of that name.
        """
        from webtable.pages.storing.table_creation import build_index

        self._table.rows.index(name)
        with self._write_lock:
            pages = self._table.with_newest(name)
            return build_index(pages.rows, pages.keys, name)

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
            index = self._link_index()
            return rebuild(index, directory=temp_dir, on_progress=on_progress or (lambda *_: None))

    def drain_links(self) -> Drained:
        """Finishes the link updates that stopped loads left behind; the next load does it too."""
        with self._write_lock:
            return _link_hook(LinkIndex.open(self._table)).drain()

    def refresh(self) -> None:
        """Lets a read-only WebTable see what its writer has stored by now."""
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
                self._table.hook = _link_hook(self._link_index())
            yield self._table

    def _link_index(self) -> LinkIndex:
        try:
            return LinkIndex.open(self._table)
        except NotFound:
            # A creation that was interrupted, or a store from before there were link indexes.
            return LinkIndex.create(self._table)


def _link_hook(index: LinkIndex) -> LinkHook:
    from webtable.links.updating.hook import LinkHook

    return LinkHook(index)


def create_tables(store: Store, keys: str | None = None, profile: str | None = None) -> PageTable:
    """Creates the tables of a store of pages, or those that are missing.

    Raises:
        AlreadyExists: all of them exist.
        InvalidRequest: other tables have the same names.
    """
    try:
        pages = PageTable.open(store, parse_stored)
    except (NotFound, SchemaMismatch):
        links = LinkIndex.planned_tables(is_embedded=store.capabilities.atomic_commits)
        pages = PageTable.create(store, parse_stored, keys=keys, profile=profile, beside=links)
    else:
        with contextlib.suppress(NotFound):
            LinkIndex.open(pages)
            raise AlreadyExists(
                "store of pages", store.location, hint="open it, or drop its tables"
            )
    LinkIndex.create(pages)
    return pages
