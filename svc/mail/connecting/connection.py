"""Connecting a mailbox by OAuth: from the person's consent to the stored account with its grant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal

from svc.connections import (
    ConnectionFault,
    Credentials,
    Grant,
    GrantRefused,
    Grants,
    Refusal,
    RefusalCause,
    Tokens,
    credentials_of,
    grants_of,
    keep_tokens,
)
from svc.errors import Conflict, Forbidden
from svc.identity import OAuthState
from svc.mail.accounts import actions as account_actions
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.actions import secret_name
from svc.mail.model import Account
from svc.mail.providers.kind import ClosedCause, MailboxClosed, OAuthKind
from svc.mail.providers.kinds import ALL_BY_OAUTH
from svc.mail.providers.seam import Provider, ProviderFault
from svc.mail.settings import MAIL_AUTH_URL, MAIL_REVOKE_URL, MAIL_TOKEN_URL
from svc.principal import Principal
from svc.store import Tx
from svc.workspace import Workspace

ConnectCause = (
    RefusalCause
    | ClosedCause
    | Literal["no-consent", "ended", "another-mailbox", "someone-elses", "being-erased", "api-off", "provider-away"]
    | Literal["connected-otherwise"]
)

CALLBACK_PATH: Final = "/oauth/mail/callback"
LANDING_PATH: Final = "/oauth/mail/landing"


class ConnectRefused(Exception):
    """The OAuth round trip ended without an account. The mail page shows a sentence for ``cause``."""

    def __init__(self, cause: ConnectCause) -> None:
        super().__init__(cause)
        self.cause: ConnectCause = cause


@dataclass(kw_only=True)
class Connecting:
    """Connects the accounts of one kind of provider, and opens their mailboxes.

    ``trouble``: why the last attempt was refused, where only the owner of this server can mend it.
    """

    workspace: Workspace
    kind: OAuthKind
    trouble: Refusal | None = None

    @cached_property
    def grants(self) -> Grants:
        if self.kind.grants is not None:
            return self.kind.grants(self.workspace)
        config = self.workspace.config
        return grants_of(
            self.workspace,
            self.kind.terms,
            authorization_url=config[MAIL_AUTH_URL],
            token_url=config[MAIL_TOKEN_URL],
            revocation_url=config[MAIL_REVOKE_URL],
        )

    def redirect_uri(self, origin: str) -> str:
        """The address to which the provider sends browsers back. It is the landing path where the provider wants
        another spelling of our origin."""
        spelled = origin if self.kind.origin is None else self.kind.origin(origin)
        return spelled + (CALLBACK_PATH if spelled == origin else LANDING_PATH)

    async def consent_url(self, started: OAuthState, *, origin: str) -> str:
        """The address of the consent screen. Raises :class:`ConnectRefused` when the provider can't be asked."""
        try:
            return await self.grants.consent_url(started, redirect_uri=self.redirect_uri(origin))
        except ConnectionFault as fault:
            raise self._away(fault) from fault

    async def finish(self, principal: Principal, ended: OAuthState, *, code: str, origin: str) -> str:
        """Redeem the code, check whose mailbox it opens, store the account with its tokens. Returns the account's id.

        Raises :class:`ConnectRefused` with its cause.
        """
        try:
            grant = await self.grants.redeem(ended, code=code, redirect_uri=self.redirect_uri(origin))
            address = await self._granted_address(grant, wanted=ended.hint.lower())
        except GrantRefused as refused:
            self._note(refused.cause)
            raise ConnectRefused(refused.cause) from refused
        except MailboxClosed as closed:
            self.workspace.log.warning("mail.connect_refused", cause=closed.cause, reason=closed.detail)
            raise ConnectRefused(closed.cause) from closed
        except (ConnectionFault, ProviderFault) as fault:
            raise self._away(fault) from fault
        try:
            account_id = await self.workspace.store.write(
                _keep_account,
                credentials_of(self.workspace),
                principal,
                address=address,
                provider=self.kind.name,
                tokens=grant.tokens,
            )
        except Forbidden as refused:
            raise ConnectRefused("someone-elses") from refused
        except Conflict as refused:
            raise ConnectRefused("being-erased") from refused
        self.trouble = None
        return account_id

    def refused(self, error: str, description: str) -> ConnectRefused:
        """The exception for the error with which the provider sent the browser back, in place of a code."""
        told = self.kind.terms.refusal(description)
        if told is not None:
            self._note(told.cause, told)
            return ConnectRefused(told.cause)
        return ConnectRefused("no-consent" if error == "access_denied" else "ended")

    def provider(self, account: Account) -> Provider:
        """The mailbox of a connected account."""
        return self.kind.open(self.workspace, account, self.grants.tokens_kept(secret_name(account.address)))

    async def _granted_address(self, grant: Grant, *, wanted: str) -> str:
        """The address of the mailbox that the tokens open. Raises :class:`ConnectRefused` where the ID token or the
        person named another."""
        said = grant.identity.address if grant.identity is not None else None
        if said is not None and wanted and said != wanted:
            raise ConnectRefused("another-mailbox")
        opened = await self.kind.opened(self.workspace, grant.identity, self.grants.tokens_fresh(grant))
        if opened != (said or opened) or opened != (wanted or opened):
            raise ConnectRefused("another-mailbox")
        return opened

    def _note(self, cause: str, told: Refusal | None = None) -> None:
        self.workspace.log.warning("mail.connect_refused", cause=cause)
        known = (one for one in self.kind.terms.refusals.values() if one.cause == cause and one.remedy)
        self.trouble = told or next(known, None)

    def _away(self, fault: ConnectionFault | ProviderFault) -> ConnectRefused:
        self.workspace.log.warning("mail.connect_failed", reason=fault.detail)
        api_off = isinstance(fault, ProviderFault) and fault.trouble == "api-off"
        return ConnectRefused("api-off" if api_off else "provider-away")


@dataclass(frozen=True, kw_only=True)
class Connections:
    """All kinds of provider that are connected by OAuth, by name."""

    kinds: Mapping[str, Connecting]

    @classmethod
    def of(cls, workspace: Workspace) -> Connections:
        return cls(
            kinds=MappingProxyType({kind.name: Connecting(workspace=workspace, kind=kind) for kind in ALL_BY_OAUTH})
        )


def _keep_account(
    tx: Tx, credentials: Credentials, principal: Principal, *, address: str, provider: str, tokens: Tokens
) -> str:
    """Store the account and its tokens in one transaction, so that neither exists without the other."""
    known = account_queries.account_by_address(tx, address)
    if known is not None and known.provider != provider and not known.erasing:
        raise ConnectRefused("connected-otherwise")
    account_id = account_actions.connect(tx, principal, address=address, provider=provider)
    keep_tokens(tx, credentials, name=secret_name(address), tokens=tokens)
    return account_id
