"""Writes the pages of a plan: the new ones all together, every other one by itself.

An error on one page is recorded for its file, and does not stop the other pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.errors import Conflict, Refusal
from svc.gitops import rows
from svc.gitops.forge import Forge
from svc.gitops.model import GITOPS, Broken, Origin, PagePut
from svc.gitops.planning import LOOK_AGAIN
from svc.pages import EVERYONE, Grant, Page, alone, managed, readable_page, together
from svc.store import Tx

TAKEN: Final = "there is another page at {path} already, which is not of the repository: move one of them"
_FILE_ID: Final = re.compile(r"/files/(fil_[0-9a-z]+)/content")


@dataclass(kw_only=True)
class Putting:
    """``owner``: the owner of new pages. ``paths``: the paths of existing pages by id. ``file_ids``: the repository's
    files that a text may show.

    Results: ``pages``, the page of each file; ``broken``, ``digests`` and ``strangers`` by file, for its row.
    """

    tx: Tx
    owner: str | None
    origins: Mapping[str, Origin]
    head: Origin
    forge: Forge
    paths: Mapping[str, str]
    file_ids: set[str]
    pages: dict[str, str] = field(default_factory=dict)
    broken: dict[str, Broken] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    strangers: dict[str, list[str]] = field(default_factory=dict)
    added: int = 0
    changed: int = 0
    _users: Mapping[str, str] = field(default_factory=dict)

    def put(self, puts: Sequence[PagePut]) -> None:
        addresses = {to for put in puts for to, _ in put.grants if to != EVERYONE}
        self._users = rows.users_by_address(self.tx, addresses)
        new = {put.path: put for put in puts if put.page_id not in self.paths}
        made = together.make(self.tx, GITOPS, owner_id=self.owner, pages=map(self._new, new.values()))
        for path, page_id in made.items():
            self.pages[new[path].file] = page_id
        self.added += len(made)
        for put in puts:
            if put.file not in self.pages:
                self._try(put)
        managed.manage_all(self.tx, GITOPS, [self._managed(put) for put in puts if put.file in self.pages])

    def _new(self, put: PagePut) -> together.NewPage:
        return together.NewPage(
            path=put.path,
            title=put.title,
            body=put.body,
            access=put.access,
            grants=self._grants(put),
            file_ids=self._own_files(put.body),
        )

    def _try(self, put: PagePut) -> None:
        try:
            with self.tx.savepoint():
                page = self._page(put)
        except Refusal as refusal:
            self.broken[put.file] = Broken(reason=refusal.detail)
            self.digests[put.file] = LOOK_AGAIN
            self.strangers.pop(put.file, None)
            return
        self.pages[put.file] = page.id
        if put.page_id in self.paths:
            self.changed += 1
        else:
            self.added += 1

    def _page(self, put: PagePut) -> Page:
        """The wanted page. Raises :class:`svc.errors.Refusal`."""
        page_id = put.page_id
        if page_id not in self.paths:
            page_id = alone.make(self.tx, GITOPS, owner_id=self.owner, path=put.path, title=put.title, body=put.body)
        page = readable_page(self.tx, GITOPS, put.path)
        if page is None or page.id != page_id:
            raise Conflict(TAKEN.format(path=put.path))
        alone.write(self.tx, GITOPS, page, title=put.title, body=put.body)
        alone.share(self.tx, GITOPS, page, access=put.access, grants=self._grants(put))
        alone.show_files(self.tx, page.id, self._own_files(put.body))
        return page

    def _grants(self, put: PagePut) -> Sequence[Grant]:
        """A grant to an address that no user has waits until a user has it."""
        unknown = [to for to, _ in put.grants if to != EVERYONE and to not in self._users]
        if unknown:
            self.strangers[put.file] = unknown
            told = f"nobody here has the address {unknown[0]}: the grant waits until somebody has"
            self.broken[put.file] = Broken(reason=told, line=put.grants_line)
        return [Grant(to=self._users.get(to, to), level=level) for to, level in put.grants if to not in unknown]

    def _own_files(self, body: str) -> list[str]:
        return sorted(self.file_ids.intersection(_FILE_ID.findall(body))) if "/files/" in body else []

    def _managed(self, put: PagePut) -> managed.ManagedFile:
        origin = self.origins.get(put.file, self.head)
        return managed.ManagedFile(
            page_id=self.pages[put.file],
            file=put.file,
            commit=origin.commit,
            url=self.forge.file_url(put.file),
            author=origin.author,
            at=origin.at,
            tags=put.tags,
        )
