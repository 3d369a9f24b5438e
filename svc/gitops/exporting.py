"""Writes people's changes here into the repository: each edit becomes one commit, in their order, by its author.

The outbox (``svc/pages/edits.py``) is emptied only after the remote has accepted the commits. Each commit bears its
edit's name. So after a crash, or after a push with unknown result, edits that are already in the repository are
recognized and not made again. A push never forces: if the branch has moved, the commits are made anew on its new state.
This module does not wait and retry by itself: its caller has the pauses, and shows the fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from svc.gitops import export_rows
from svc.gitops.carrying import At, Work
from svc.gitops.export_rows import Batch, Carried
from svc.gitops.git import Entry, GitFault, Mirror, blobs, entries_of, top_entries
from svc.gitops.git import blob as content_of
from svc.gitops.git import commits as git_commits
from svc.gitops.git.commits import Commit, Person
from svc.gitops.model import MAX_PAGE_BYTES
from svc.gitops.naming import ENDING, INDEX, PAGES
from svc.gitops.side_branch import SideBranch
from svc.pages import Edit
from svc.store import Store

PUSHES_AT_MOST: Final = 8
"""Pushes in one run, while others push at the same time."""
_LEFT: Final = "!"
"""In a commit's name: precedes each page that the commit leaves out, because the page is in conflict."""
_WORDS: Final = {"save": "Change", "access": "Share", "delete": "Delete", "undelete": "Bring back"}


@dataclass(kw_only=True)
class Exporter:
    """``folder``: the followed folder in the repository. ``side``: the side branch for commits, if they do not go to
    the branch itself."""

    mirror: Mirror
    store: Store
    folder: str
    committer: Person
    side: SideBranch | None = None
    head: str | None = None
    """The commit to sync from, as far as the last :meth:`run` came; ``None`` if it found none."""

    async def has_work(self) -> bool:
        """Whether there is something to do even if the branch has not moved."""
        return self.side is not None or await self.store.read(export_rows.something_waits)

    async def run(self, head: str) -> str:
        """Carry out all waiting edits. Returns the commit to sync from: ``head``, or the newest one made on it.

        Raises :class:`GitFault`; edits that were not carried out stay in the outbox.
        """
        self.head = None
        head = await self._joined(head)
        pushes = 0
        while True:
            self.head = head
            tree = await self._tree(head)
            await self._try_conflicts_again(tree)
            batch = await self.store.read(export_rows.batch)
            if not batch.edits:
                return head
            work, commits = await self._carried_out(batch, head, tree)
            if commits:
                try:
                    head = await self._publish(head, commits)
                except GitFault as fault:
                    pushes += 1
                    if fault.kind != "moved" or pushes >= PUSHES_AT_MOST:
                        raise GitFault(fault.kind, f"Changes made here wait: {fault.words}") from fault
                    head = await self._fetched()
                    continue
            await self._settle(work)

    async def _carried_out(self, batch: Batch, head: str, tree: Mapping[str, Entry]) -> tuple[Work, list[Commit]]:
        names = await git_commits.names_since(self.mirror.git, head, since=await self._known(batch.since))
        landed = {name: frozenset(left) for name, *left in (one.split(_LEFT) for one in names)}
        work = Work(
            git=self.mirror.git,
            threads=self.mirror.threads,
            batch=batch,
            blobs={file: entry.id for file, entry in tree.items()},
            contents=await self._contents(batch, tree),
        )
        commits = []
        for edit in batch.edits:
            changes = await work.carry(edit, landed=edit.id in landed, left=landed.get(edit.id, frozenset()))
            if changes:
                left = sorted(page.page_id for page in edit.pages if page.page_id in work.in_the_way)
                commits.append(self._commit(edit, changes, batch, left=left))
        return work, commits

    def _commit(self, edit: Edit, changes: Mapping[str, bytes | None], batch: Batch, *, left: Sequence[str]) -> Commit:
        prefix = f"{self.folder}/" if self.folder else ""
        return Commit(
            name=_LEFT.join([edit.id, *left]),
            message=_message(edit),
            author=batch.people.get(edit.author_id or "", self.committer),
            at=edit.at,
            changes={f"{prefix}{file}": content for file, content in changes.items()},
        )

    async def _publish(self, head: str, commits: Sequence[Commit]) -> str:
        made = await git_commits.make(self.mirror.git, base=head, commits=commits, committer=self.committer)
        branch = self.mirror.branch if self.side is None else self.side.branch
        await git_commits.push(self.mirror.git, made[-1], branch=branch)
        return made[-1]

    async def _fetched(self) -> str:
        return await self._joined(await self.mirror.fetch())

    async def _joined(self, head: str) -> str:
        return head if self.side is None else await self.side.joined(head)

    async def _known(self, commit: str | None) -> str | None:
        """``commit`` if the copy has it; ``None`` otherwise, as after the copy was made anew."""
        return commit if commit is not None and await self.mirror.has(commit) else None

    async def _settle(self, work: Work) -> None:
        carried = [await self._outcome(work, page_id, at) for page_id, at in work.pages.items() if at.seqs]
        await self.store.write(export_rows.settle, carried=carried, in_the_way=list(work.in_the_way.values()))

    async def _outcome(self, work: Work, page_id: str, at: At) -> Carried:
        there = None if at.file is None else work.there(at.file)
        blob = None if at.raw is None else _blob_id(at.raw, like=next(iter(work.blobs.values()), ""))
        if at.raw is not None and at.raw != there:
            await git_commits.put_blob(self.mirror.git, at.raw)
        return Carried(
            page_id=page_id,
            path=at.path,
            seqs=at.seqs,
            file=at.file,
            blob=blob,
            there=None if there is None or at.raw is None else _blob_id(there, like=blob or ""),
        )

    async def _try_conflicts_again(self, tree: Mapping[str, Entry]) -> None:
        stuck = await self.store.read(export_rows.stuck_files)
        again = [
            page_id
            for page_id, file, blob, has_newer in stuck
            if has_newer or (tree[file].id if file in tree else None) != blob
        ]
        if again:
            await self.store.write(export_rows.try_again, page_ids=again)

    async def _tree(self, head: str) -> dict[str, Entry]:
        top = (await top_entries(self.mirror.git, head, folder=self.folder)).get(PAGES.encode())
        if top is None or top.kind != "tree":
            return {}
        entries = await entries_of(self.mirror.git, top.id)
        return {f"{PAGES}/{entry.name.decode('utf-8', 'surrogateescape')}": entry for entry in entries}

    async def _contents(self, batch: Batch, tree: Mapping[str, Entry]) -> dict[str, bytes]:
        """The contents of all blobs that the batch may need: the bases, the current files, and the files at the pages'
        new paths."""
        readable = {entry.id: entry for entry in tree.values() if entry.is_file and entry.size <= MAX_PAGE_BYTES}
        files = {row.file for row in batch.standing.values()}
        for path in {page.path for edit in batch.edits for page in edit.pages if page.path is not None}:
            files |= {f"{PAGES}/{path}{ENDING}", f"{PAGES}/{path}/{INDEX}{ENDING}"}
        bases = {row.blob for row in batch.standing.values() if row.blob is not None}
        wanted = {tree[file].id for file in files if file in tree} & readable.keys() | bases
        entries = [readable[one] for one in sorted(wanted) if one in readable]
        found = {entry.id: content async for entry, content in blobs(self.mirror.git, entries)}
        for blob in sorted(wanted - readable.keys()):
            try:
                found[blob] = await content_of(self.mirror.git, blob, at_most_bytes=2 * MAX_PAGE_BYTES)
            except GitFault as fault:
                if fault.kind not in {"damaged", "failed", "missing", "too_large"}:
                    raise
        return found


def _blob_id(content: bytes, *, like: str) -> str:
    """The id that git gives a blob, in a repository whose ids are as long as ``like``."""
    algorithm = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return algorithm(b"blob %d\0" % len(content) + content).hexdigest()


def _message(edit: Edit) -> str:
    top = min(edit.pages, key=lambda page: len(page.path or page.was_path or ""))
    others = f" and {len(edit.pages) - 1} below" if len(edit.pages) > 1 else ""
    if edit.kind == "move":
        return f"Move {top.was_path} to {top.path}{others}"
    word = "Add" if edit.kind == "save" and top.was_path is None else _WORDS[edit.kind]
    return f"{word} {top.path or top.was_path}{others}"
