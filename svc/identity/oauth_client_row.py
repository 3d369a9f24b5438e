"""An OAuth client: of the identity and mail provider, or of another service with the same form.

Acquired from the broker at each use, so that rotating id or secret changes a row and needs no restart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import msgspec

from svc.capabilities import Door

OAUTH_CLIENT: Final = "idp.oauth"
"""The name of its capability."""


@dataclass(frozen=True, kw_only=True)
class ClientCredentials:
    """``client_secret``: empty for a public client, which has only PKCE. ``directory``: the directory it belongs to,
    where a service has several."""

    client_id: str
    client_secret: str = field(repr=False)
    directory: str = ""


class _Row(msgspec.Struct):
    id: str
    secret: str = ""
    directory: str = ""


async def has_client(door: Door, name: str = OAUTH_CLIENT) -> bool:
    """Whether one is configured."""
    return await door.broker.store.read(door.available, name)


async def client_credentials(door: Door, *, purpose: str, name: str = OAUTH_CLIENT) -> ClientCredentials | None:
    """The client as it is stored now; ``None`` when none is configured."""
    data = await door.acquire(name, purpose=purpose)
    if data is None:
        return None
    row = msgspec.json.decode(data, type=_Row)
    return ClientCredentials(client_id=row.id, client_secret=row.secret, directory=row.directory)
