"""Checks the origin of messages: reads their header, gets the keys of their signatures, and judges both.

DKIM is checked in a worker process with a deadline. A message that is too large or too slow to check counts as not
signed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import trio

from svc.errors import Refusal
from svc.formats.authentication import Authentication, Head, ServerResult, Signature, check_signatures, judge, read_head
from svc.formats.html.links import same_registrant
from svc.log import Log
from svc.mail.authentication import actions, queries
from svc.mail.authentication.keys import SigningKeys
from svc.mail.authentication.queries import Unchecked
from svc.mail.providers.table import Providers
from svc.nursery import ProcessPool, ThreadPool, WorkerCrashed, WorkerTimeout
from svc.store import BlobCorrupt, BlobMissing, Blobs, Store

CHECK_DEADLINE_S: Final = 5.0
READING_S: Final = 5.0
"""Time to check all messages of a thread that is opened. Those that are not done then are checked another time."""
MAX_CHECKED: Final = 20
"""How many of the newest unchecked messages of a thread are checked when it is opened. Older ones are checked only
when a caller asks for one."""
MAX_RAW_BYTES: Final = 64 * 1024 * 1024
MAX_SIGNED_BYTES: Final = 32 * 1024 * 1024
AT_A_TIME: Final = 4


@dataclass(frozen=True, kw_only=True)
class Authenticator:
    store: Store
    blobs: Blobs
    threads: ThreadPool
    processes: ProcessPool
    providers: Providers
    keys: SigningKeys
    log: Log

    async def read(self, message_ids: Sequence[str]) -> dict[str, Authentication]:
        """The results for the messages of an opened thread; ``message_ids`` oldest first. No keys are asked for where
        the own server has given results. Own messages are left out."""
        known = await self.store.read(queries.known, message_ids=message_ids)
        found = {message_id: one.found for message_id, one in known.items()}
        missing = [one for one in message_ids if one not in found][-MAX_CHECKED:]
        if missing:
            with trio.move_on_after(READING_S):
                await self._look(missing, found, ask=False)
        return found

    async def check(self, message_id: str) -> Authentication | None:
        """Check a message fully, with the keys of all signatures. ``None`` for an own message, and for one that is not
        stored."""
        known = (await self.store.read(queries.known, message_ids=[message_id])).get(message_id)
        if known is not None and known.asked:
            return known.found
        found: dict[str, Authentication] = {}
        await self._look([message_id], found, ask=True)
        return found.get(message_id)

    async def _look(self, message_ids: Iterable[str], found: dict[str, Authentication], *, ask: bool) -> None:
        turns = trio.CapacityLimiter(AT_A_TIME)

        async def look(one: Unchecked) -> None:
            async with turns:
                result = await self._authentication(one, ask=ask)
            if result is not None:
                found[one.message_id] = result

        async with trio.open_nursery() as nursery:
            for one in await self.store.read(queries.unchecked, message_ids=message_ids):
                if not one.own:
                    nursery.start_soon(look, one)

    async def _authentication(self, one: Unchecked, *, ask: bool) -> Authentication | None:
        try:
            raw = await self.blobs.read(one.raw_sha256, limit=MAX_RAW_BYTES)
        except (BlobMissing, BlobCorrupt):
            return None  # the failed read has noted the damage, which is mended; the message is checked another time
        head = await self.threads.run(read_head, raw)
        server, results = self._word_of_server(one, head)
        asks = ask or not results
        signatures = await self._signatures(raw, head.keys) if asks and head.keys else ()
        domain = one.sender.address.rpartition("@")[2]
        found = judge(
            domain=domain,
            server=server,
            results=results,
            signatures=signatures,
            is_one_sender=head.froms == 1 and not one.senders,
            unsubscribe=head.unsubscribe,
        )
        await self._keep(one.message_id, found, asked=asks)
        return found

    def _word_of_server(self, one: Unchecked, head: Head) -> tuple[str | None, tuple[ServerResult, ...]]:
        """The topmost result field of the account's own server. Where the name of the server is known, the field is
        found by it. Otherwise the field must stand above all headers that came with the mail, and its server's name
        must belong to the account's domain."""
        known = self.providers.authority(one.provider)
        if known is not None:
            for field in head.results:
                if field.server == known:
                    return field.server, field.results
        elif head.is_topmost and head.results:
            domain = one.account_address.rpartition("@")[2]
            if domain and same_registrant(head.results[0].server, domain):
                return head.results[0].server, head.results[0].results
        return None, ()

    async def _signatures(self, raw: bytes, names: Sequence[str]) -> tuple[Signature, ...]:
        if len(raw) > MAX_SIGNED_BYTES:
            return ()
        keys = await self.keys.of(names)
        try:
            return await self.processes.run(check_signatures, raw, keys, deadline_s=CHECK_DEADLINE_S)
        except (WorkerTimeout, WorkerCrashed) as fault:
            self.log.warning("mail.dkim_gave_up", size=len(raw), reason=str(fault))
        except Exception as error:  # a boundary: the thread opens, whatever the library raises for a stranger's mail
            self.log.error("mail.dkim_failed", error, size=len(raw))
        return ()

    async def _keep(self, message_id: str, found: Authentication, *, asked: bool) -> None:
        """Store the result. Reading goes on where nothing can be written, such as on a full disk."""
        try:
            await self.store.write(actions.keep, message_id=message_id, found=found, asked=asked)
        except Refusal as refusal:
            self.log.warning("mail.authentication_not_kept", reason=refusal.detail)


UNKNOWN: Final = Authentication(verdict="unknown", summary="Not checked yet")
