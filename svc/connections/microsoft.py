"""What is special about OAuth at Microsoft (v2.0 of its identity platform), for every kind of connection.

The client belongs to an admin: it is an app registration of their own. Its endpoints belong to a directory: the one of
an organisation, or ``common`` for the accounts of any organisation and for personal ones. Microsoft has no endpoint
that revokes a grant.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from svc.capability import Capability, CredentialField, ProbeResult
from svc.config import Setting, http_url, text
from svc.connections.faults import ConnectionFault, GrantRefused
from svc.connections.grants import Grants, client_of
from svc.connections.microsoft_codes import CODE, ENDED, REFUSALS
from svc.connections.model import Terms
from svc.connections.oauth import Endpoints, exchange_code
from svc.identity import ClientCredentials, Identity
from svc.settings import canonical_origin
from svc.workspace import Workspace

CLIENT: Final = "microsoft.oauth"
"""The name of the capability."""
ANY_DIRECTORY: Final = "common"
_SEEDS: Final = "Seeds the capability `microsoft.oauth` once; Settings > Credentials changes it later."


def _seed(name: str, what: str, *, secret: bool = False) -> Setting[str | None]:
    return Setting(name=name, parse=text, default=None, type="text", secret=secret, help=f"{what} {_SEEDS}")


CLIENT_ID: Final = _seed("MICROSOFT_CLIENT_ID", "Application (client) ID of an app registration at Microsoft.")
CLIENT_SECRET: Final = _seed(
    "MICROSOFT_CLIENT_SECRET", "Its client secret; none where it is a public client.", secret=True
)
DIRECTORY: Final = _seed(
    "MICROSOFT_TENANT", "Its Directory (tenant) ID, where it is for one organisation alone; else `common`."
)
LOGIN_URL: Final[Setting[str]] = Setting(
    name="SVC_MICROSOFT_LOGIN_URL",
    parse=http_url,
    default="https://login.microsoftonline.com",
    type="URL",
    help="Where people sign in at Microsoft; national clouds have others.",
)
SETTINGS: Final = (CLIENT_ID, CLIENT_SECRET, DIRECTORY, LOGIN_URL)


def microsoft_terms(
    *, what: str, scopes: tuple[str, ...], sufficient_scopes: frozenset[str], not_granted: str
) -> Terms:
    """The terms for Microsoft. ``prompt=select_account``: a browser is often signed in with another account than the
    wanted one."""
    return Terms(
        service="Microsoft",
        what=what,
        scopes=("openid", "email", "profile", "offline_access", *scopes),
        sufficient_scopes=sufficient_scopes,
        not_granted=not_granted,
        parameters=MappingProxyType({"prompt": "select_account", "response_mode": "query"}),
        ended_because=ENDED,
        code=CODE,
        refusals=REFUSALS,
    )


@dataclass(frozen=True, kw_only=True)
class MicrosoftEndpoints:
    """The endpoints of the directory that the client names. The discovery document of ``common`` has no issuer of its
    own, so it is not fetched: the endpoints are those of Microsoft's documentation."""

    base: str
    client: Callable[[], Awaitable[ClientCredentials]]

    async def endpoints(self) -> Endpoints:
        return endpoints_of(self.base, await self.client())

    async def revocation(self) -> str | None:
        return None


def endpoints_of(base: str, client: ClientCredentials) -> Endpoints:
    directory = f"{base}/{quote(client.directory or ANY_DIRECTORY, safe='')}"
    return Endpoints(
        authorization=f"{directory}/oauth2/v2.0/authorize",
        token=f"{directory}/oauth2/v2.0/token",
        issuer=f"{base}/{{tenantid}}/v2.0",
    )


def origin_for_microsoft(origin: str) -> str:
    """The origin in the form that an app registration accepts: without TLS it is this machine's name, never its IP
    address."""
    scheme, _, host = origin.partition("://")
    if scheme == "https":
        return origin
    _, colon, port = host.rpartition("]")[2].rpartition(":")
    return f"http://localhost{colon}{port if colon else ''}"


def microsoft_grants(workspace: Workspace, terms: Terms) -> Grants:
    endpoints = MicrosoftEndpoints(
        base=workspace.config[LOGIN_URL], client=partial(client_of, workspace, terms, CLIENT)
    )
    return Grants(workspace=workspace, terms=terms, endpoints=endpoints, client=CLIENT)


# The credential, and the test whether Microsoft accepts it

_NO_CODE: Final = "code-of-a-test"
_PROBING: Final = microsoft_terms(what="mail", scopes=(), sufficient_scopes=frozenset(), not_granted="")


async def ask_microsoft(workspace: Workspace, value: Mapping[str, str]) -> ProbeResult:
    """Tests the client with a code that was never issued: if Microsoft refuses only the code, it has accepted the
    client."""
    if workspace.service(Identity).dev_login:
        return ProbeResult(ok=True, message="Fakes stand in for Microsoft.")
    client = ClientCredentials(
        client_id=value["id"], client_secret=value.get("secret", ""), directory=value.get("directory", "")
    )
    try:
        await exchange_code(
            workspace.egress,
            endpoints_of(workspace.config[LOGIN_URL], client),
            _PROBING,
            credentials=client,
            code=_NO_CODE,
            code_verifier="v" * 43,
            redirect_uri=origin_for_microsoft(canonical_origin(workspace.config, port=workspace.port)),
            clock=workspace.clock,
        )
    except GrantRefused as refused:
        if refused.cause == "code-rejected":
            return ProbeResult(ok=True, message="Microsoft has nothing against this client.")
        remedy = next((one.remedy for one in REFUSALS.values() if one.detail == refused.detail), "")
        return ProbeResult(ok=False, message=refused.detail, remedy=remedy)
    except ConnectionFault as fault:
        return ProbeResult(ok=False, message=fault.detail)
    return ProbeResult(ok=False, message="Microsoft redeemed a code that never was: it can't be the real one.")


CLIENT_ROW: Final = Capability(
    name=CLIENT,
    title="Microsoft mail (OAuth client)",
    purpose="Mailboxes at Outlook.com and Microsoft 365 are connected through it.",
    obtain="entra.microsoft.com, App registrations: the Application (client) ID, and under Certificates & secrets a "
    "client secret's value. Without a directory it is `common`.",
    fields=(
        CredentialField(name="id", label="Application (client) ID", setting=CLIENT_ID),
        CredentialField(name="secret", label="Client secret (none for a public client)", setting=CLIENT_SECRET),
        CredentialField(name="directory", label="Directory (tenant) ID, for one organisation", setting=DIRECTORY),
    ),
    complete=(("id",),),
    probe=ask_microsoft,
)
