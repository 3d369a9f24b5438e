"""A kind of provider, as the code that connects accounts sees it: what it asks of the person, and how it is opened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from svc.config import AnySetting, Setting
from svc.connections import Terms, TokenSource
from svc.mail.model import Account
from svc.mail.providers.seam import Provider
from svc.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class OAuthKind:
    """A provider whose accounts are connected by OAuth. ``open`` gives the mailbox of an address with its tokens.

    ``api`` says where it is asked; ``dotless_domains``: where dots before the @ make no other mailbox.
    """

    name: str
    terms: Terms
    open: Callable[[Workspace, str, TokenSource], Provider]
    api: Setting[str]
    settings: tuple[AnySetting, ...] = ()
    dotless_domains: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class PasswordKind:
    """A provider whose accounts are connected by a password. ``open`` gives an account's mailbox, with a way to read
    what is kept of it as a secret, under ``secret_prefix`` and its address."""

    name: str
    secret_prefix: str
    open: Callable[[Workspace, Account, Callable[[], Awaitable[bytes | None]]], Provider]

    def secret_name(self, address: str) -> str:
        return f"{self.secret_prefix}{address.lower()}"
