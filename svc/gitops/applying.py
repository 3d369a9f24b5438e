"""A plan becomes what is here, in one transaction: pages are made, moved, written, shared and put into the trash.

What a person has changed here and nobody has written back yet (``held``) is left alone, with its row: the next sync
finds it again. A page that stands where one of the repository should is never touched: that is told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from svc import plugins
from svc.errors import Refusal
from svc.files import add_file, delete_files, restate_file
from svc.gitops import rows
from svc.gitops.forge import Forge
from svc.gitops.model import GITOPS, Broken, FilePut, Found, Known, Origin, PagePut, Plan
from svc.gitops.naming import shown_name
from svc.gitops.planning import LOOK_AGAIN, NEVER_READ
from svc.pages import EVERYONE, Grant, Page, alone, edits, managed, readable_page, readable_titles
from svc.store import BlobRef, Tx, Value, json_array

TAKEN: Final = "there is another page at {path} already, which is not of the repository: move one of them"
_PARKED: Final = "~{id}"
_FILE_ID: Final = re.compile(r"/files/(fil_[0-9a-z]+)/content")


@dataclass(frozen=True, kw_only=True)
class Sync:
    """All that applying a plan takes. ``blobs``: the content of the plan's files, stored. ``origins``: of files that
    changed; ``head`` for those of which none is known."""

    plan: Plan
    commit: str
    head: Origin
    origins: Mapping[str, Origin]
    blobs: Mapping[str, BlobRef]
    mimes: Mapping[str, str]
    forge: Forge
    plugins: str | None
    plugins_blob: str
    was_forced: bool


@dataclass(kw_only=True)
class Applied:
    added: int = 0
    changed: int = 0
    removed: int = 0


def apply(tx: Tx, sync: Sync) -> Applied:
    known = rows.known(tx, only=_touched(sync.plan))
    work = _Work(tx=tx, sync=sync, known=known, held=edits.pages_with_waiting_edits(tx, GITOPS))
    work.owner = rows.first_admin(tx)
    work.remove()
    work.rename()
    work.put_files()
    work.move()
    work.put_pages()
    work.note()
    pin = plugins.pin(tx, sync.plugins)
    rows.note_plugins(tx, blob=sync.plugins_blob, problem=pin)
    done = work.applied
    rows.synced(
        tx,
        commit=sync.commit,
        added=done.added,
        changed=done.changed,
        removed=done.removed,
        was_forced=sync.was_forced,
        plugins=sync.plugins,
    )
    return done


@dataclass(kw_only=True)
class _Work:
    """One transaction's. ``known`` is kept as the rows are to be; ``left`` are files that keep their row as it is."""

    tx: Tx
    sync: Sync
    known: dict[str, Known]
    held: set[str]
    owner: str | None = None
    applied: Applied = field(default_factory=Applied)
    paths: dict[str, str] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    strangers: dict[str, list[str]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    broken: dict[str, Broken] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    """The page that a file is now, of those that were put."""
    file_ids: set[str] = field(default_factory=set)
    new_file_ids: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.broken = dict(self.sync.plan.broken)
        ids = [row.page_id for row in self.known.values() if row.page_id is not None]
        self.paths = {page_id: path for page_id, (path, _) in readable_titles(self.tx, GITOPS, ids).items()}
        self.file_ids = rows.file_ids(self.tx) | {put.file_id for put in self.sync.plan.files}
        self.new_file_ids = {put.file: put.file_id for put in self.sync.plan.files}

    def remove(self) -> None:
        for row in self.sync.plan.gone:
            if row.page_id in self.held:
                self.left.add(row.file)
                continue
            self.forgotten.add(row.file)
            if (page := self._page(row.page_id)) is not None:
                alone.remove(self.tx, GITOPS, page)
                self.applied.removed += 1
            elif row.file_id is not None:
                delete_files(self.tx, origin=_origin(row.file))
                self.applied.removed += 1

    def rename(self) -> None:
        """The row goes along with the page; all that the new name had is nothing yet."""
        taken = {}
        for new, old in self.sync.plan.renamed.items():
            row = self.known.get(old)
            if row is None or row.page_id in self.held:
                self.left |= {new, old}
                continue
            taken[new] = replace(row, file=new)
            self.forgotten.add(old)
        for old in self.forgotten:
            self.known.pop(old, None)
        self.known |= taken
        self.forgotten -= set(taken)

    def put_files(self) -> None:
        for put in self.sync.plan.files:
            blob = self.sync.blobs[put.file]
            if put.known:
                restate_file(self.tx, id=put.file_id, sha256=blob.sha256, size=blob.size)
                self.applied.changed += 1
            else:
                self._add_file(put, blob)
                self.applied.added += 1

    def _add_file(self, put: FilePut, blob: BlobRef) -> None:
        add_file(
            self.tx,
            id=put.file_id,
            owner_id=self.owner,
            sha256=blob.sha256,
            name=shown_name(put.file.rpartition("/")[2].encode()),
            mime=self.sync.mimes[put.file],
            size=blob.size,
            origin=_origin(put.file),
        )

    def move(self) -> None:
        """First out of each other's way, then to where they belong."""
        moves = [
            (put.page_id, put.path)
            for put in self.sync.plan.pages
            if put.page_id in self.paths and put.page_id not in self.held and self.paths[put.page_id] != put.path
        ]
        wanted = {path for _, path in moves}
        for page_id, _ in moves:
            if self.paths[page_id] in wanted:
                self._move(page_id, _PARKED.format(id=page_id))
        for page_id, path in moves:
            if not self._is_taken(path):
                self._move(page_id, path)

    def _move(self, page_id: str, path: str) -> None:
        page = self._page(page_id)
        assert page is not None, "it has a path"
        alone.move(self.tx, GITOPS, page, to=path)
        self.paths[page_id] = path

    def put_pages(self) -> None:
        for put in self.sync.plan.pages:
            if put.page_id in self.held or put.file in self.left:
                self.left.add(put.file)
                continue
            try:
                with self.tx.savepoint():
                    self._put(put)
            except Refusal as refusal:
                self.broken[put.file] = Broken(reason=refusal.detail)
                self.digests[put.file] = LOOK_AGAIN

    def _put(self, put: PagePut) -> None:
        page = self._page(put.page_id)
        if page is not None and page.path == put.path:
            alone.write(self.tx, GITOPS, page, title=put.title, body=put.body)
            self.applied.changed += 1
        else:
            page = self._made(put) if page is None else None
        if page is None:
            self.broken[put.file] = Broken(reason=TAKEN.format(path=put.path))
            self.digests[put.file] = LOOK_AGAIN
            return
        self.pages[put.file] = page.id
        alone.share(self.tx, GITOPS, page, access=put.access, grants=self._grants(put))
        alone.show_files(self.tx, page.id, self._own_files(put.body))
        origin = self.sync.origins.get(put.file, self.sync.head)
        managed.manage(
            self.tx,
            GITOPS,
            page.id,
            file=put.file,
            commit=origin.commit,
            url=self.sync.forge.file_url(put.file),
            author=origin.author,
            at=origin.at,
            tags=put.tags,
        )

    def _made(self, put: PagePut) -> Page | None:
        made = alone.make(self.tx, GITOPS, owner_id=self.owner, path=put.path, title=put.title, body=put.body)
        if made is None:
            return None
        self.applied.added += 1
        self.paths[made] = put.path
        return readable_page(self.tx, GITOPS, put.path)

    def _grants(self, put: PagePut) -> Sequence[Grant]:
        """A grant to an address that nobody here has waits until somebody has it."""
        users = rows.users_by_address(self.tx, [to for to, _ in put.grants if to != EVERYONE])
        unknown = [to for to, _ in put.grants if to != EVERYONE and to not in users]
        if unknown:
            self.strangers[put.file] = unknown
            told = f"nobody here has the address {unknown[0]}: the grant waits until somebody has"
            self.broken[put.file] = Broken(reason=told, line=put.grants_line)
        return [Grant(to=users.get(to, to), level=level) for to, level in put.grants if to == EVERYONE or to in users]

    def _own_files(self, body: str) -> list[str]:
        return [row.file_id for row in self.known.values() if row.file_id is not None and row.file_id in body] + [
            put.file_id for put in self.sync.plan.files if put.file_id in body
        ]

    def note(self) -> None:
        """The rows, as they are from now on."""
        plan = self.sync.plan
        digests = {put.file: put.digest for put in plan.pages} | self.digests
        rows.forget(self.tx, self.forgotten | (set(plan.renamed) - self.left))
        changed = []
        for file in sorted({*plan.read, *plan.broken, *plan.renamed, *self.new_file_ids} - self.left):
            one = plan.found[file]
            before = self.known.get(file)
            row = self._row(one, before, digest=digests.get(file))
            if before is None or row is not before or file in plan.renamed:
                changed.append(self._values(row, one))
        rows.put(self.tx, changed)

    def _row(self, one: Found, before: Known | None, *, digest: str | None) -> Known:
        row = before or Known(
            file=one.file,
            kind=one.kind,
            page_id=None,
            file_id=None,
            path=None,
            blob=None,
            seen_blob=one.blob,
            digest=NEVER_READ,
        )
        page_id = self.pages.get(one.file, row.page_id)
        broken, is_read = self.broken.get(one.file), one.file in self.sync.plan.read
        is_here = (is_read and page_id is not None) or (one.kind == "file" and one.problem is None)
        if broken is not None and one.file not in self.pages:
            path = one.path if one.problem is None else row.path if page_id is not None else None
            looks_again = one.problem is not None or digest == LOOK_AGAIN
            return replace(
                row,
                kind=one.kind if page_id is None else "page",
                seen_blob=one.blob,
                path=path,
                problem=broken.reason,
                line=broken.line,
                digest=LOOK_AGAIN if looks_again else row.digest,
            )
        if not is_here:
            return row
        after = replace(
            row,
            kind=one.kind,
            page_id=page_id,
            file_id=self.new_file_ids.get(one.file, row.file_id) if one.kind == "file" else None,
            path=one.path,
            blob=one.blob,
            seen_blob=one.blob,
            digest=row.digest if digest is None else digest,
            problem=None if broken is None else broken.reason,
            line=None if broken is None else broken.line,
        )
        return row if after == row and before is not None else after

    def _values(self, row: Known, one: Found) -> dict[str, Value]:
        origin = self.sync.origins.get(row.file)
        if origin is None and one.blob != getattr(self.known.get(row.file), "blob", None):
            origin = self.sync.head
        strangers = self.strangers.get(row.file, [])
        return {
            "file": row.file,
            "kind": row.kind,
            "page_id": row.page_id,
            "file_id": row.file_id,
            "path": row.path,
            "blob": row.blob,
            "seen_blob": row.seen_blob,
            "commit": None if origin is None else origin.commit,
            "author": None if origin is None else origin.author,
            "address": None if origin is None else origin.address,
            "at": None if origin is None else origin.at,
            "digest": LOOK_AGAIN if strangers else row.digest,
            "strangers": json_array(strangers),
            "problem": row.problem,
            "line": row.line,
        }

    def _page(self, page_id: str | None) -> Page | None:
        path = self.paths.get(page_id or "")
        return None if path is None else readable_page(self.tx, GITOPS, path)

    def _is_taken(self, path: str) -> bool:
        return readable_page(self.tx, GITOPS, path) is not None


def _touched(plan: Plan) -> set[str]:
    """The files whose rows this sync may read or write: of ten thousand, mostly one."""
    named = {*plan.read, *plan.broken, *plan.renamed, *plan.renamed.values()}
    return named | {put.file for put in plan.files} | {row.file for row in plan.gone}


def _origin(file: str) -> str:
    return f"gitops:{file}"
