"""Health checks of mail: whether the provider answers, whether its consent screen accepts us, and whether each account
syncs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from svc.check import Check, CheckContext, Finding, failed, ok, skipped, warning
from svc.config import Setting
from svc.connections import ConnectionFault
from svc.health import reachable
from svc.identity import NO_CLIENT, OFFLINE, OAuthState, probe_consent
from svc.mail.accounts import queries
from svc.mail.connecting.connection import Connecting, Connections
from svc.mail.model import Account, Trouble
from svc.mail.providers.kinds import ALL_BY_OAUTH
from svc.settings import canonical_origin
from svc.store import ReadTx, has_secret
from svc.workspace import Workspace

_FAKED: Final = "Fakes stand in for the mail provider"
_RECONNECT: Final = "Connect the account again, under Settings > Accounts"
_REMEDIES: Final[Mapping[Trouble, str]] = MappingProxyType(
    {
        "testing-expired": "Publish the OAuth app at the provider's console, so that access does not end after 7 "
        f"days. {_RECONNECT}",
        "api-off": "Enable the API in the project of the OAuth client, at the provider's console",
        "clock": "Set the clock of this machine; if the account does not go on then, connect it again",
        "scope": f"{_RECONNECT}, and leave every box ticked on the consent screen",
        "revoked": _RECONNECT,
    }
)


async def _api(context: CheckContext) -> Sequence[Finding]:
    if not context.asks_outside:
        return [skipped(_FAKED)]
    used = [] if context.store is None else await context.store.read(_web_apis)
    if not used:
        return [skipped("No account is connected there")]
    return [await reachable(context, context.config[api], what="The mail provider", setting=api.name) for api in used]


def _web_apis(tx: ReadTx) -> list[Setting[str]]:
    """The addresses of the web APIs that the connected accounts use."""
    connected = {account.provider for account in queries.connected_accounts(tx)}
    return [kind.api for kind in ALL_BY_OAUTH if kind.api is not None and kind.name in connected]


async def _consent(context: CheckContext) -> Sequence[Finding]:
    """Whether the provider's consent screen opens for a person who wants to connect an account."""
    if not context.asks_outside:
        return [skipped(_FAKED)]
    if context.store is None or not (clients := await context.store.read(_clients)):
        return [skipped(NO_CLIENT)]
    workspace = context.workspace
    if workspace is None:
        return [skipped(OFFLINE, "Start the service, then ask again")]
    kinds = workspace.service(Connections).kinds
    return [one for name in clients for one in await _asked(context, workspace, kinds[name])]


def _clients(tx: ReadTx) -> list[str]:
    """The kinds of provider for which an OAuth client is set."""
    return [kind.name for kind in ALL_BY_OAUTH if has_secret(tx, kind.client)]


async def _asked(context: CheckContext, workspace: Workspace, connecting: Connecting) -> Sequence[Finding]:
    redirect_uri = connecting.redirect_uri(canonical_origin(context.config, port=workspace.port))
    try:
        url = await connecting.grants.consent_url(_nobodys_trip(), redirect_uri=redirect_uri)
    except ConnectionFault as fault:
        return [skipped(fault.detail)]
    terms = connecting.kind.terms

    def told(words: str) -> Finding | None:
        refusal = terms.refusal(words)
        return None if refusal is None else failed(f"{refusal.detail}; ours is {redirect_uri}", refusal.remedy)

    found = [await probe_consent(context.egress, url, redirect_uri=redirect_uri, told=told)]
    if (trouble := connecting.trouble) is not None:
        found.append(failed(f"Who last connected an account could not: {trouble.detail}", trouble.remedy))
    return found


def _nobodys_trip() -> OAuthState:
    """The state of an OAuth round trip that nobody began, so no callback accepts it."""
    return OAuthState(state=secrets.token_urlsafe(), browser_key=secrets.token_urlsafe(), hint="")


async def _accounts(context: CheckContext) -> Sequence[Finding]:
    if context.store is None:
        return [skipped("The database is not open")]
    accounts = await context.store.read(queries.connected_accounts)
    if not accounts:
        return [skipped("No account is connected")]
    ailing = [_ailing(account) for account in accounts if account.state in {"waiting", "reconnect"}]
    return ailing or [ok(f"{len(accounts)} accounts are in step with their providers")]


def _ailing(account: Account) -> Finding:
    detail = f"{account.address}: {account.problem or 'it does not sync at the moment'}"
    lost = account.state == "reconnect"
    remedy = _REMEDIES.get(account.cause or "other", _RECONNECT if lost else "It is tried again by itself")
    return failed(detail, remedy) if lost or account.cause == "api-off" else warning(detail, remedy)


CHECKS: Final = (
    Check(name="mail-provider", summary="The mail provider answers.", run=_api),
    Check(
        name="mail-consent", summary="An account can be connected: the consent screen takes our request.", run=_consent
    ),
    Check(name="accounts", summary="Every account is in step with its provider.", run=_accounts),
)
