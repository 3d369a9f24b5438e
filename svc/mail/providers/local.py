"""A mailbox that exists only on this server, without a provider: imports go to it.

It has nothing to sync with, so it answers all calls from what is stored here: its list is the stored messages, its
history is empty, and each change succeeds at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from svc.mail.model import DRAFT, IMPORTANT, INBOX, SENT, SPAM, STARRED, TRASH, UNREAD
from svc.mail.providers.seam import (
    Capabilities,
    HistoryPage,
    Listed,
    ListPage,
    MessageGone,
    MessageRef,
    Profile,
    ProviderLabel,
    Quota,
    RawMessage,
    Refused,
    SendingAddress,
    SentMessage,
)

NAME: Final = "local"
CURSOR: Final = "here"
SYSTEM_LABELS: Final = (INBOX, UNREAD, STARRED, IMPORTANT, SENT, DRAFT, SPAM, TRASH)

ABLE: Final = Capabilities(
    labels=True,
    colors=True,
    server_threads=False,
    bulk_min=2,
    bulk_max=1_000,
    max_message_bytes=0,
)


class Kept(Protocol):
    """What this server stores of the account."""

    async def ids(self, *, label: str | None, after: str, limit: int) -> list[str]:
        """The next message ids after ``after``; with ``label`` only of messages that carry it."""
        ...

    async def labels(self) -> list[ProviderLabel]:
        """The labels that a user made."""
        ...

    def label_id(self, name: str) -> str: ...


@dataclass(frozen=True, kw_only=True)
class LocalMailbox:
    address: str
    kept: Kept

    @property
    def capabilities(self) -> Capabilities:
        return ABLE

    @property
    def drafts(self) -> None:
        return None

    async def profile(self, *, listed: Listed | None = None) -> Profile:
        return Profile(address=self.address, cursor=CURSOR, messages_total=0)

    async def addresses(self) -> tuple[SendingAddress, ...]:
        return ()

    async def list_messages(
        self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
    ) -> ListPage:
        ids = await self.kept.ids(label=label, after=page_token or "", limit=limit)
        return ListPage(
            messages=tuple(MessageRef(id=one) for one in ids),
            next_page_token=ids[-1] if len(ids) == limit else None,
        )

    def expect(self, message_ids: Sequence[str]) -> None:
        return None

    async def get(self, message_id: str) -> RawMessage:
        raise MessageGone("This mail is kept here alone.")

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        return HistoryPage(changes=(), next_page_token=None, cursor=CURSOR)

    async def modify(self, message_id: str, *, add: frozenset[str], remove: frozenset[str]) -> None:
        return None

    async def modify_many(self, message_ids: Sequence[str], *, add: frozenset[str], remove: frozenset[str]) -> None:
        return None

    async def labels(self) -> tuple[ProviderLabel, ...]:
        system = [ProviderLabel(id=one, name=one, system=True) for one in SYSTEM_LABELS]
        return (*system, *await self.kept.labels())

    async def create_label(self, name: str, *, color: str | None = None) -> ProviderLabel:
        if any(label.name.casefold() == name.casefold() for label in await self.kept.labels()):
            raise Refused("There is a label of this name.")
        return ProviderLabel(id=self.kept.label_id(name), name=name, system=False, color=color)

    async def send(self, raw: bytes, *, thread_id: str | None = None) -> SentMessage:
        raise Refused("This account is kept here alone, and can’t send.")

    async def listen(self, heard: Callable[[], None]) -> None:
        """Returns at once: no other program changes this mailbox."""

    async def aclose(self) -> None:
        return None

    def quota_used(self) -> Quota | None:
        return None

    def left_out(self) -> tuple[str, ...]:
        return ()
