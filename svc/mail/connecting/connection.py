"""Connecting a mailbox: from consent to the account that is kept with its grant, and the mailbox of each account."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from svc.connections import (
    ConnectionFault,
    Credentials,
    Grant,
    GrantRefused,
    Grants,
    RefusalCause,
    Tokens,
    credentials_of,
    grants_of,
    keep_tokens,
)
from svc.errors import Conflict, Forbidden
from svc.identity import OAuthState
from svc.mail.accounts import actions as account_actions
from svc.mail.accounts.actions import secret_name
from svc.mail.providers.kinds import BY_OAUTH
from svc.mail.providers.seam import Provider, ProviderFault
from svc.mail.settings import MAIL_AUTH_URL, MAIL_REVOKE_URL, MAIL_TOKEN_URL
from svc.principal import Principal
from svc.store import Tx
from svc.workspace import Workspace

ConnectCause = (
    RefusalCause
    | Literal["no-consent", "ended", "another-mailbox", "someone-elses", "being-erased", "api-off", "provider-away"]
)


class ConnectRefused(Exception):
    """The person's round trip ended without an account. The mail page has the words for ``cause``."""

    def __init__(self, cause: ConnectCause) -> None:
        super().__init__(cause)
        self.cause: ConnectCause = cause


@dataclass(frozen=True, kw_only=True)
class Connections:
    """Everything between an account and its provider."""

    workspace: Workspace

    @cached_property
    def grants(self) -> Grants:
        config = self.workspace.config
        return grants_of(
            self.workspace,
            BY_OAUTH.terms,
            authorization_url=config[MAIL_AUTH_URL],
            token_url=config[MAIL_TOKEN_URL],
            revocation_url=config[MAIL_REVOKE_URL],
        )

    async def consent_url(self, started: OAuthState, *, redirect_uri: str) -> str:
        """Where the browser goes to consent. Raises :class:`ConnectRefused` when the provider can't be asked."""
        try:
            return await self.grants.consent_url(started, redirect_uri=redirect_uri)
        except ConnectionFault as fault:
            raise self._away(fault) from fault

    async def finish(self, principal: Principal, ended: OAuthState, *, code: str, redirect_uri: str) -> str:
        """Redeem the code, check whose mailbox it opens, keep the account with its tokens. Returns the account's id.

        Raises :class:`ConnectRefused` with its cause.
        """
        try:
            grant = await self.grants.redeem(ended, code=code, redirect_uri=redirect_uri)
            address = await self._granted_address(grant)
        except GrantRefused as refused:
            self.workspace.log.warning("mail.connect_refused", cause=refused.cause)
            raise ConnectRefused(refused.cause) from refused
        except (ConnectionFault, ProviderFault) as fault:
            raise self._away(fault) from fault
        if ended.hint and ended.hint.lower() != address:
            raise ConnectRefused("another-mailbox")
        credentials = credentials_of(self.workspace)
        try:
            return await self.workspace.store.write(
                _keep_account, credentials, principal, address=address, tokens=grant.tokens
            )
        except Forbidden as refused:
            raise ConnectRefused("someone-elses") from refused
        except Conflict as refused:
            raise ConnectRefused("being-erased") from refused

    def provider(self, address: str) -> Provider:
        """The mailbox of a connected account."""
        return BY_OAUTH.open(self.workspace, address, self.grants.tokens_kept(secret_name(address)))

    async def _granted_address(self, grant: Grant) -> str:
        """The mailbox the tokens really open, as its own API names it; the ID token must not say otherwise."""
        said = grant.identity.email.lower() if grant.identity and grant.identity.email else None
        provider = BY_OAUTH.open(self.workspace, said or "me", self.grants.tokens_fresh(grant))
        opened = (await provider.profile()).address.lower()
        if said is not None and said != opened:
            raise ConnectRefused("another-mailbox")
        return opened

    def _away(self, fault: ConnectionFault | ProviderFault) -> ConnectRefused:
        self.workspace.log.warning("mail.connect_failed", reason=fault.detail)
        api_off = isinstance(fault, ProviderFault) and fault.trouble == "api-off"
        return ConnectRefused("api-off" if api_off else "provider-away")


def _keep_account(tx: Tx, credentials: Credentials, principal: Principal, *, address: str, tokens: Tokens) -> str:
    """The account and its tokens in one transaction: neither is there without the other."""
    account_id = account_actions.connect(tx, principal, address=address, provider=BY_OAUTH.name)
    keep_tokens(tx, credentials, name=secret_name(address), tokens=tokens)
    return account_id
