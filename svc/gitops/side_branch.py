"""A separate branch for the workspace's commits, which people merge by a pull request.

It follows the synced branch: new commits of that branch are merged into it, by lines, as soon as they are seen. The
workspace then shows the side branch: the synced branch, plus what is not merged yet. If both branches changed the same
lines of a page, the synced branch's text is used, and the text here becomes an edit that waits for a person; so a pull
request never undoes the work of others. The same two commits always give the same merge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from svc.clock import SECOND_MS, Millis
from svc.gitops import export_rows
from svc.gitops.git import Entry, GitFault, Mirror, blob, entries_of
from svc.gitops.git import commits as git_commits
from svc.gitops.git.commits import Commit, Person
from svc.gitops.git.merging import merge
from svc.gitops.line_ends import as_it_was, in_lf
from svc.gitops.model import MAX_PAGE_BYTES
from svc.store import Store

SIDE: Final = "refs/svc/side"
"""The side branch, as fetched last."""


@dataclass(kw_only=True)
class SideBranch:
    mirror: Mirror
    branch: str
    committer: Person
    store: Store
    folder: str

    async def joined(self, head: str) -> str:
        """The commit that the workspace shows when the branch is at ``head``: it includes what is only on the side
        branch."""
        side = await self._fetched()
        if side is None or await self.mirror.is_ancestor(side, head):
            return head
        if await self.mirror.is_ancestor(head, side):
            return side
        merge_base = await self._merge_base(side, head)
        if merge_base is None:
            raise GitFault("failed", f"The branch {self.branch} has nothing in common with the one that is followed.")
        return await self._merged(merge_base, side, head)

    async def _merged(self, base: str, side: str, head: str) -> str:
        trees = [await self._files(commit) for commit in (base, side, head)]
        changes: dict[str, bytes | None] = {}
        entries: dict[str, Entry] = {}
        contested: list[tuple[str, str]] = []
        for file in sorted({file for tree in trees for file in tree}):
            old, ours, theirs = (tree.get(file) for tree in trees)
            if _id(theirs) in {_id(old), _id(ours)}:
                continue
            if theirs is None:
                changes[file] = None
            else:
                entries[file] = theirs
            if _id(ours) == _id(old):
                continue
            text = await self._by_lines(old, ours, theirs)
            if text is not None:
                changes[file] = text
                entries.pop(file, None)
            else:  # a file that both have added has an empty base
                contested.append((file, await git_commits.put_blob(self.mirror.git, b"") if old is None else old.id))
        inside = f"{self.folder}/" if self.folder else ""
        pages = {file.removeprefix(inside): blob_id for file, blob_id in contested if file.startswith(inside)}
        await self.store.write(export_rows.contest, blobs=pages)
        commit = Commit(
            name=git_commits.MERGE,
            message=f"Follow {self.mirror.branch}",
            author=self.committer,
            at=await self._made_at(head),
            changes=changes,
            entries={file: (entry.mode, entry.id) for file, entry in entries.items()},
            merges=head,
        )
        (made,) = await git_commits.make(self.mirror.git, base=side, commits=[commit], committer=self.committer)
        # After a conflict, the merge is pushed to the side branch even if its tree equals the branch's, so that the
        # conflict is recorded once. Without a conflict, equal trees mean that all was merged: the next edit pushes this
        # merge too.
        if contested or await self._tree(made) != await self._tree(head):
            await git_commits.push(self.mirror.git, made, branch=self.branch)
        return made

    async def _by_lines(self, old: Entry | None, ours: Entry | None, theirs: Entry | None) -> bytes | None:
        if old is None or ours is None or theirs is None:
            return None
        if max(one.size for one in (old, ours, theirs)) > MAX_PAGE_BYTES:
            return None
        contents = [await blob(self.mirror.git, one.id, at_most_bytes=MAX_PAGE_BYTES) for one in (old, ours, theirs)]
        try:
            texts = [content.decode() for content in contents]
        except UnicodeDecodeError:
            return None
        in_lines = [in_lf(text) for text in texts]
        merged = await merge(
            self.mirror.git, self.mirror.threads, base=in_lines[0], ours=in_lines[1], theirs=in_lines[2]
        )
        return None if merged is None else as_it_was(merged, before=texts[2]).encode()

    async def _fetched(self) -> str | None:
        try:
            await self.mirror.git.run_remote(
                *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules"),
                *("--refmap=", "--", self.mirror.git.remote.url, f"+refs/heads/{self.branch}:{SIDE}"),
            )
        except GitFault as fault:
            if fault.kind == "no_branch":
                return None
            raise
        return await self.mirror.commit_at(SIDE)

    async def _merge_base(self, one: str, other: str) -> str | None:
        printed = await self.mirror.git.run("merge-base", one, other, statuses=(0, 1))
        return printed.decode().strip() or None

    async def _files(self, commit: str) -> Mapping[str, Entry]:
        return {
            entry.name.decode("utf-8", "surrogateescape"): entry for entry in await entries_of(self.mirror.git, commit)
        }

    async def _made_at(self, commit: str) -> Millis:
        printed = await self.mirror.git.run("show", "--no-patch", "--format=%ct", commit)
        return int(printed) * SECOND_MS

    async def _tree(self, commit: str) -> str:
        return (await self.mirror.git.run("rev-parse", f"{commit}^{{tree}}")).decode().strip()


def _id(entry: Entry | None) -> tuple[str, str] | None:
    return None if entry is None else (entry.mode, entry.id)
