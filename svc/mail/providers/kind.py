"""A kind of provider, as the code that connects accounts sees it: what it asks of the person, and how it is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from svc.config import AnySetting, Setting
from svc.connections import Terms, TokenSource
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
