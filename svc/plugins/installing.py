"""Makes a set: npm resolves the versions, its choice is checked, npm fetches exactly that, and the result is checked
again.

All of it happens in separate folders; the set in force is not touched until the new one is complete. A failure leaves
nothing but its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import trio

from svc.nursery import ThreadPool
from svc.plugins.locking import BadLock, check_lock
from svc.plugins.npm import Npm, NpmFault
from svc.plugins.sets import (
    LOCK_NAME,
    MAX_LOCK_BYTES,
    BadSet,
    InstalledSet,
    Record,
    Sets,
    check_tree,
    discard,
)
from svc.plugins.specs import Spec


class NotInstalled(Exception):
    """There is no new set. The message says why, in one sentence without its full stop. ``may_pass``: trying again may
    help.
    """

    def __init__(self, words: str, *, may_pass: bool) -> None:
        super().__init__(words)
        self.may_pass = may_pass


@dataclass(frozen=True, kw_only=True)
class Installer:
    sets: Sets
    npm: Npm
    threads: ThreadPool

    async def install(self, wanted: Sequence[Spec], *, lock: bytes | None) -> InstalledSet:
        """Make a set and put it in force. ``lock``: the versions chosen before; each is kept as long as it still fits.

        Raises :class:`NotInstalled`; then the earlier set stays in force.
        """
        folders: list[Path] = []
        try:
            folders += [await self.threads.run(self.sets.begin), await self.threads.run(self.sets.begin)]
            made, scratch = folders
            await self._make(made, scratch, wanted, lock=lock)
            record = Record(wanted=tuple(map(str, wanted)), registry=self.npm.registry)
            return await self.threads.run(self.sets.switch, made, record)
        except (BadLock, BadSet) as fault:
            raise NotInstalled(str(fault), may_pass=False) from fault
        except NpmFault as fault:
            raise NotInstalled(str(fault), may_pass=fault.may_pass) from fault
        except OSError as fault:
            raise NotInstalled(f"The plugins can't be stored ({fault.strerror})", may_pass=True) from fault
        finally:
            with trio.CancelScope(shield=True):  # bounded: it removes what is there, and nothing writes there any more
                for folder in folders:
                    await self.threads.run(discard, folder)

    async def _make(self, made: Path, scratch: Path, wanted: Sequence[Spec], *, lock: bytes | None) -> None:
        await self.npm.check(scratch)
        await self.threads.run(_write_wanted, made, wanted, lock)
        await self.npm.resolve(made, scratch)
        data = await self.threads.run(read_lock, made)
        if data is None:
            raise BadLock("npm wrote no lock file, or too long a one")
        check_lock(data, registry=await self.npm.source(scratch))
        await self.npm.fetch(made, scratch)
        await self.threads.run(check_tree, made)


def read_lock(made: Path) -> bytes | None:
    """The lock file of a set; ``None`` if there is none, or if it is too long to be ours."""
    try:
        with open(made / LOCK_NAME, "rb") as file:
            data = file.read(MAX_LOCK_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= MAX_LOCK_BYTES else None


def _write_wanted(made: Path, wanted: Sequence[Spec], lock: bytes | None) -> None:
    package = {"private": True, "dependencies": {spec.name: spec.range for spec in wanted}}
    (made / "package.json").write_bytes(msgspec.json.encode(package))
    if lock is not None:
        (made / LOCK_NAME).write_bytes(lock)
