"""The pages of a full sync, read ahead: one is fetched while the one before it is parsed and made durable, and the one
before that is stored.

Theory: a page waits for the provider, then for a processor, then for the disk, and for each in turn while the other two
have nothing to do. So three tasks hand pages on, each when the next is ready to take it: three pages are under way at
most, and their raw messages share one room (``room.py``). Pages are stored in their order, each with the token of the
next, so what was read ahead and not stored is as if it had not been read. The same holds for a fault of the provider:
it is handed on behind the pages before it, and raised once they are stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import trio

from svc.mail.accounts import queries as account_queries
from svc.mail.providers.seam import ListPage, MessageRef, Provider, ProviderFault, Refused, Unreachable
from svc.mail.sync.fetch import Fetched, Fetcher, Gathered, RawBatch
from svc.mail.sync.getting import Witness
from svc.mail.sync.room import Room
from svc.mail.threads import queries as thread_queries
from svc.nursery import open_task_group
from svc.store import Store

PAGE_SIZE: Final = 100
"""Messages of a full sync's page: one transaction, and what a crash can make us fetch again."""


@dataclass(frozen=True, kw_only=True)
class PageRead:
    """A page, with the new ones of its messages durable. ``ids``: all that it names."""

    ids: tuple[str, ...]
    next_page_token: str | None
    fetched: Fetched


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Some of a page's messages; ``is_last``: with it the page is complete."""

    listed: ListPage
    batch: RawBatch | None
    is_last: bool


@dataclass(frozen=True, kw_only=True)
class PagesAhead:
    account_id: str
    provider: Provider
    store: Store
    fetcher: Fetcher
    witness: Witness
    _faults: list[ProviderFault] = field(default_factory=list)

    async def read(self, token: str | None, *, store_page: Callable[[PageRead], Awaitable[None]]) -> None:
        """Every page from ``token`` on, to ``store_page`` in their order. Raises the provider's fault once what came
        before it is stored, and what ``store_page`` raises."""
        parts_in, parts_out = trio.open_memory_channel[_Part](0)
        pages_in, pages_out = trio.open_memory_channel[PageRead](0)
        async with open_task_group() as nursery:
            nursery.start_soon(self._fetch_pages, token, parts_in, nursery)
            nursery.start_soon(self._make_durable, parts_out, pages_in)
            async for page in pages_out:
                await store_page(page)
        for fault in self._faults:
            raise fault

    async def _fetch_pages(
        self, token: str | None, parts: trio.MemorySendChannel[_Part], nursery: trio.Nursery
    ) -> None:
        room = self.fetcher.new_room()
        seen_tokens: set[str] = set()
        with parts:
            try:
                while True:
                    try:
                        listed = await self.provider.list_messages(page_token=token, limit=PAGE_SIZE)
                    except Refused:
                        if token is None:
                            raise
                        token = None  # page tokens grow old: begin again, what is stored is not fetched twice
                        continue
                    if listed.next_page_token is not None:
                        nursery.start_soon(self.fetcher.parser.warm_up)
                    if not await self._fetch_page(listed, room, parts):
                        return  # an outage, which the page tells
                    token = next_token(listed.next_page_token, seen_tokens)
                    if token is None:
                        return
            except ProviderFault as fault:
                self._faults.append(fault)

    async def _fetch_page(self, listed: ListPage, room: Room, parts: trio.MemorySendChannel[_Part]) -> bool:
        """Returns whether the provider is still there."""
        ids = [ref.id for ref in _distinct(listed.messages)]
        known = await self.store.read(thread_queries.known_ids, account_id=self.account_id, provider_message_ids=ids)
        waiting = tuple(ref for ref in _distinct(listed.messages) if ref.id not in known)
        if not waiting:
            await parts.send(_Part(listed=listed, batch=None, is_last=True))
            return True
        failed = await self.store.read(account_queries.failed_ids, account_id=self.account_id)
        while waiting:
            batch = await self.fetcher.get_some(waiting, room=room, failed_before=failed, witness=self.witness)
            waiting = batch.left
            await parts.send(_Part(listed=listed, batch=batch, is_last=not waiting))
            if batch.got.outage is not None:
                return False
        return True

    async def _make_durable(
        self, parts: trio.MemoryReceiveChannel[_Part], pages: trio.MemorySendChannel[PageRead]
    ) -> None:
        gathered = Gathered()
        with pages:
            async for part in parts:
                if part.batch is not None:
                    await self.fetcher.make_durable(part.batch, into=gathered)
                if part.is_last:
                    ids = tuple(ref.id for ref in _distinct(part.listed.messages))
                    fetched = await self.fetcher.gathered(gathered)
                    gathered = Gathered()
                    await pages.send(PageRead(ids=ids, next_page_token=part.listed.next_page_token, fetched=fetched))


def next_token(token: str | None, seen: set[str]) -> str | None:
    """The next page's token. A listing that hands out the same one twice would never end: that is a fault."""
    if token is not None:
        if token in seen:
            raise Unreachable("The provider lists the same page again and again.")
        seen.add(token)
    return token


def _distinct(refs: Iterable[MessageRef]) -> list[MessageRef]:
    return list({ref.id: ref for ref in refs}.values())
