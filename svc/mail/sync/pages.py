"""Reads the pages of a full sync ahead, as a pipeline: while one page is fetched, the page before it is parsed and made
durable, and the page before that is stored.

Theory: a page waits for the provider, then for a processor, then for the disk. Without a pipeline, two of these are
always idle. So three tasks pass pages on, each when the next task is ready for it. At most three pages are in progress,
and their raw messages share one budget (``memory_budget.py``). Pages are stored in order, each with the token of the
next page. A page that was read ahead and not stored is simply read again. A fault of the provider keeps this order,
too: it is raised after the pages before it are stored.
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
from svc.mail.sync.memory_budget import MemoryBudget
from svc.mail.threads import queries as thread_queries
from svc.nursery import open_task_group
from svc.store import Store

PAGE_SIZE: Final = 100
"""Messages per page of a full sync. A page is one transaction, and the unit that is fetched again after a crash."""


@dataclass(frozen=True, kw_only=True)
class PageRead:
    """A page whose new messages are durable. ``ids``: all messages that it lists."""

    ids: tuple[str, ...]
    next_page_token: str | None
    fetched: Fetched


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Some of a page's messages. ``is_last``: the page is complete with this part."""

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
        """Reads every page from ``token`` on and passes them to ``store_page`` in order. Raises the provider's fault
        once the pages before it are stored, and what ``store_page`` raises."""
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
        budget = self.fetcher.new_budget()
        seen_tokens: set[str] = set()
        with parts:
            try:
                while True:
                    try:
                        listed = await self.provider.list_messages(page_token=token, limit=PAGE_SIZE)
                    except Refused:
                        if token is None:
                            raise
                        token = None  # page tokens expire: begin again; stored messages are not fetched twice
                        continue
                    if listed.next_page_token is not None:
                        nursery.start_soon(self.fetcher.parser.warm_up)
                    if not await self._fetch_page(listed, budget, parts):
                        return  # an outage, which is in the page
                    token = next_token(listed.next_page_token, seen_tokens)
                    if token is None:
                        return
            except ProviderFault as fault:
                self._faults.append(fault)

    async def _fetch_page(self, listed: ListPage, budget: MemoryBudget, parts: trio.MemorySendChannel[_Part]) -> bool:
        """Fetches a page's new messages. Returns False at an outage of the provider."""
        ids = [ref.id for ref in _distinct(listed.messages)]
        known = await self.store.read(thread_queries.known_ids, account_id=self.account_id, provider_message_ids=ids)
        waiting = tuple(ref for ref in _distinct(listed.messages) if ref.id not in known)
        if not waiting:
            await parts.send(_Part(listed=listed, batch=None, is_last=True))
            return True
        failed = await self.store.read(account_queries.failed_ids, account_id=self.account_id)
        while waiting:
            batch = await self.fetcher.get_some(waiting, budget=budget, failed_before=failed, witness=self.witness)
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
    """The next page's token. Raises :class:`Unreachable` for a token that was seen before: the list would never end."""
    if token is not None:
        if token in seen:
            raise Unreachable("The provider lists the same page again and again.")
        seen.add(token)
    return token


def _distinct(refs: Iterable[MessageRef]) -> list[MessageRef]:
    return list({ref.id: ref for ref in refs}.values())
