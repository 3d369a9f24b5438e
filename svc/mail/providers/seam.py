"""The seam to a mail provider, which is the interface that each one implements: calls, capabilities, records, faults.

Ids, labels and cursors are the provider's own text, opaque to all other code. Messages come whole, as raw RFC 5322
bytes: no code relies on how a provider splits a message into parts. A call either returns or raises a
:class:`ProviderFault` that says what the caller may do about it. Where providers differ, the caller asks their
:class:`Capabilities`, not which kind of provider it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from svc.clock import Millis
from svc.mail.model import Trouble

Listed = Callable[[int, int], Awaitable[None]]
"""Called while a mailbox is listed: how many messages are in the list so far, and how many there are."""

ChangeKind = Literal["added", "deleted", "labels-added", "labels-removed"]


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a provider can do."""

    labels: bool
    """Users can create labels (:meth:`Provider.create_label`), and a message can carry any number of them."""
    colors: bool
    """Labels have colours."""
    server_threads: bool
    """The provider says which thread a message belongs to. If False, ``thread_id`` is empty and means nothing: threads
    follow from the references between messages (:mod:`svc.mail.threads.references`)."""
    bulk_min: int
    """From this number of messages on, one call for all is cheaper than one call for each."""
    bulk_max: int
    """The most messages that one call can change."""
    max_message_bytes: int
    """The largest message that it can send."""
    lists_late: bool = False
    """The whole list of a large mailbox takes long. Before the first :meth:`Provider.profile`, which makes it,
    :meth:`Provider.list_messages` gives the newest messages soon, and no others."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """``cursor``: the mailbox's current place in its history. :meth:`Provider.history` gives the changes after it."""

    address: str
    cursor: str
    messages_total: int


@dataclass(frozen=True, kw_only=True)
class MessageRef:
    id: str
    thread_id: str = ""


@dataclass(frozen=True, kw_only=True)
class ListPage:
    """Newest first."""

    messages: tuple[MessageRef, ...]
    next_page_token: str | None


@dataclass(frozen=True, kw_only=True)
class RawMessage:
    """``received_at`` is the provider's own date of arrival, ``None`` where it gives none. ``draft_of``: where the
    provider says that another program made this message from a draft that is kept here, the mark of that draft."""

    id: str
    thread_id: str = ""
    labels: frozenset[str]
    received_at: Millis | None
    raw: bytes
    draft_of: str | None = None


@dataclass(frozen=True, kw_only=True)
class HistoryChange:
    """``labels``: what was added or removed; empty for ``added`` and ``deleted``. ``renamed``: an ``added`` message was
    sent from here, and the provider gave it another Message-ID. The recipients' copies have that one, too."""

    kind: ChangeKind
    message_id: str
    thread_id: str = ""
    labels: frozenset[str] = frozenset()
    renamed: bool = False


@dataclass(frozen=True, kw_only=True)
class HistoryPage:
    """Changes since a cursor, oldest first. ``cursor``: the next call may begin there."""

    changes: tuple[HistoryChange, ...]
    next_page_token: str | None
    cursor: str


@dataclass(frozen=True, kw_only=True)
class ProviderLabel:
    id: str
    name: str
    system: bool
    color: str | None = None


@dataclass(frozen=True, kw_only=True)
class SentMessage:
    """``names``: other Message-IDs that the recipients' copies may have, as the provider says."""

    id: str
    thread_id: str = ""
    labels: frozenset[str]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Quota:
    """In the provider's units per minute."""

    used: int
    limit: int


class Drafts(Protocol):
    """A mailbox's drafts at the provider, which every mail program of the user sees. Ours carry a mark in the field
    ``X-Svc-Outgoing``; we find them again by it, and the provider never reports them as messages. ``keep`` and ``drop``
    are idempotent.

    ``instead_of``: message ids of other programs' drafts, which are deleted, too. A message that is no draft stays, and
    one that is gone already is skipped."""

    async def keep(
        self, raw: bytes, *, mark: str, instead_of: Sequence[str] = (), thread_id: str | None = None
    ) -> None:
        """Stores this draft in place of any other of the same mark; in the provider's thread, where it has threads."""
        ...

    async def drop(self, mark: str, *, instead_of: Sequence[str] = ()) -> None: ...

    async def there(self, mark: str) -> bool:
        """Whether the provider has a draft that we stored with this mark. Asks the server now."""
        ...


@dataclass(frozen=True, kw_only=True)
class SendingAddress:
    """An address that mail of a mailbox can be sent from. ``name``: the display name at the provider, may be empty;
    ``own``: the mailbox's own address; ``default``: for new mail; ``confirmed``: the provider sends from it now."""

    address: str
    name: str
    own: bool
    default: bool
    confirmed: bool = True


class Provider(Protocol):
    """One account's mailbox."""

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def drafts(self) -> Drafts | None:
        """``None`` where drafts that are written here can't be stored at the provider."""
        ...

    async def profile(self, *, listed: Listed | None = None) -> Profile:
        """``listed``: only called where ``capabilities.lists_late``."""
        ...

    async def addresses(self) -> tuple[SendingAddress, ...]:
        """All addresses that this mailbox can send from, its own included; empty where the provider names none."""
        ...

    async def list_messages(
        self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
    ) -> ListPage:
        """Every message, or those that carry ``label``; spam and trash included. ``limit`` at most 500."""
        ...

    def expect(self, message_ids: Sequence[str]) -> None:
        """Announces the next :meth:`get` calls, in this order, in place of what was announced before. A hint for
        providers that can get many messages with one call."""
        ...

    async def get(self, message_id: str) -> RawMessage:
        """Raises :class:`MessageGone` when it was deleted meanwhile."""
        ...

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        """Raises :class:`HistoryExpired` when ``since`` is older than what the provider keeps."""
        ...

    async def modify(self, message_id: str, *, add: frozenset[str], remove: frozenset[str]) -> None:
        """Idempotent. Raises :class:`MessageGone`."""
        ...

    async def modify_many(self, message_ids: Sequence[str], *, add: frozenset[str], remove: frozenset[str]) -> None:
        """The same change of at most ``bulk_max`` messages, in one call; messages that are gone are skipped.

        Idempotent. When it raises, some may have been changed and others not.
        """
        ...

    async def labels(self) -> tuple[ProviderLabel, ...]: ...

    async def create_label(self, name: str, *, color: str | None = None) -> ProviderLabel:
        """``color`` as ``#rrggbb``: the provider's nearest colour is used. Raises :class:`Refused` for a name that
        exists. Only where ``capabilities.labels``; with a colour only where ``capabilities.colors``."""
        ...

    async def send(self, raw: bytes, *, thread_id: str | None = None) -> SentMessage:
        """``thread_id``: the provider's thread that the mail belongs to, where the provider has threads. Raises
        :class:`ThreadGone` when it has no such thread."""
        ...

    async def listen(self, heard: Callable[[], None]) -> None:
        """Calls ``heard`` when something may have changed at the provider: a hint, so that the next poll can begin at
        once. Runs until it is cancelled or the connection fails; returns where the provider sends no notifications."""
        ...

    async def aclose(self) -> None:
        """Closes open connections. No other call may follow."""
        ...

    def quota_used(self) -> Quota | None:
        """How much of the provider's quota the last minute used; ``None`` where the provider has no quota."""
        ...

    def left_out(self) -> tuple[str, ...]:
        """The names of folders that the mailbox shows, but that are not the user's own: of other people, or shared by
        all. Their mail is not fetched. As of the last poll."""
        ...


class ProviderFault(Exception):
    """A call failed. ``detail`` is one sentence a user may read; it never holds a secret.

    A provider raises the subclass that says what the caller may do now, and translates the errors of its own protocol
    in one place. No caller knows that protocol.

    ``may_have_happened`` is True when the request may have reached the provider and its outcome is not known.
    ``trouble``: the cause, where it is one of the known problems of a whole account.
    """

    may_have_happened = False

    def __init__(self, detail: str, *, trouble: Trouble | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.trouble = trouble

    def pause_s(self, pause_s: float) -> float:
        """How long to wait before the next try: ``pause_s``, or longer where the provider asks for more."""
        return pause_s


class GrantLost(ProviderFault):
    """The provider no longer accepts the account's access, not even when it is renewed. The user must connect again;
    ``detail`` says why."""


class HistoryExpired(ProviderFault):
    """The cursor is older than the history that the provider keeps: a full sync is due."""


class MessageGone(ProviderFault):
    """The provider has no such message: it was deleted between two calls."""


class Throttled(ProviderFault):
    """Too many requests, or the quota is used up. Nothing happened. ``retry_after_s``: the wait that the provider asks
    for, if any."""

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s

    def pause_s(self, pause_s: float) -> float:
        return pause_s if self.retry_after_s is None else max(pause_s, self.retry_after_s)


class RefusedForNow(Throttled):
    """The provider did not do this one thing, perhaps only for now. Nothing happened. A change that it refuses so again
    and again counts as refused: the cause may be the message, and others wait behind it."""


class Unreachable(ProviderFault):
    """No connection, TLS failure, or trouble at the provider before anything was accepted. Nothing happened; later may
    work."""


class LostAnswer(Unreachable):
    """After the request was sent, the connection ended, timed out or gave no valid answer: it may have happened."""

    may_have_happened = True


class Refused(ProviderFault):
    """The provider will not do this one thing, now or later. Nothing happened. The caller passes over the message, so
    trouble of the whole account, or an error that proves nothing about the message, is :class:`Unreachable`."""


class ThreadGone(Refused):
    """The provider has no thread of the given ``thread_id``. It may accept the same mail without one."""
