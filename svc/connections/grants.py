"""The grants of one kind of connection: the round trip to the consent screen, the tokens of each grant, and its
revocation.

The OAuth client is identity's capability, acquired at each use. Nothing here keeps a token beyond a call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import trio

from svc.capabilities import Door, door_of
from svc.connections.credentials import BrokeredCredentials, Credentials, KeptTokens, OneGrant, tokens_of
from svc.connections.faults import ConnectionFault
from svc.connections.model import Grant, Terms
from svc.connections.oauth import Endpoints, OAuthEndpoints, authorization_url, exchange_code, revoke
from svc.connections.token_source import TokenSource, TokenStore
from svc.errors import NotConfigured
from svc.identity import OAUTH_CLIENT, ClientCredentials, Discovery, OAuthState, client_credentials, has_client
from svc.settings import IDP_ISSUER
from svc.workspace import Workspace

REVOKE_DEADLINE_S: Final = 10.0
ACTOR: Final = "connections"


class ServiceEndpoints(Protocol):
    """The endpoints of a service. Both methods raise :class:`svc.connections.faults.ServiceAway`."""

    async def endpoints(self) -> Endpoints: ...

    async def revocation(self) -> str | None: ...


@dataclass(frozen=True, kw_only=True)
class Grants:
    """All exchanges with the service that grants access by ``terms``. ``client``: the capability that holds our OAuth
    client for this service."""

    workspace: Workspace
    terms: Terms
    endpoints: ServiceEndpoints
    client: str = OAUTH_CLIENT

    async def is_configured(self) -> bool:
        return await has_client(_door(self.workspace), self.client)

    async def consent_url(self, started: OAuthState, *, redirect_uri: str) -> str:
        """The address of the consent screen, for the browser. Raises :class:`svc.connections.faults.ServiceAway`."""
        return authorization_url(
            await self.endpoints.endpoints(),
            self.terms,
            client_id=(await self._client()).client_id,
            redirect_uri=redirect_uri,
            state=started.state,
            code_challenge=started.challenge,
            login_hint=started.hint or None,
        )

    async def redeem(self, ended: OAuthState, *, code: str, redirect_uri: str) -> Grant:
        """Exchanges the code of a callback for a grant. Raises as :func:`exchange_code`."""
        return await exchange_code(
            self.workspace.egress,
            await self.endpoints.endpoints(),
            self.terms,
            credentials=await self._client(),
            code=code,
            code_verifier=ended.verifier,
            redirect_uri=redirect_uri,
            clock=self.workspace.clock,
        )

    async def revoke(self, stored: bytes) -> bool:
        """Asks the service to revoke a grant that is no longer used, by its stored tokens. Best effort, within a
        deadline.

        Returns whether the service revoked it.
        """
        with trio.move_on_after(REVOKE_DEADLINE_S):
            try:
                url = await self.endpoints.revocation()
                if url is not None:
                    token = tokens_of(stored).refresh_token
                    await revoke(self.workspace.egress, url, self.terms, refresh_token=token)
                    return True
            except ConnectionFault as fault:
                self.workspace.log.warning(f"{self.terms.what}.revoke_failed", reason=fault.detail)
        return False

    def tokens_kept(self, name: str) -> TokenSource:
        """The access tokens of the grant that is stored under ``name``."""
        credentials = credentials_of(self.workspace)
        return self._source(KeptTokens(store=self.workspace.store, credentials=credentials, name=name))

    def tokens_fresh(self, grant: Grant) -> TokenSource:
        """The access tokens of a grant that is not stored yet."""
        return self._source(OneGrant(tokens=grant.tokens))

    def _source(self, store: TokenStore) -> TokenSource:
        return TokenSource(
            store=store,
            terms=self.terms,
            client=self._client,
            endpoints=self.endpoints.endpoints,
            http=self.workspace.egress,
            clock=self.workspace.clock,
        )

    async def _client(self) -> ClientCredentials:
        return await client_of(self.workspace, self.terms, self.client)


async def client_of(workspace: Workspace, terms: Terms, name: str) -> ClientCredentials:
    """The OAuth client as the secrets store holds it now."""
    client = await client_credentials(_door(workspace), purpose=f"{terms.what} access", name=name)
    if client is None:
        raise NotConfigured(f"No {terms.what} provider is configured.")
    return client


def grants_of(
    workspace: Workspace,
    terms: Terms,
    *,
    authorization_url: str | None = None,
    token_url: str | None = None,
    revocation_url: str | None = None,
) -> Grants:
    """The grants by ``terms`` at the identity provider, or at the given endpoints."""
    issuer = workspace.config[IDP_ISSUER]
    return Grants(
        workspace=workspace,
        terms=terms,
        endpoints=OAuthEndpoints(
            discovery=Discovery(http=workspace.egress, clock=workspace.clock, issuer=issuer),
            authorization_url=authorization_url,
            token_url=token_url,
            revocation_url=revocation_url,
        ),
    )


def credentials_of(workspace: Workspace) -> Credentials:
    """The one store of this server for the secrets of connections."""
    return BrokeredCredentials(door=_door(workspace))


def _door(workspace: Workspace) -> Door:
    return door_of(workspace, ACTOR)
