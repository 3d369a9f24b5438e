"""Exports an account's mail: each mail's own bytes, with headers for its labels, read and starred above them.

It is one pass in the order of the ids, with one mail in memory at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from svc.formats.mailbox import entry, takeout, with_marks
from svc.formats.mailbox.maildir import flags_for
from svc.log import Log
from svc.mail.porting import queries
from svc.mail.porting.queries import Exported
from svc.store import BlobCorrupt, BlobMissing, Blobs, ReadTx, Store

PAGE: Final = 200


@dataclass(kw_only=True)
class Export:
    """One export. ``done``: mails exported so far; ``lost``: mails whose bytes are damaged here, or missing."""

    account_id: str
    store: Store
    blobs: Blobs
    log: Log
    done: int = 0
    lost: int = 0
    _names: dict[str, str] = field(default_factory=dict)

    async def mbox(self) -> AsyncIterator[bytes]:
        """The entries of an mbox."""
        async for mail, marked in self.mails():
            yield entry(marked, sender=mail.sender, at=mail.sent_at)

    async def mails(self) -> AsyncIterator[tuple[Exported, bytes]]:
        """Each mail, and its bytes with the mark headers at the top."""
        await self._read_names()
        after = ""
        while page := await self._page(after):
            for mail in page:
                marked = await self._marked(mail)
                if marked is not None:
                    self.done += 1
                    yield mail, marked
            after = page[-1].id

    async def _read_names(self) -> None:
        found = await self.store.read(queries.own_labels, self.account_id)
        self._names = {label.id: label.name for label in found}

    async def _page(self, after: str) -> list[Exported]:
        return await self.store.read(queries.exported, self.account_id, after=after, limit=PAGE)

    async def _marked(self, mail: Exported) -> bytes | None:
        try:
            raw = await self.blobs.read(mail.raw_sha256, limit=mail.raw_size)
        except (BlobMissing, BlobCorrupt) as error:
            self.lost += 1
            self.log.error("mail.export_lost", error, message=mail.id)
            return None
        return marked(raw, mail, self._names)


def marked(raw: bytes, mail: Exported, names: Mapping[str, str]) -> bytes:
    """The mail's bytes with its labels as headers. ``names``: user labels by id; one without a name is written by its
    id."""
    system = frozenset(label for label in mail.labels if label in takeout.NAMES)
    own = tuple(sorted(names.get(label, label) for label in mail.labels - system))
    return with_marks(raw, system=system, own=own)


def maildir_name(mail: Exported) -> str:
    """The file name in a Maildir. Without its flags it is the same each time, so a new export replaces the mail."""
    system = frozenset(mail.labels)
    return f"{mail.sent_at // 1_000}.{mail.raw_sha256[:40]}.svc:2,{flags_for(system)}"


def count(tx: ReadTx, account_id: str) -> int:
    found: int = tx.value("select messages from mail_accounts where id = :id", id=account_id)
    return found
