"""The mender of mail: makes the parts of a message again from its raw bytes, and fetches those from the provider.

Parsing is deterministic, so it gives the same bytes, which are stored under the same hashes again. Where a later
version of the parser gives other bytes, the message's references are changed in one transaction. The provider is asked
for one message at a time, by its own id of the message, within the account's quota.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from svc.formats import mime
from svc.healing import Later, Lost, Mended, Outcome
from svc.mail.mending import actions, queries
from svc.mail.mending.queries import Owner
from svc.mail.model import Incoming
from svc.mail.providers.seam import GrantLost, MessageGone, ProviderFault, RawMessage, Refused, Throttled
from svc.mail.sync.fetch import Preparer
from svc.mail.sync.tasks import AccountLoop
from svc.nursery import ThreadPool
from svc.store import BlobCorrupt, BlobMissing, Blobs, Store, Tx

MAX_RAW_BYTES: Final = 64 * 1024 * 1024

GONE: Final = "The provider does not have this message any more."
NOT_CONNECTED: Final = "The account is not connected, so the message can't be fetched again."
_UNREADABLE: Final = "The message could not be read in time."
_COPY_GONE: Final = "What was kept of a mail for the time it was sent is lost. The mail itself is not concerned."
_MOVED_ON: Final = "The message changed while it was mended."


@dataclass(frozen=True, kw_only=True)
class MailMender:
    """``loop`` gives an account's running loop; ``preparer`` gives the object that parses its raw messages."""

    store: Store
    blobs: Blobs
    threads: ThreadPool
    loop: Callable[[str], AccountLoop | None]
    preparer: Callable[[str], Preparer]

    async def mend(self, sha256: str) -> Outcome | None:
        """Try each message that needs this blob, until the blob is mended."""
        outcome: Outcome | None = None
        for owner in await self.store.read(queries.owners, sha256):
            found = await self._mend_for(owner, sha256)
            if sha256 not in self.blobs.suspects:
                return Mended()
            outcome = _worse(outcome, found)
        if outcome is None and await self.store.read(queries.is_outgoing, sha256):
            return Lost(reason=_COPY_GONE)
        return outcome

    def tell(self, tx: Tx, sha256: str) -> None:
        actions.tell(tx, sha256)

    async def _mend_for(self, owner: Owner, sha256: str) -> Outcome:
        raw = None if sha256 == owner.raw_sha256 else await self._raw_here(owner)
        if raw is None:
            fetched = await self._fetched(owner)
            if not isinstance(fetched, RawMessage):
                return fetched
            raw = fetched.raw
        return await self._rebuild(owner, raw, sha256)

    async def _raw_here(self, owner: Owner) -> bytes | None:
        try:
            return await self.blobs.read(owner.raw_sha256, limit=MAX_RAW_BYTES)
        except (BlobMissing, BlobCorrupt):
            return None  # the failed read has noted the damage: it is mended in its own turn, or with this one

    async def _fetched(self, owner: Owner) -> RawMessage | Later | Lost:
        loop = self.loop(owner.account_id)
        if loop is None:
            return Later(reason=NOT_CONNECTED)
        try:
            return await loop.provider.get(owner.provider_message_id)
        except MessageGone:
            return Lost(reason=GONE)
        except Refused as fault:
            return Lost(reason=fault.detail)
        except GrantLost as fault:
            await loop.note_lost_grant(fault)
            return Later(reason=fault.detail)
        except ProviderFault as fault:
            asked_s = fault.retry_after_s if isinstance(fault, Throttled) else None
            return Later(reason=fault.detail, pause_s=asked_s or 0.0)

    async def _rebuild(self, owner: Owner, raw: bytes, sha256: str) -> Outcome:
        """Parse the raw message, which stores all its parts again. Where the parts differ, let the message name the new
        ones."""
        message = RawMessage(
            id=owner.provider_message_id,
            thread_id=owner.provider_thread_id,
            labels=frozenset(),
            received_at=None,
            raw=raw,
        )
        fetched = await self.preparer(owner.account_id).prepare([message])
        if fetched.passed:
            return Lost(reason=fetched.passed[0].reason)
        (made,) = fetched.incoming
        if _names(made) == _names_of(owner):
            return Mended()
        if mime.HEAD_ONLY in made.headers.problems and mime.HEAD_ONLY not in owner.headers.problems:
            return Later(reason=_UNREADABLE)
        if not await self.store.write(actions.replace_content, owner=owner, made=made):
            return Later(reason=_MOVED_ON)
        return Mended(became=_became(owner, made, sha256))


def _names(made: Incoming) -> tuple[str, ...]:
    return (made.body_sha256, made.raw_sha256, *(one.sha256 for one in made.headers.attachments))


def _names_of(owner: Owner) -> tuple[str, ...]:
    return (owner.body_sha256, owner.raw_sha256, *(one.sha256 for one in owner.headers.attachments))


def _became(owner: Owner, made: Incoming, sha256: str) -> str:
    """The blob that takes the place of ``sha256``; the raw message, where the message has no such part any more."""
    pairs = dict(zip(_names_of(owner), _names(made), strict=False))
    return pairs.get(sha256, made.raw_sha256)


def _worse(before: Outcome | None, now: Outcome) -> Outcome:
    """The worse of two messages' outcomes for the same blob: ``Later`` before ``Lost`` before ``Mended``."""
    order = (Later, Lost, Mended)
    if before is None:
        return now
    return min(before, now, key=lambda one: order.index(type(one)))
