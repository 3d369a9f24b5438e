"""The OAuth client of the identity and mail provider, as one row of the secrets store.

Seeded once from the environment and read at each use, so that rotating id or secret is a row update, not a restart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import msgspec

from svc.config import Config
from svc.settings import IDP_CLIENT_ID, IDP_CLIENT_SECRET
from svc.store import Secrets, Tx
from svc.workspace import Workspace

OAUTH_CLIENT: Final = "idp.oauth"
"""Its name in the secrets store."""


@dataclass(frozen=True, kw_only=True)
class ClientCredentials:
    client_id: str
    client_secret: str = field(repr=False)


class _Row(msgspec.Struct):
    id: str
    secret: str


def seed_client(tx: Tx, secrets: Secrets, config: Config) -> None:
    """At boot: put the client into the secrets store, unless one is there. A stale variable changes nothing."""
    client_id, client_secret = config[IDP_CLIENT_ID], config[IDP_CLIENT_SECRET]
    if client_id and client_secret:
        secrets.seed(tx, OAUTH_CLIENT, msgspec.json.encode(_Row(id=client_id, secret=client_secret)))


async def client_credentials(workspace: Workspace) -> ClientCredentials | None:
    """The client as the secrets store has it now; ``None`` when none is configured."""
    data = await workspace.store.read(workspace.secrets.read, OAUTH_CLIENT)
    if data is None:
        return None
    row = msgspec.json.decode(data, type=_Row)
    return ClientCredentials(client_id=row.id, client_secret=row.secret)
