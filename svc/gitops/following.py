"""The loop that follows the repository: look, fetch, read, plan, apply.

One look runs at a time; any number of calls during a look cause one more (:class:`svc.nursery.Wake`). A look that finds
nothing new costs one ``ls-remote``. Each look has a time limit, so that a hanging remote does not block the next one. A
git error is recorded for admins, the pages here stay, and the next look tries again.
"""

from __future__ import annotations

import math
import mimetypes
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import trio

from svc.backoff import Retries
from svc.capabilities import Door
from svc.errors import Refusal
from svc.gitops import applying, export_rows, planning, rows, tree
from svc.gitops.applying import Applied, Sync
from svc.gitops.export_waking import hear_of_edits
from svc.gitops.exporting import Exporter
from svc.gitops.forge import Forge
from svc.gitops.git import GitFault, Mirror
from svc.gitops.model import READING, TOKEN, Broken, Known, Plan
from svc.gitops.naming import PAGES
from svc.gitops.rows import State
from svc.log import Log
from svc.nursery import Child, ThreadPool, Wake, open_task_group
from svc.store import BlobRef, Blobs, SecretUnreadable, Store

BOOT_WITHIN_S: Final = 60.0
LOOK_WITHIN_S: Final = 1_800.0
AT_ONCE_PAUSE_S: Final = 1.0
"""Pause between two looks that were called for."""
EXPORT_RETRIES: Final = Retries(first_s=5.0, cap_s=300.0)
JITTER: Final = 0.1
TIDY_EVERY: Final = 20
"""In fetches."""
DEFAULT_MIME: Final = "application/octet-stream"
_MIMES: Final = mimetypes.MimeTypes(filenames=())


@dataclass(kw_only=True)
class Follower:
    """``folder`` contains ``pages/`` in the repository. ``poll_s`` 0: look only at boot, and when called.

    ``exporter`` is set in write-back mode.
    """

    store: Store
    blobs: Blobs
    threads: ThreadPool
    rng: random.Random
    log: Log
    mirror: Mirror
    forge: Forge
    folder: str
    poll_s: int
    exporter: Exporter | None = None
    """Set if people may change the pages here."""
    wake: Wake = field(default_factory=Wake)
    _turn: trio.Lock = field(default_factory=trio.Lock)
    _failures: int = 0
    """The number of failed looks in a row while edits waited to be carried out."""
    _fetches: int = 0
    next_look_at: float | None = None
    """By trio's clock; ``None`` while a look runs, or none is planned."""

    async def run(self, child: Child) -> None:
        """Reports its start once the first look has ended, or has taken too long to wait for."""
        await self.mirror.init()
        with trio.move_on_after(BOOT_WITHIN_S) as waiting:
            await self.look()
        if waiting.cancelled_caught:
            self.log.warning("gitops.slow_boot", within_s=BOOT_WITHIN_S)
            self.wake.call()
        child.started()
        async with open_task_group() as nursery:
            if self.exporter is not None:
                nursery.start_soon(partial(hear_of_edits, self.store, self.wake))
            while True:
                pause_s = self._pause_s()
                self.next_look_at = None if pause_s == math.inf else trio.current_time() + pause_s
                await self.wake.wait(at_most_s=pause_s)
                self.next_look_at = None
                await self.look()
                await trio.sleep(AT_ONCE_PAUSE_S)

    def _pause_s(self) -> float:
        """Until the next poll; shorter while edits wait because the remote could not take them."""
        if self._failures:
            return EXPORT_RETRIES.pause_s(self._failures, self.rng)
        return self.poll_s * self.rng.uniform(1 - JITTER, 1 + JITTER) if self.poll_s else math.inf

    async def look(self) -> None:
        """Look once, to the end, one at a time. Errors are recorded; only a bug is raised."""
        async with self._turn:
            await self._look_in_turn()

    async def _look_in_turn(self) -> None:
        try:
            with trio.fail_after(LOOK_WITHIN_S):
                async with open_task_group() as nursery:  # a task of its own, so that it has a name in the task tree
                    nursery.start_soon(self._look)
            await self.store.write(rows.answered)
            self._failures = 0
        except GitFault as fault:
            await self._went_wrong(fault.kind, fault.words)
        except trio.TooSlowError:
            await self._went_wrong("too_slow", f"Following the repository took longer than {LOOK_WITHIN_S:g} seconds.")
        except SecretUnreadable:
            await self._went_wrong("refused", "The token can't be read: set it again in Settings > Credentials.")
        except Refusal as refusal:  # mostly a full disk
            await self._went_wrong("full", refusal.detail)

    async def _went_wrong(self, kind: str, words: str) -> None:
        self.log.warning("gitops.not_followed", kind=kind, why=words)
        edits_wait = self.exporter is not None and await self.store.read(export_rows.something_waits)
        self._failures = self._failures + 1 if edits_wait else 0
        try:
            await self.store.write(rows.went_wrong, kind=kind, words=words)
        except Refusal as refusal:
            self.log.warning("gitops.not_recorded", why=refusal.detail)

    async def _look(self) -> None:
        try:
            await self._look_once()
        except GitFault as fault:
            if fault.kind != "damaged":
                raise
            self.log.warning("gitops.copy_damaged", why=fault.words)
            await self.mirror.start_over()
            await self._look_once()

    async def _look_once(self) -> None:
        head = await self.mirror.ls_remote()
        if head is None:
            raise GitFault(
                "no_branch", f"The repository has no branch {self.mirror.branch}: the pages stay as they are."
            )
        state = await self.store.read(rows.state)
        assert state is not None, "it was written at boot"
        is_new = head != state.commit or state.reading != READING or await self.store.read(rows.something_was_cleared)
        if is_new or (self.exporter is not None and await self.exporter.has_work()):
            await self._bring(head, state)

    async def _bring(self, head: str, state: State) -> None:
        if await self.mirror.upstream() != head:
            head = await self.mirror.fetch()
            self._fetches += 1
            if self._fetches % TIDY_EVERY == 0:
                await self.mirror.tidy()
        if self.exporter is None:
            await self.sync(head, state)
        else:
            await self._export(self.exporter, head, state)

    async def _export(self, exporter: Exporter, head: str, state: State) -> None:
        """First write people's changes to the repository, so that the sync finds nothing of theirs to overwrite. If
        that fails, still sync what is new in the repository."""
        try:
            head = await exporter.run(head)
        except GitFault:
            if exporter.head is not None:
                await self.sync(exporter.head, state)
            raise
        await self.sync(head, state)

    async def sync(self, commit: str, state: State) -> Applied:
        """Bring the pages here to the state of the commit."""
        git = self.mirror.git
        listing = await tree.listing_of(git, commit, folder=self.folder, threads=self.threads)
        known = await self.store.read(rows.known)
        if not listing.has_pages and any(row.page_id is not None for row in known.values()):
            place = f"{self.folder}/{PAGES}" if self.folder else PAGES
            raise GitFault("missing", f"The repository has no folder {place} any more: the pages stay as they are.")
        since = state.commit if state.commit is not None and await self.mirror.has(state.commit) else None
        planned = await self._plan(listing, known, commit, since, everything=state.reading != READING)
        planned, blobs = await self._stored(planned)
        changed = {*planned.read, *(put.file for put in planned.files)}
        origins, newest = await tree.origins_of(git, changed, since=since, until=commit, folder=self.folder)
        sync = Sync(
            plan=planned,
            commit=commit,
            head=newest,
            origins=origins,
            blobs=blobs,
            mimes={put.file: _mime(put.file) for put in planned.files},
            forge=self.forge,
            plugins=await tree.plugins_text(git, listing.plugins),
            plugins_blob=listing.plugins.id if listing.plugins is not None else "",
            was_forced=since is not None and not await self.mirror.is_ancestor(since, commit),
        )
        applied = await self.store.write(applying.apply, sync)
        self.log.info(
            "gitops.synced",
            commit=commit,
            added=applied.added,
            changed=applied.changed,
            removed=applied.removed,
            problems=len(planned.broken),
        )
        return applied

    async def _plan(
        self, listing: tree.Listing, known: Mapping[str, Known], commit: str, since: str | None, *, everything: bool
    ) -> Plan:
        newest = await self.threads.run(planning.tree_of, listing.found, known)
        wanted = planning.to_read(newest, known, everything=everything)
        texts = await tree.texts_of(self.mirror.git, wanted, addresses=newest.addresses, threads=self.threads)
        similar: dict[str, str] = {}
        may_be_renamed = known.keys() - newest.found.keys() and newest.found.keys() - known.keys()
        if may_be_renamed and since is not None:
            similar = await tree.renames_between(self.mirror.git, since, commit, folder=self.folder)
        return await self.threads.run(partial(planning.plan, newest, known, texts, similar=similar))

    async def _stored(self, planned: Plan) -> tuple[Plan, dict[str, BlobRef]]:
        """Store the content of the plan's files before a row names it; one file at a time, since they may be large."""
        blobs: dict[str, BlobRef] = {}
        broken: dict[str, Broken] = {}
        for put in planned.files:
            content = await tree.content_of(self.mirror.git, planned.found[put.file])
            if isinstance(content, Broken):
                broken[put.file] = content
            else:
                blobs[put.file] = await self.blobs.put(content)
        if broken:
            found = {
                file: replace(one, problem=broken[file].reason) if file in broken else one
                for file, one in planned.found.items()
            }
            files = tuple(put for put in planned.files if put.file not in broken)
            planned = replace(planned, found=found, files=files, broken={**planned.broken, **broken})
        return planned, blobs


@dataclass(frozen=True)
class TokenFinder:
    """Reads the current credential for each call: it may change while the service runs."""

    door: Door

    async def __call__(self) -> str | None:
        value = await self.door.acquire(TOKEN, purpose="git")
        return None if value is None else value.decode()


def _mime(file: str) -> str:
    return _MIMES.guess_type(file)[0] or DEFAULT_MIME
