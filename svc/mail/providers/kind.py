"""A kind of provider, as the code that connects accounts sees it: what it asks of the person, and how it is opened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from svc.config import AnySetting, Setting
from svc.connections import Grants, Identity, Terms, TokenSource
from svc.mail.model import Account
from svc.mail.providers.seam import Provider
from svc.workspace import Workspace

ClosedCause = Literal["mailbox-closed", "sending-off"]


class MailboxClosed(Exception):
    """Somebody consented, and the mail servers still do not let this server read the mailbox, or send from it."""

    def __init__(self, detail: str, *, cause: ClosedCause) -> None:
        super().__init__(detail)
        self.detail = detail
        self.cause: ClosedCause = cause


@dataclass(frozen=True, kw_only=True)
class OAuthKind:
    """A provider whose accounts are connected by OAuth. ``open`` gives the mailbox of an account with its tokens,
    ``opened`` tells the address of the mailbox that a fresh grant really opens: it raises :class:`MailboxClosed`
    where it opens none, a provider's fault where that can't be said now.

    ``client``: the capability that our OAuth client there is, seeded by ``client_settings``. ``api`` says where it is
    asked, where it is a web API; ``dotless_domains``: where dots before the @ make no other mailbox. ``authority``: the
    name under which its servers tell who a mail comes from (RFC 8601). ``grants``: of its own sign-in, where that is
    not the identity provider's; ``origin`` is ours as that sign-in takes it.
    """

    name: str
    terms: Terms
    client: str
    client_settings: str
    open: Callable[[Workspace, Account, TokenSource], Provider]
    opened: Callable[[Workspace, Identity | None, TokenSource], Awaitable[str]]
    api: Setting[str] | None = None
    settings: tuple[AnySetting, ...] = ()
    grants: Callable[[Workspace], Grants] | None = None
    origin: Callable[[str], str] | None = None
    dotless_domains: frozenset[str] = frozenset()
    authority: str | None = None


@dataclass(frozen=True, kw_only=True)
class PasswordKind:
    """A provider whose accounts are connected by a password. ``open`` gives an account's mailbox, with a way to read
    what is kept of it as a secret, under ``secret_prefix`` and its address."""

    name: str
    secret_prefix: str
    open: Callable[[Workspace, Account, Callable[[], Awaitable[bytes | None]]], Provider]

    def secret_name(self, address: str) -> str:
        return f"{self.secret_prefix}{address.lower()}"
