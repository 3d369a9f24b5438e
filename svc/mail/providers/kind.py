"""A kind of provider: how a user connects an account, how its mailbox is opened, and what is so for all its accounts.

Code that has an account, but not its mailbox, asks here what its provider does, as code that has the mailbox asks
:class:`svc.mail.providers.seam.Capabilities`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from svc.config import AnySetting, Setting
from svc.connections import Grants, Identity, Terms, TokenSource
from svc.mail.model import Account
from svc.mail.providers.seam import Provider
from svc.workspace import Workspace

ClosedCause = Literal["mailbox-closed", "sending-off"]

SignIn = Literal["oauth", "password"]
"""How a user connects an account, and connects it again."""


class MailboxClosed(Exception):
    """The user consented, but the mail servers still do not let this server read the mailbox, or send from it."""

    def __init__(self, detail: str, *, cause: ClosedCause) -> None:
        super().__init__(detail)
        self.detail = detail
        self.cause: ClosedCause = cause


@dataclass(frozen=True, kw_only=True)
class OAuthKind:
    """A provider whose accounts are connected by OAuth. ``open`` returns the mailbox of an account with its tokens.
    ``opened`` returns the address of the mailbox that a fresh grant really opens. It raises :class:`MailboxClosed`
    where the grant opens none, and a provider's fault where that can't be known now.

    ``client``: the capability that is our OAuth client there, seeded by ``client_settings``. ``api``: the address of
    its web API, if it has one. ``dotless_domains``: domains that ignore dots before the @. ``authority``: the name
    under which its servers report the authentication of a mail's sender (RFC 8601). ``grants``: the grants of its own
    sign-in, if it does not use the identity provider's. ``origin``: turns our origin into the form of that sign-in.
    """

    sign_in: ClassVar[SignIn] = "oauth"
    sends: ClassVar[bool] = True

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
    """A provider whose accounts are connected by a password. ``open`` returns an account's mailbox; its last argument
    reads the account's secret, whose name is ``secret_prefix`` and the address."""

    sign_in: ClassVar[SignIn] = "password"
    sends: ClassVar[bool] = True

    name: str
    secret_prefix: str
    open: Callable[[Workspace, Account, Callable[[], Awaitable[bytes | None]]], Provider]

    def secret_name(self, address: str) -> str:
        return f"{self.secret_prefix}{address.lower()}"


@dataclass(frozen=True, kw_only=True)
class HereKind:
    """Mailboxes that are kept on this server alone: nobody signs in, and no mail leaves."""

    sign_in: ClassVar[None] = None
    sends: ClassVar[bool] = False

    name: str


Kind = OAuthKind | PasswordKind | HereKind
"""``sign_in``: ``None`` where there is no provider outside to sign in at. ``sends``: whether it sends mail."""
