"""Applies a plan in one transaction: pages are made, moved, written, shared and put into the trash.

A page that a person has changed here, and whose change is not written back yet (``held``), is left alone together with
its row: the next sync finds it again. A page that has the path of a repository's page, but is not that page, is never
touched: the sync reports a problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from svc import plugins
from svc.files import add_file, delete_files, restate_file
from svc.gitops import rows
from svc.gitops.forge import Forge
from svc.gitops.model import GITOPS, FilePut, Known, Origin, Plan
from svc.gitops.naming import shown_name
from svc.gitops.noting import row_after, values_of
from svc.gitops.putting import Putting
from svc.pages import Page, alone, edits, readable_page, readable_titles
from svc.store import BlobRef, Tx

_PARKED: Final = "~{id}"


@dataclass(frozen=True, kw_only=True)
class Sync:
    """All that is needed to apply a plan. ``blobs``: the stored content of the plan's files. ``origins``: the commits
    of changed files; ``head`` is used for files without a known one."""

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
    work.note(work.put_pages())
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
    """The work of one transaction. ``known`` is updated to the state that the rows shall have; ``left`` are files whose
    rows stay unchanged."""

    tx: Tx
    sync: Sync
    known: dict[str, Known]
    held: set[str]
    owner: str | None = None
    applied: Applied = field(default_factory=Applied)
    paths: dict[str, str] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        ids = [row.page_id for row in self.known.values() if row.page_id is not None]
        self.paths = {page_id: path for page_id, (path, _) in readable_titles(self.tx, GITOPS, ids).items()}

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
        """Give the row of a page its new file name; what the new name had before counts as nothing."""
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
        """Move pages: first those in the way of others to temporary paths, then each to its own path."""
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

    def put_pages(self) -> Putting:
        puts = []
        for put in self.sync.plan.pages:
            if put.page_id in self.held or put.file in self.left:
                self.left.add(put.file)
            else:
                puts.append(put)
        putting = Putting(
            tx=self.tx,
            owner=self.owner,
            origins=self.sync.origins,
            head=self.sync.head,
            forge=self.sync.forge,
            paths=self.paths,
            file_ids=rows.file_ids(self.tx) | {put.file_id for put in self.sync.plan.files},
        )
        putting.put(puts)
        self.applied.added += putting.added
        self.applied.changed += putting.changed
        return putting

    def note(self, done: Putting) -> None:
        """Write the new state of the rows."""
        plan = self.sync.plan
        digests = {put.file: put.digest for put in plan.pages} | done.digests
        broken = {**plan.broken, **done.broken}
        file_ids = {put.file: put.file_id for put in plan.files}
        rows.forget(self.tx, self.forgotten | (set(plan.renamed) - self.left))
        changed = []
        for file in sorted({*plan.read, *plan.broken, *plan.renamed, *file_ids} - self.left):
            one = plan.found[file]
            before = self.known.get(file)
            row = row_after(
                before,
                one,
                page_id=done.pages.get(file),
                file_id=file_ids.get(file),
                broken=broken.get(file),
                is_read=file in plan.read,
                digest=digests.get(file),
            )
            if row is not before or file in plan.renamed:
                origin = self.sync.origins.get(file)
                if origin is None and (before is None or one.blob != before.blob):
                    origin = self.sync.head
                changed.append(values_of(row, origin=origin, strangers=done.strangers.get(file, [])))
        rows.put(self.tx, changed)

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
