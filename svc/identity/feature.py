"""The feature rows of identity, and its boot: the claim token's digest, and the check that no stranger can
claim first.
"""

from __future__ import annotations

from svc.capability import Capability, CredentialField
from svc.config import BadValue
from svc.feature import Feature
from svc.identity import actions, idp_routes
from svc.identity.checks import CHECKS
from svc.identity.client_probe import CALLBACKS, ask_provider
from svc.identity.commands import COMMANDS
from svc.identity.invariants import INVARIANTS
from svc.identity.migrations import MIGRATIONS
from svc.identity.oauth_client_row import OAUTH_CLIENT
from svc.identity.oidc import OpenIdLogin
from svc.identity.procedures import PROCEDURES
from svc.identity.routes import ROUTES
from svc.identity.service import Identity
from svc.identity.settings import CLAIM_TOKEN, RULES, SETTINGS, is_for_this_machine
from svc.settings import HOST, IDP_CLIENT_ID, IDP_CLIENT_SECRET, is_hosted
from svc.store import Tx
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    workspace.provide(Identity.of(workspace))
    workspace.provide(OpenIdLogin(workspace=workspace))


async def _boot(workspace: Workspace) -> None:
    store, config = workspace.store, workspace.config
    store.write_now(actions.keep_claim_token, token=config[CLAIM_TOKEN])
    if not is_for_this_machine(config) and store.read_now(actions.anybody_could_claim):
        reached = "a public cell" if is_hosted(config) else repr(config[HOST])
        raise BadValue(
            f"{CLAIM_TOKEN.name}: this instance is unclaimed and {reached} can be reached by others; "
            "set a long random claim token, or run `svc invite --admin` first"
        )


def _claim(tx: Tx, user_id: str) -> None:
    """Give the first admin the devices and pairing codes that were made before the claim."""
    tx.run("update devices set user_id = :user_id where user_id is null", user_id=user_id)
    tx.run("update pairing_codes set user_id = :user_id where user_id is null", user_id=user_id)


OAUTH_CLIENT_ROW = Capability(
    name=OAUTH_CLIENT,
    title="Sign-in and mail (OAuth client)",
    purpose="People sign in with it, and mail accounts are connected through it.",
    obtain="The console of your identity provider: create an OAuth client of the type Web application.",
    fields=(
        CredentialField(name="id", label="Client ID", setting=IDP_CLIENT_ID),
        CredentialField(name="secret", label="Client secret", setting=IDP_CLIENT_SECRET),
    ),
    probe=ask_provider,
    callbacks=CALLBACKS,
)

FEATURE = Feature(
    name="identity",
    summary="Who asks: sessions, devices, invites, and the one-shot states of OAuth round trips.",
    settings=SETTINGS,
    rules=RULES,
    migrations=MIGRATIONS,
    tables=(
        "users",
        "identities",
        "devices",
        "sessions",
        "invites",
        "pairing_codes",
        "claim_tokens",
        "oauth_states",
    ),
    invariants=INVARIANTS,
    checks=CHECKS,
    routes=(*ROUTES, *idp_routes.ROUTES),
    procedures=PROCEDURES,
    commands=COMMANDS,
    capabilities=(OAUTH_CLIENT_ROW,),
    uses=(OAUTH_CLIENT,),
    claim=_claim,
    build=_build,
    boot=_boot,
)
