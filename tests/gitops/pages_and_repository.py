"""A workspace's pages beside a real repository, with no loop: each step is taken by the test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

from svc.files.migrations import MIGRATIONS as FILES
from svc.gitops import conflicts, export_rows
from svc.gitops.exporting import Exporter
from svc.gitops.git import Mirror
from svc.gitops.git.commits import Person
from svc.gitops.migrations import MIGRATIONS as GITOPS_TABLES
from svc.gitops.model import GITOPS
from svc.identity.migrations import MIGRATIONS as IDENTITY
from svc.nursery import ThreadPool
from svc.pages import alone, edits, managed
from svc.pages.migrations import MIGRATIONS as PAGES
from svc.store import ReadTx, Store, Tx
from tests.gitops.upstream import Upstream
from tests.migrated import lay_database
from tests.pages.people_and_pages import FOR_ALL_TO_WRITE, MIA, PEOPLE, Pages, name_of
from tests.recorded_log import StoppedClock

P = ParamSpec("P")
T = TypeVar("T")
SERVICE = Person(name="svc", address="svc@localhost")


def open_store(path: Path, threads: ThreadPool) -> Store:
    tables = [IDENTITY, PAGES, FILES, GITOPS_TABLES]
    lay_database(path, tables)
    store = Store.open(path, clock=StoppedClock(), threads=threads, migrations=tables)
    store.write_now(_begin)
    return store


def _begin(tx: Tx) -> None:
    for who in PEOPLE:
        tx.run(
            """
            insert into users (id, email, name, role, created_at) values (:id, :email, :name, 'member', 0)
            on conflict do nothing
            """,
            id=who.user_id,
            email=f"{name_of(who)}@example.org",
            name=name_of(who).title(),
        )
    managed.set_manager(tx, GITOPS, editable=True)


@dataclass(frozen=True)
class AtOnce:
    """A store without its writer: each call is done when it returns."""

    store: Store

    async def read(self, query: Callable[Concatenate[ReadTx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self.store.read_now(query, *args, **kwargs)

    async def write(self, action: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self.store.write_now(action, *args, **kwargs)


@dataclass(kw_only=True)
class PagesAndRepository(Pages):
    """Pages, and the exporter that brings what is done to them to ``upstream``."""

    mirror: Mirror
    upstream: Upstream
    folder: str = ""

    @property
    def exporter(self) -> Exporter:
        return Exporter(
            mirror=self.mirror, store=cast(Store, AtOnce(self.store)), folder=self.folder, committer=SERVICE
        )

    async def follow(self, **files: str) -> None:
        """Files that are pages on both sides: ``a__b`` is ``pages/a/b.md``."""
        named = {f"pages/{name.replace('__', '/')}.md": text for name, text in files.items()}
        self.upstream.push({f"{self.folder}/{file}".lstrip("/"): text for file, text in named.items()})
        commit = await self.mirror.fetch()
        for file, text in named.items():
            blob = self.upstream.put_blob(text.encode())
            self.do(self._take, file, text, blob, commit)

    def _take(self, tx: Tx, file: str, text: str, blob: str, commit: str) -> None:
        path = file.removeprefix("pages/").removesuffix(".md")
        page_id = alone.make(tx, GITOPS, owner_id=MIA.user_id, path=path, title=None, body=text.replace("\r\n", "\n"))
        assert page_id is not None
        managed.manage(tx, GITOPS, page_id, file=file, commit=commit, url=None)
        export_rows.stands_as(tx, page_id=page_id, path=path, file=file, blob=blob, there=blob)

    def open_to_all(self, path: str) -> None:
        self.share(GITOPS, path, FOR_ALL_TO_WRITE)

    async def export(self) -> str:
        return await self.exporter.run(await self.mirror.fetch())

    def log(self, *more: str) -> list[str]:
        """``author: subject`` of each commit after the first, the oldest first."""
        shown = self.upstream.git("log", "--reverse", "--no-merges", "--format=%an: %s", *more, "main").decode()
        return shown.splitlines()[1:]

    def waiting(self) -> int:
        return self.ask(edits.count_waiting, GITOPS)

    def conflicts(self) -> list[tuple[str, str]]:
        return [(one.path, one.reason) for one in self.ask(conflicts.listed)]
