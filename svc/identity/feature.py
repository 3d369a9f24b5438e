"""The rows of identity: ``GET /auth/me``, and how a request becomes a principal."""

from __future__ import annotations

from svc.feature import Feature
from svc.identity.migrations import MIGRATIONS
from svc.principal import UNCLAIMED, Principal
from svc.protocol import Request, Response, Route, json_response
from svc.workspace import Call, Workspace


async def resolve_principal(workspace: Workspace, request: Request) -> Principal | None:
    """Who asks. An unclaimed instance on loopback (no other bind is accepted) takes everybody in.

    A foreign ``svc_session`` cookie is no session and no error: cookies ignore ports, so any program on this machine
    may have set it.
    """
    return UNCLAIMED


async def _me(call: Call, request: Request) -> Response:
    return json_response({"user": None, "mode": "unclaimed", "devLogin": False, "googleLogin": False})


FEATURE = Feature(
    name="identity",
    summary="Who asks, and the one-shot states of OAuth round trips.",
    migrations=MIGRATIONS,
    routes=(
        Route(
            method="GET",
            path="/auth/me",
            access="public",
            handle=_me,
            summary="Who the caller is, and how one can sign in.",
        ),
    ),
)
