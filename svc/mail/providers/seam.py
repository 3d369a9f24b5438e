"""The seam to a mail provider: its calls, what it is able to do, the records they speak in, and the ways they fail.

Ids, labels and cursors are the provider's own text, and nobody else reads them. Messages come whole, as raw RFC 5322
bytes: no provider's idea of parts is relied on. A call either returns, or raises a :class:`ProviderFault` that says
what the caller may do about it. What differs between providers is asked of their :class:`Capabilities`, not of their
kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from svc.clock import Millis
from svc.mail.model import Trouble

ChangeKind = Literal["added", "deleted", "labels-added", "labels-removed"]


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a provider is able to do."""

    labels: bool
    """People make labels there (:meth:`Provider.create_label`), and a message carries as many as they like."""
    colors: bool
    """Labels have colours."""
    server_threads: bool
    """The provider says which thread a message belongs to. Elsewhere its ``thread_id`` is empty and means nothing:
    threads follow from what the messages refer to (:mod:`svc.mail.threads.references`)."""
    bulk_min: int
    """From so many messages on one call for all is cheaper than one for each."""
    bulk_max: int
    """The most that one call changes."""
    max_message_bytes: int
    """The largest message that it sends."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """``cursor``: where the mailbox is now; what happens to it later is told since there."""

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
    """``received_at`` is the provider's own date of arrival, ``None`` where it gives none. ``draft_of``: the mark of
    the draft that is kept here, where the provider says that another program made this of it."""

    id: str
    thread_id: str = ""
    labels: frozenset[str]
    received_at: Millis | None
    raw: bytes
    draft_of: str | None = None


@dataclass(frozen=True, kw_only=True)
class HistoryChange:
    """``labels``: what was added or removed; empty for ``added`` and ``deleted``. ``renamed``: of an ``added`` one that
    was sent from here, the provider keeps it under another Message-ID than it left with, and so do those who got it."""

    kind: ChangeKind
    message_id: str
    thread_id: str = ""
    labels: frozenset[str] = frozenset()
    renamed: bool = False


@dataclass(frozen=True, kw_only=True)
class HistoryPage:
    """Changes since a cursor, oldest first. ``cursor`` is where the next call may begin."""

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
    """``names``: other Message-IDs by which those who get it may know it, as the provider says."""

    id: str
    thread_id: str = ""
    labels: frozenset[str]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Quota:
    """In the provider's units, a minute."""

    used: int
    limit: int


class Drafts(Protocol):
    """The drafts that a mailbox keeps for every program that writes from it. Ours bear a mark in ``X-Svc-Outgoing``, by
    which they are found again; the mailbox never tells of them as messages. Both calls are idempotent.

    ``instead_of``: messages of other programs, by their ids, that lie among the drafts and go, too; others stay, and
    one that is gone already is passed over."""

    async def keep(
        self, raw: bytes, *, mark: str, instead_of: Sequence[str] = (), thread_id: str | None = None
    ) -> None:
        """This lies there, in place of any other of the same mark; in the provider's thread, where it has threads."""
        ...

    async def drop(self, mark: str, *, instead_of: Sequence[str] = ()) -> None: ...

    async def there(self, mark: str) -> bool:
        """Whether anything that was put there under it lies there, as the server says now."""
        ...


@dataclass(frozen=True, kw_only=True)
class SendingAddress:
    """What mail from a mailbox may be from. ``name`` is what the provider writes beside it, empty for nothing; ``own``:
    it is the mailbox's own; ``default``: of new mail; ``confirmed``: the provider sends from it now."""

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
        """``None`` where drafts that are written here can't be kept there."""
        ...

    async def profile(self) -> Profile: ...

    async def addresses(self) -> tuple[SendingAddress, ...]:
        """All that the provider sends from for this mailbox, its own among them; empty where it tells none."""
        ...

    async def list_messages(
        self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
    ) -> ListPage:
        """Every message, or those that carry ``label``; spam and trash included. ``limit`` at most 500."""
        ...

    def expect(self, message_ids: Sequence[str]) -> None:
        """These will be asked for soon, in this order, and nothing that was expected before: a hint to those who can
        get many with one call."""
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
        """The same change of at most ``bulk_max`` messages, in one call; those that are gone are passed over.

        Idempotent. When it raises, some may have been changed and others not.
        """
        ...

    async def labels(self) -> tuple[ProviderLabel, ...]: ...

    async def create_label(self, name: str, *, color: str | None = None) -> ProviderLabel:
        """``color`` as ``#rrggbb``: it becomes the nearest one the provider has. Raises :class:`Refused` for a name
        that exists. Only where the provider is able to make labels; with a colour only where they have some."""
        ...

    async def send(self, raw: bytes, *, thread_id: str | None = None) -> SentMessage:
        """``thread_id``: the provider's thread that it belongs to, where the provider has threads."""
        ...

    async def listen(self, heard: Callable[[], None]) -> None:
        """Call ``heard`` when something may have happened there: a hint, so that nobody waits for the next poll. Runs
        until it is cancelled or the provider can't be heard any more; returns where it has no such thing."""
        ...

    async def aclose(self) -> None:
        """Let go of what is held open. Nothing is asked of it after that."""
        ...

    def quota_used(self) -> Quota | None:
        """What the last minute took of the provider's quota; ``None`` where there is none."""
        ...


class ProviderFault(Exception):
    """A call did not do what it was asked. ``detail`` is one sentence a user may read; it never holds a secret.

    ``may_have_happened`` is True when the request may have reached the provider and nobody knows what it did.
    ``trouble`` names what ails the whole account, where that is known to be one of the known things.
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
    """401 even with a fresh token, or the refresh was refused: the user must connect again; ``detail`` says why."""


class HistoryExpired(ProviderFault):
    """The watermark is older than the provider's memory: a full sync is due."""


class MessageGone(ProviderFault):
    """404 for one message: it was deleted between two calls."""


class Throttled(ProviderFault):
    """429, or 403 for quota. Nothing happened. ``retry_after_s`` is the provider's own word, if it gave one."""

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s

    def pause_s(self, pause_s: float) -> float:
        return pause_s if self.retry_after_s is None else max(pause_s, self.retry_after_s)


class Unreachable(ProviderFault):
    """No connection, TLS failure, 408 or 5xx before anything was accepted. Nothing happened; later may work."""


class LostAnswer(Unreachable):
    """The connection ended, timed out or answered nonsense after the request left: it may have happened."""

    may_have_happened = True


class Refused(ProviderFault):
    """Any other 4xx: the provider will not do this, now or later. ``status`` is its HTTP status."""

    def __init__(self, detail: str, *, status: int) -> None:
        super().__init__(detail)
        self.status = status
