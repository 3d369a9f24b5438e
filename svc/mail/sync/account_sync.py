"""One account's sync: the steps of the loop, without the loop.

A step polls the provider's history since the watermark. Without a watermark (first sync, or history expired) it first
does a full sync, which reads the whole mailbox. Both write by the transactions of :mod:`svc.mail.sync.ingest`. Both may
be cancelled or killed anywhere, and then repeated. ``tasks.py`` decides when a step runs and what a fault means.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import trio

from svc.clock import MINUTE_MS
from svc.log import Log
from svc.mail.accounts import addressing, failures, progress
from svc.mail.accounts import queries as account_queries
from svc.mail.changes.confirmed import Confirmed, Since
from svc.mail.model import Account, Incoming
from svc.mail.providers.seam import (
    HistoryChange,
    HistoryExpired,
    LostAnswer,
    MessageRef,
    Provider,
    ProviderFault,
    ProviderLabel,
    Refused,
    Unreachable,
)
from svc.mail.sync import ingest, label_catalog
from svc.mail.sync.fetch import Fetched, Fetcher
from svc.mail.sync.pages import PageRead, PagesAhead, next_token
from svc.mail.sync.rate import SyncRate
from svc.mail.sync.steps import IngestStep
from svc.mail.threads import queries as thread_queries
from svc.mail.threads.label_queries import labels_are_old
from svc.store import Store

ID_PAGE_SIZE: Final = 500  # the provider's largest page, for lists of ids only
NEWEST_AT_FIRST: Final = 50  # messages that are stored before the list of all is read, where that takes long
MISSED_TOGETHER: Final = 24  # messages that no page brought, fetched together; each is stored alone
DELETE_BATCH: Final = 500
LABEL_BATCH: Final = 500
LABELS_EVERY_MS: Final = 10 * MINUTE_MS
FULL_SYNCS_A_STEP: Final = 2  # history may expire once more while a step runs; a third time is a fault


Stored = Callable[[str, Sequence[Incoming]], Awaitable[None]]
"""Called with the messages that were stored in an account, once they are durable. The step waits until it returns."""


async def _nobody_waits(account_id: str, messages: Sequence[Incoming]) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class AccountSync:
    account_id: str
    provider: Provider
    store: Store
    fetcher: Fetcher
    steps: Sequence[IngestStep]
    log: Log
    stored: Stored = _nobody_waits
    rate: SyncRate = field(default_factory=SyncRate)
    confirmed: Confirmed = field(default_factory=Confirmed)
    changing: trio.Lock = field(default_factory=trio.Lock)
    """Held while a change of ours goes to the provider and is confirmed. So the reading of a history begins either
    before that or after it. After it, the history also holds what other programs did later, and our change must not
    override that."""
    _labels_turn: trio.Lock = field(default_factory=trio.Lock)
    _addresses_asked: trio.Event = field(default_factory=trio.Event)

    async def step(self) -> None:
        """Does a full sync if there is no watermark, then polls once. Raises the provider's fault that stops it."""
        for _ in range(FULL_SYNCS_A_STEP):
            account = await self._account()
            if account is None or account.state == "disconnected":
                return
            if account.cursor is None or account.full_sync_cursor is not None:
                await self._full_sync(account)
                account = await self._account()
            if account is None or account.cursor is None:
                return
            try:
                await self._poll(account.cursor)
            except HistoryExpired:
                self.log.info("mail.history_expired", account=self.account_id)
                await self.store.write(progress.forget_cursor, account_id=self.account_id)
            else:
                if not self._addresses_asked.is_set():
                    await self._ask_addresses(account)
                return
        raise Unreachable("The provider forgets its history faster than the mailbox can be read.")

    # Full sync

    async def _full_sync(self, account: Account) -> None:
        repair = account.full_sync_cursor is not None or account.messages > 0
        if account.full_sync_cursor is None:
            if self.provider.capabilities.lists_late and not repair:
                await self._fetch_newest()
            profile = await self.provider.profile(listed=self._listed)
            await self.refresh_labels()
            await self._ask_addresses(account)
            await self.store.write(
                progress.begin_full_sync,
                account_id=self.account_id,
                cursor=profile.cursor,
                total=profile.messages_total,
            )
        else:
            await self.store.write(progress.resume_full_sync, account_id=self.account_id)
        await self._full_sync_pages()
        await self._fetch_missed()
        if repair:
            with self.confirmed.reading() as since:
                await self._correct_labels(since)
        while await self.store.write(ingest.delete_unseen, account_id=self.account_id, limit=DELETE_BATCH):
            pass
        await self.store.write(progress.finish_full_sync, account_id=self.account_id)
        await self.store.analyse()  # the tables are many times larger now

    async def _fetch_newest(self) -> None:
        """Stores the newest messages of a mailbox, before the list of all of them is read: there is mail to read while
        that takes its time."""
        listed = await self.provider.list_messages(limit=NEWEST_AT_FIRST)
        await self.refresh_labels()
        fetched = await self._fetch(listed.messages)
        # A message that fails alone is fetched again, and counted, with its page.
        await self.store.write(
            ingest.keep_some,
            account_id=self.account_id,
            incoming=fetched.incoming,
            passed=(),
            steps=self.steps,
        )
        await self.stored(self.account_id, fetched.incoming)
        if fetched.outage is not None:
            raise fetched.outage

    async def _listed(self, done: int, total: int) -> None:
        await self.store.write(progress.listed, account_id=self.account_id, done=done, total=total)

    async def _full_sync_pages(self) -> None:
        account = await self._account()
        if account is None:
            return
        self.rate.begin()
        if account.full_sync_page_token is None and account.progress_done > 0:
            return  # the last page was stored before the process died
        pages = PagesAhead(
            account_id=self.account_id,
            provider=self.provider,
            store=self.store,
            fetcher=self.fetcher,
            witness=self._witness,
        )
        await pages.read(account.full_sync_page_token, store_page=self._store_page)

    async def _store_page(self, page: PageRead) -> None:
        fetched = page.fetched
        if fetched.outage is not None:
            await self.store.write(
                ingest.keep_some,
                account_id=self.account_id,
                incoming=fetched.incoming,
                passed=fetched.passed,
                steps=self.steps,
            )
            await self.stored(self.account_id, fetched.incoming)
            raise fetched.outage
        # Messages in doubt are fetched again after all pages, so that nothing else waits for them.
        stored = ingest.FullSyncPage(
            incoming=fetched.incoming,
            seen=page.ids,
            passed=fetched.passed,
            next_page_token=page.next_page_token,
        )
        await self.store.write(ingest.store_page, account_id=self.account_id, page=stored, steps=self.steps)
        self.rate.done(len(page.ids))
        await self.stored(self.account_id, stored.incoming)

    async def _fetch_missed(self) -> None:
        """Fetches messages that no page listed (page tokens are offsets at some providers, and a deletion shifts them),
        and those that failed alone. If one fails again, raises its fault after all others are stored; in the end such a
        message goes to the failures. Failures of messages that are gone are forgotten. Only these messages are held
        in memory, not the whole list."""
        gone = set(await self.store.read(account_queries.failed_ids, account_id=self.account_id))
        missed: dict[str, MessageRef] = {}
        async for refs in self._lists(None):
            batch = [ref.id for ref in refs]
            known = await self.store.read(
                thread_queries.known_ids, account_id=self.account_id, provider_message_ids=batch
            )
            failed = await self.store.read(account_queries.failed_ids, account_id=self.account_id)
            # Also for known messages: one that no page listed would otherwise count as deleted.
            await self.store.write(ingest.mark_seen, account_id=self.account_id, provider_message_ids=batch)
            missed.update((ref.id, ref) for ref in refs if ref.id not in known and ref.id not in failed)
            gone.difference_update(batch)
        doubt: ProviderFault | None = None
        waiting = list(missed.values())
        for first in range(0, len(waiting), MISSED_TOGETHER):
            doubt = await self._fetch_each(waiting[first : first + MISSED_TOGETHER]) or doubt
        if doubt is not None:
            raise doubt
        if gone:
            await self.store.write(
                failures.forget_failures, account_id=self.account_id, provider_message_ids=sorted(gone)
            )

    async def _correct_labels(self, since: Since) -> None:
        """Corrects the labels of all stored messages. It lists the messages of each label, which costs a fraction of
        the quota of asking for each message. A label that no listing ever named stays unchanged."""
        before = await self.store.read_small(thread_queries.labels, self.account_id)
        listed, _ = await self._list_labels()
        none = frozenset[str]()
        carried = {ref.id: none async for refs in self._lists(None) for ref in refs}
        alike = {none: none}  # messages with the same labels share one set, since a mailbox may have millions
        for label in listed:
            async for refs in self._lists(label.id):
                for ref in refs:
                    if (found := carried.get(ref.id)) is not None:
                        together = found | {label.id}
                        carried[ref.id] = alike.setdefault(together, together)
        authority = frozenset(before) | {label.id for label in listed}
        items = iter(carried.items())
        while batch := dict(islice(items, LABEL_BATCH)):
            await self.store.write(
                ingest.correct_labels,
                account_id=self.account_id,
                labels=batch,
                authority=authority,
                confirmed=since(),
            )

    async def _lists(self, label: str | None) -> AsyncIterator[tuple[MessageRef, ...]]:
        """All messages that carry a label, or all of the mailbox, page by page."""
        token: str | None = None
        seen_tokens: set[str] = set()
        while True:
            listed = await self.provider.list_messages(label=label, page_token=token, limit=ID_PAGE_SIZE)
            yield listed.messages
            token = next_token(listed.next_page_token, seen_tokens)
            if token is None:
                return

    async def _ask_addresses(self, account: Account) -> None:
        """Stores the sender addresses that the provider has for this mailbox, and its display name for the user where
        none is set yet. Called once per connection and at each full sync. Mail works without it, so a fault of this
        call is only logged."""
        self._addresses_asked.set()
        try:
            told = await self.provider.addresses()
        except ProviderFault as fault:
            self.log.info("mail.no_addresses", account=self.account_id, reason=fault.detail)
            return
        if told:
            await self.store.write(addressing.note_told, account_id=self.account_id, told=told)

    # Labels

    async def refresh_labels(self) -> bool:
        """Asks the provider for its labels now. Returns whether some are gone; they are removed from all messages here,
        too."""
        _, gone = await self._list_labels()
        return gone

    async def make_label(self, name: str, *, color: str | None) -> ProviderLabel:
        """Makes a label at the provider. Returns the existing one if there is a label of that name already."""
        able = self.provider.capabilities
        if not able.labels:
            raise Refused("The provider of this account has no labels of one's own.")
        async with self._labels_turn:
            try:
                label = await self.provider.create_label(name, color=color if able.colors else None)
            except (Refused, LostAnswer):
                listed = await self.provider.labels()
                found = [one for one in listed if not one.system and one.name.casefold() == name.casefold()]
                if not found:
                    raise
                label = found[0]
            await self.store.write(label_catalog.store_label, account_id=self.account_id, label=label)
            return label

    async def _list_labels(self) -> tuple[tuple[ProviderLabel, ...], bool]:
        async with self._labels_turn:  # a label made between the two calls would seem to be deleted
            labels = await self.provider.labels()
            gone = await self.store.write(label_catalog.store_labels, account_id=self.account_id, labels=labels)
        while await self.store.write(label_catalog.forget_gone, account_id=self.account_id):
            pass
        return labels, gone > 0

    # Polling

    async def _poll(self, cursor: str) -> None:
        with ExitStack() as reading:
            async with self.changing:
                since = reading.enter_context(self.confirmed.reading())
            changes, newest = await self._changes_since(cursor)
            labels_are_due = await self.store.read_small(labels_are_old, self.account_id, after_ms=LABELS_EVERY_MS)
            if labels_are_due:
                await self.refresh_labels()  # the history does not report renamed or deleted labels
            await self._know({label for change in changes for label in change.labels})
            doubt: ProviderFault | None = None
            for of_one_message in _by_message(changes):
                doubt = await self._apply(of_one_message, since) or doubt
            if doubt is not None:
                raise doubt  # all others are stored; the watermark stays, so that the next poll gets this one again
            count_moved = any(change.kind in {"added", "deleted"} for change in changes)
            total = (await self.provider.profile()).messages_total if count_moved or labels_are_due else None
            await self.store.write(
                progress.finish_poll, account_id=self.account_id, cursor=newest, provider_total=total
            )

    async def _changes_since(self, cursor: str) -> tuple[list[HistoryChange], str]:
        """Every change since the watermark. No change is applied before the last page has come: if a page fails, the
        next poll reads all pages again from the same watermark."""
        changes: list[HistoryChange] = []
        token: str | None = None
        seen_tokens: set[str] = set()
        while True:
            page = await self.provider.history(since=cursor, page_token=token)
            changes.extend(page.changes)
            token = next_token(page.next_page_token, seen_tokens)
            if token is None:
                return changes, page.cursor

    async def _apply(self, changes: Sequence[HistoryChange], since: Since) -> ProviderFault | None:
        """Applies all changes of one message. A new message is fetched in its present state, labels included. Returns
        the fault if the message must be fetched again later."""
        first = changes[0]
        gone = [] if _came_back(changes) else [change for change in changes if change.kind == "deleted"]
        known = await self.store.read(
            thread_queries.known_ids, account_id=self.account_id, provider_message_ids=[first.message_id]
        )
        ref = MessageRef(id=first.message_id, thread_id=first.thread_id)
        if gone:
            await self.store.write(
                failures.forget_failures, account_id=self.account_id, provider_message_ids=[first.message_id]
            )
        if not known and not gone:
            return await self._fetch_each([ref])
        if known and (gone or not _are_not_enough(changes) or not await self._fetch_again(ref)):
            await self.store.write(
                ingest.apply_changes, account_id=self.account_id, changes=gone or changes, confirmed=since()
            )
        return None

    async def _fetch_again(self, ref: MessageRef) -> bool:
        """Fetches the present state of a message: its labels and its Message-ID. False if only this message fails."""
        with self.confirmed.reading() as since:
            fetched = await self._fetch([ref])
            if fetched.outage is not None:
                raise fetched.outage
            for message in fetched.incoming:
                await self.store.write(
                    ingest.store_one,
                    account_id=self.account_id,
                    message=message,
                    steps=self.steps,
                    confirmed=since(),
                )
                await self.stored(self.account_id, [message])
        return bool(fetched.incoming)

    async def _fetch_each(self, refs: Sequence[MessageRef]) -> ProviderFault | None:
        """Fetches messages and stores each in its own transaction. Returns a fault if some must be fetched again later;
        raises an outage."""
        fetched = await self._fetch(refs)
        for message in fetched.incoming:
            await self._know(message.labels)
            await self.store.write(ingest.store_one, account_id=self.account_id, message=message, steps=self.steps)
            await self.stored(self.account_id, [message])
        await self.store.write(failures.pass_over, account_id=self.account_id, passed=fetched.passed)
        if fetched.outage is not None:
            raise fetched.outage
        return fetched.doubt

    async def _fetch(self, refs: Sequence[MessageRef]) -> Fetched:
        if not refs:
            return Fetched(incoming=(), passed=())
        failed = await self.store.read(account_queries.failed_ids, account_id=self.account_id)
        return await self.fetcher.fetch(refs, failed_before=failed, witness=self._witness)

    async def _witness(self) -> str | None:
        return await self.store.read(thread_queries.small_message, self.account_id)

    async def retry_failures(self) -> None:
        """Fetches each message among the failures once more. The failure of a label change ends, too: the labels that
        the message carries at the provider now are stored."""
        for failure in await self.store.read(failures.all_of, self.account_id):
            await self._fetch_each([MessageRef(id=failure.message_id, thread_id="")])
            await self.store.write(failures.overcome, account_id=self.account_id, failure=failure)

    async def _know(self, labels: Set[str]) -> None:
        """Refreshes the labels if one of these is unknown: a label made at the provider is first seen on a message."""
        if labels - set(await self.store.read_small(thread_queries.labels, self.account_id)):
            await self.refresh_labels()

    async def _account(self) -> Account | None:
        return await self.store.read_small(account_queries.account, self.account_id)


def _by_message(changes: Iterable[HistoryChange]) -> list[list[HistoryChange]]:
    """The changes of each message together, messages in order of their first change."""
    grouped: dict[str, list[HistoryChange]] = {}
    for change in changes:
        grouped.setdefault(change.message_id, []).append(change)
    return list(grouped.values())


def _came_back(changes: Sequence[HistoryChange]) -> bool:
    """Whether the message was added again after it was deleted: a server may leave a folder out of its list for a
    moment."""
    kinds = [change.kind for change in changes]
    return "deleted" in kinds and "added" in kinds[kinds.index("deleted") :]


def _are_not_enough(changes: Sequence[HistoryChange]) -> bool:
    """Whether the message must be fetched to know its state: it has another Message-ID now, it came back, or a label
    was both added and removed. The result then depends on the order of the changes, which no provider guarantees."""
    if any(change.renamed for change in changes) or _came_back(changes):
        return True
    came: set[str] = set()
    went: set[str] = set()
    for change in changes:
        (came if change.kind == "labels-added" else went).update(change.labels)
    return not came.isdisjoint(went)
