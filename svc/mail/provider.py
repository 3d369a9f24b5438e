"""The seam to a mail provider: nine calls, the records they speak in, and the ways they fail.

Two implementations: ``gmail`` (the Gmail REST API v1) and ``provider_fake`` (in-memory mailboxes). Ids, labels
and history ids are the provider's own text. Messages come whole, as raw RFC 5322 bytes: no provider's idea of parts is
relied on. A call either returns, or raises a :class:`ProviderFault` that says what the caller may do about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from svc.clock import Millis

MANY_MIN: Final = 11
"""From so many messages on one call for all is cheaper than one for each (at Gmail's prices)."""

MANY_MAX: Final = 1_000
"""Gmail's own limit."""

Trouble = Literal["revoked", "testing-expired", "scope", "api-off", "clock", "other"]
"""What ails an account, by names that stay: programs go by them, people by the sentence beside them."""

ChangeKind = Literal["added", "deleted", "labels-added", "labels-removed"]


@dataclass(frozen=True, kw_only=True)
class Profile:
    address: str
    history_id: str
    messages_total: int


@dataclass(frozen=True, kw_only=True)
class MessageRef:
    id: str
    thread_id: str


@dataclass(frozen=True, kw_only=True)
class ListPage:
    """Newest first."""

    messages: tuple[MessageRef, ...]
    next_page_token: str | None


@dataclass(frozen=True, kw_only=True)
class RawMessage:
    """``received_at`` is the provider's own date of arrival, ``None`` where it gives none."""

    id: str
    thread_id: str
    labels: frozenset[str]
    received_at: Millis | None
    raw: bytes


@dataclass(frozen=True, kw_only=True)
class HistoryChange:
    """``labels``: what was added or removed; empty for ``added`` and ``deleted``."""

    kind: ChangeKind
    message_id: str
    thread_id: str
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class HistoryPage:
    """Changes since a history id, oldest first. ``history_id`` is where the next call may begin."""

    changes: tuple[HistoryChange, ...]
    next_page_token: str | None
    history_id: str


@dataclass(frozen=True, kw_only=True)
class ProviderLabel:
    id: str
    name: str
    system: bool
    color: str | None = None


@dataclass(frozen=True, kw_only=True)
class SentMessage:
    id: str
    thread_id: str
    labels: frozenset[str]


class Provider(Protocol):
    """One account's mailbox. ``urgent`` calls (a person waits) may use the reserved share of the quota."""

    async def profile(self) -> Profile: ...

    async def list_messages(
        self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
    ) -> ListPage:
        """Every message, or those that carry ``label``; spam and trash included. ``limit`` at most 500."""
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
        """The same change of at most :data:`MANY_MAX` messages, in one call; those that are gone are passed over.

        Idempotent. When it raises, some may have been changed and others not.
        """
        ...

    async def labels(self) -> tuple[ProviderLabel, ...]: ...

    async def create_label(self, name: str, *, color: str | None = None) -> ProviderLabel:
        """``color`` as ``#rrggbb``: it becomes the nearest one the provider has. Raises :class:`Refused` for a name
        that exists."""
        ...

    async def send(self, raw: bytes, *, thread_id: str | None = None) -> SentMessage: ...


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


class GrantLost(ProviderFault):
    """401 even with a fresh token, or the refresh was refused: the user must connect again; ``detail`` says why."""


class HistoryExpired(ProviderFault):
    """The watermark is older than the provider's memory: sweep the mailbox again."""


class MessageGone(ProviderFault):
    """404 for one message: it was deleted between two calls."""


class Throttled(ProviderFault):
    """429, or 403 for quota. Nothing happened. ``retry_after_s`` is the provider's own word, if it gave one."""

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


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
