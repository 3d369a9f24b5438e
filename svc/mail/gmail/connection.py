"""Connecting to the real provider: the OAuth client, consent, tokens in the secrets store, and an account's provider.

The client is identity's row in the secrets store, read at each use. Tokens lie encrypted under
``idp.oauth.<address>``. Nothing here keeps a token longer than a call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import msgspec
import trio

from svc.errors import Conflict, Forbidden, NotConfigured
from svc.identity import ClientCredentials, Discovery, OAuthState, client_credentials
from svc.mail import accounts
from svc.mail.accounts import secret_name
from svc.mail.gmail.oauth_client import (
    Grant,
    GrantRefused,
    MailEndpoints,
    Tokens,
    TokenSource,
    authorization_url,
    exchange_code,
    revoke,
)
from svc.mail.gmail.provider import GmailProvider
from svc.mail.gmail.quota import QuotaGate
from svc.mail.provider import ProviderFault
from svc.mail.settings import MAIL_API_URL, MAIL_AUTH_URL, MAIL_QUOTA, MAIL_REVOKE_URL, MAIL_TOKEN_URL
from svc.principal import Principal
from svc.settings import IDP_ISSUER
from svc.store import Secrets, Store, Tx
from svc.workspace import Workspace

REVOKE_DEADLINE_S: Final = 10.0


class ConnectRefused(Exception):
    """The person's round trip ended without an account; ``reason`` is the sentence they read."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _StoredTokens(msgspec.Struct):
    access_token: str
    refresh_token: str
    expires_at: int
    scopes: list[str]
    granted_at: int | None = None


@dataclass(frozen=True, kw_only=True)
class StoredTokens:
    """One account's tokens, encrypted in the secrets store."""

    store: Store
    secrets: Secrets
    address: str

    async def load(self) -> Tokens | None:
        data = await self.store.read(self.secrets.read, secret_name(self.address))
        return None if data is None else _tokens(data)

    async def save(self, tokens: Tokens) -> None:
        await self.store.write(_renew_tokens, self.secrets, address=self.address, tokens=tokens)


@dataclass(frozen=True, kw_only=True)
class _OneGrant:
    """The tokens of a grant that no account has yet."""

    tokens: Tokens = field(repr=False)

    async def load(self) -> Tokens | None:
        return self.tokens

    async def save(self, tokens: Tokens) -> None:
        """Fresh from the token endpoint: nothing that happens in one call needs to be kept."""


@dataclass(frozen=True, kw_only=True)
class Connections:
    """Everything between an account and its provider."""

    workspace: Workspace

    async def is_configured(self) -> bool:
        return await client_credentials(self.workspace) is not None

    async def consent_url(self, started: OAuthState, *, redirect_uri: str) -> str:
        """Where the browser goes to consent. Raises :class:`ConnectRefused` when the provider can't be asked."""
        try:
            endpoints = await self._endpoints.endpoints()
        except ProviderFault as fault:
            self.workspace.log.warning("mail.connect_failed", reason=fault.detail)
            raise ConnectRefused(fault.detail) from fault
        return authorization_url(
            endpoints,
            client_id=(await self.credentials()).client_id,
            redirect_uri=redirect_uri,
            state=started.state,
            code_challenge=started.challenge,
            login_hint=started.hint or None,
        )

    async def finish(self, principal: Principal, ended: OAuthState, *, code: str, redirect_uri: str) -> str:
        """Redeem the code, check whose mailbox it opens, keep the account with its tokens. Returns the account's id.

        Raises :class:`ConnectRefused` with the reason the person reads.
        """
        try:
            grant = await exchange_code(
                self.workspace.egress,
                await self._endpoints.endpoints(),
                credentials=await self.credentials(),
                code=code,
                code_verifier=ended.verifier,
                redirect_uri=redirect_uri,
                clock=self.workspace.clock,
            )
            address = await self._granted_address(grant)
        except GrantRefused as refused:
            self.workspace.log.warning("mail.connect_refused", cause=refused.cause)
            raise ConnectRefused(refused.detail) from refused
        except ProviderFault as fault:
            self.workspace.log.warning("mail.connect_failed", reason=fault.detail)
            raise ConnectRefused(fault.detail) from fault
        if ended.hint and ended.hint.lower() != address:
            raise ConnectRefused(f"You granted access to {address}, but {ended.hint} was to be connected.")
        try:
            return await self.workspace.store.write(
                _keep_account, self.workspace.secrets, principal, address=address, tokens=grant.tokens
            )
        except (Conflict, Forbidden) as refused:
            raise ConnectRefused(refused.detail) from refused

    async def revoke(self, stored: bytes) -> bool:
        """Have the provider take back a grant that was let go of: its stored tokens. Best effort, within a deadline.

        Returns whether it did.
        """
        with trio.move_on_after(REVOKE_DEADLINE_S):
            try:
                url = await self._endpoints.revocation()
                if url is not None:
                    await revoke(self.workspace.egress, url, refresh_token=_tokens(stored).refresh_token)
                    return True
            except ProviderFault as fault:
                self.workspace.log.warning("mail.revoke_failed", reason=fault.detail)
        return False

    def provider(self, address: str) -> GmailProvider:
        """The mailbox of a connected account."""
        tokens = StoredTokens(store=self.workspace.store, secrets=self.workspace.secrets, address=address)
        return self._provider(address, self._token_source(tokens))

    async def credentials(self) -> ClientCredentials:
        """The OAuth client as the secrets store has it now."""
        client = await client_credentials(self.workspace)
        if client is None:
            raise NotConfigured("No mail provider is configured.")
        return client

    async def _granted_address(self, grant: Grant) -> str:
        """The mailbox the tokens really open, as its own API names it; the ID token must not say otherwise."""
        said = grant.identity.email.lower() if grant.identity and grant.identity.email else None
        provider = self._provider(said or "me", self._token_source(_OneGrant(tokens=grant.tokens)))
        opened = (await provider.profile()).address.lower()
        if said is not None and said != opened:
            raise ConnectRefused(f"You signed in as {said}, but the mailbox that was opened is {opened}.")
        return opened

    def _token_source(self, tokens: StoredTokens | _OneGrant) -> TokenSource:
        return TokenSource(
            store=tokens,
            client=self.credentials,
            endpoints=self._endpoints.endpoints,
            http=self.workspace.egress,
            clock=self.workspace.clock,
        )

    def _provider(self, address: str, tokens: TokenSource) -> GmailProvider:
        config = self.workspace.config
        return GmailProvider(
            address=address,
            base_url=config[MAIL_API_URL],
            tokens=tokens,
            http=self.workspace.egress,
            quota=QuotaGate(units_per_minute=config[MAIL_QUOTA]),
            clock=self.workspace.clock,
        )

    @cached_property
    def _endpoints(self) -> MailEndpoints:
        config = self.workspace.config
        discovery = Discovery(http=self.workspace.egress, clock=self.workspace.clock, issuer=config[IDP_ISSUER])
        return MailEndpoints(
            discovery=discovery,
            authorization_url=config[MAIL_AUTH_URL],
            token_url=config[MAIL_TOKEN_URL],
            revocation_url=config[MAIL_REVOKE_URL],
        )


def _keep_account(tx: Tx, secrets: Secrets, principal: Principal, *, address: str, tokens: Tokens) -> str:
    """The account and its tokens in one transaction: neither is there without the other."""
    account_id = accounts.connect(tx, principal, address=address, provider="gmail")
    _keep_tokens(tx, secrets, address=address, tokens=tokens)
    return account_id


def _renew_tokens(tx: Tx, secrets: Secrets, *, address: str, tokens: Tokens) -> None:
    """Newer ones of the same grant. Of one that was let go of or replaced meanwhile, nothing is kept."""
    kept = secrets.read(tx, secret_name(address))
    if kept is not None and _tokens(kept).granted_at == tokens.granted_at:
        _keep_tokens(tx, secrets, address=address, tokens=tokens)


def _tokens(data: bytes) -> Tokens:
    kept = msgspec.json.decode(data, type=_StoredTokens)
    return Tokens(
        access_token=kept.access_token,
        refresh_token=kept.refresh_token,
        expires_at=kept.expires_at,
        scopes=frozenset(kept.scopes),
        granted_at=kept.granted_at,
    )


def _keep_tokens(tx: Tx, secrets: Secrets, *, address: str, tokens: Tokens) -> None:
    stored = _StoredTokens(
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token,
        expires_at=tokens.expires_at,
        scopes=sorted(tokens.scopes),
        granted_at=tokens.granted_at,
    )
    secrets.write(tx, secret_name(address), msgspec.json.encode(stored))
