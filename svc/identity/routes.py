"""The HTTP routes of identity: who am I, sign in for tests and by a link from the machine, sign out, pairing."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, TypeVar

import msgspec

from svc.clock import rfc3339
from svc.errors import Forbidden, Invalid, Unauthenticated
from svc.identity import actions, claim_links, queries
from svc.identity.actions import CODE_REFUSED, SignedIn
from svc.identity.limiter import limited
from svc.identity.model import MAX_NAME_CHARS, SESSION_LIFETIME_MS, Proof, User
from svc.identity.service import SESSION_COOKIE, Identity
from svc.protocol import Request, Response, Route, clear_cookie, cookie, json_response, set_cookie
from svc.settings import canonical_origin, is_fake
from svc.workspace import Call

T = TypeVar("T")

BODY_MAX_BYTES: Final = 16 * 1024
MAX_KIND_CHARS: Final = 40


class DevLogin(msgspec.Struct):
    email: str
    invite: str | None = None


class ClaimLink(msgspec.Struct):
    token: str


class PairClaim(msgspec.Struct):
    code: Annotated[str, msgspec.Meta(max_length=100)]
    name: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]
    kind: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_KIND_CHARS)] = "device"


async def me(call: Call, request: Request) -> Response:
    """Who the caller is and how one can sign in; nothing that a stranger could not see by trying."""
    identity = call.workspace.service(Identity)
    visitor = call.visitor or await identity.resolve(request)
    user = None
    if visitor is not None and visitor.user_id is not None:
        user = await call.workspace.store.read(queries.user, visitor.user_id)
    mode = "off" if identity.is_off else "claimed" if identity.claimed else "unclaimed"
    fake = is_fake(call.workspace.config)
    can_ask_provider = not fake and await identity.has_provider()
    return json_response({"user": user_out(user), "mode": mode, "devLogin": fake, "googleLogin": can_ask_provider})


async def dev_login(call: Call, request: Request) -> Response:
    """Sign in by an address alone. Only under ``PROVIDERS=fake``."""
    if not is_fake(call.workspace.config):
        raise Forbidden("This server signs people in through its identity provider.")
    wanted = await _body(request, DevLogin)
    signed_in = await sign_in(call, request, proof=Proof(email=wanted.email), invite=wanted.invite)
    return json_response({"user": user_out(signed_in.user)}, headers=[session_cookie(call, request, signed_in)])


async def open_claim_link(call: Call, request: Request) -> Response:
    """Redeem the link that ``svc claim`` printed on this machine: its opener owns the home directory."""
    wanted = await _body(request, ClaimLink)
    email = await call.workspace.threads.run(
        claim_links.take, call.workspace.home.spool, wanted.token, call.workspace.clock.now()
    )
    if email is None:
        raise Forbidden("This link was used already or is older than 30 minutes. Run `svc claim` again.")
    signed_in = await sign_in(call, request, proof=Proof(email=email), invite=None, vouched=True)
    return json_response({"user": user_out(signed_in.user)}, headers=[session_cookie(call, request, signed_in)])


async def log_out(call: Call, request: Request) -> Response:
    """End the session, and the open sockets of it."""
    session = cookie(request.headers, SESSION_COOKIE)
    if call.principal.via != "session" or session is None:
        raise Unauthenticated("There is no session to end.")
    await call.workspace.service(Identity).write(actions.sign_out, call.principal, cookie=session)
    fields = [clear_cookie(SESSION_COOKIE, secure=_is_secure(call, request)), ("clear-site-data", '"cache", "storage"')]
    return Response(status=204, headers=[*fields, ("cache-control", "no-store")])


async def socket_ticket(call: Call, request: Request) -> Response:
    """A one-use ticket for a WebSocket upgrade, for clients that can't set a header there."""
    if call.principal.via != "device":
        raise Forbidden("A ticket is for a device token; a browser's session opens sockets by itself.")
    ticket, lifetime_s = call.workspace.service(Identity).issue_ticket(call.principal)
    expires_at = call.workspace.clock.now() + round(lifetime_s * 1_000)
    return json_response({"ticket": ticket, "expiresAt": rfc3339(expires_at)})


async def claim_pairing_code(call: Call, request: Request) -> Response:
    """Turn a pairing code into a device token, which is shown this once."""
    wanted = await _body(request, PairClaim)
    paired = await call.workspace.service(Identity).write(
        actions.claim_pairing_code, code=wanted.code, name=wanted.name, kind=wanted.kind
    )
    if paired is None:
        raise CODE_REFUSED
    device, token = paired
    return json_response(
        {"token": token, "deviceId": device.id, "kind": device.kind, "capabilities": dict(device.capabilities)}
    )


async def sign_in(call: Call, request: Request, *, proof: Proof, invite: str | None, vouched: bool = False) -> SignedIn:
    """Sign a proof in. ``vouched``: whoever holds the home directory vouches for it, so it may claim from anywhere."""
    identity = call.workspace.service(Identity)
    claiming = identity.claiming(request)
    return await identity.write(
        actions.sign_in,
        proof=proof,
        invite=invite,
        claiming=replace(claiming, freely=True) if vouched else claiming,
        old_cookie=cookie(request.headers, SESSION_COOKIE),
        device_name=(request.headers.get("user-agent") or "Browser")[:MAX_NAME_CHARS],
    )


def session_cookie(call: Call, request: Request, signed_in: SignedIn) -> tuple[str, str]:
    """``HttpOnly``, ``SameSite=Lax``, 30 days; ``Secure`` where the browser speaks HTTPS to us or to our proxy."""
    return set_cookie(
        SESSION_COOKIE,
        signed_in.cookie,
        max_age_s=SESSION_LIFETIME_MS // 1_000,
        secure=_is_secure(call, request),
    )


def user_out(user: User | None) -> dict[str, str] | None:
    if user is None:
        return None
    return {"id": user.id, "email": user.email, "name": user.name, "role": user.role}


def _is_secure(call: Call, request: Request) -> bool:
    """Either is enough: a public HTTPS origin, and a request that came over TLS."""
    return request.secure or canonical_origin(call.workspace.config, port=call.workspace.port).startswith("https:")


async def _body(request: Request, kind: type[T]) -> T:
    try:
        return msgspec.convert(await request.read_json(BODY_MAX_BYTES), kind)
    except msgspec.ValidationError as error:
        raise Invalid(str(error)) from error


ROUTES: tuple[Route[Call], ...] = (
    Route(
        method="GET",
        path="/auth/me",
        access="public",
        handle=me,
        summary="Who the caller is, and how one can sign in.",
    ),
    Route(
        method="POST",
        path="/auth/dev-login",
        access="public",
        handle=limited(dev_login),
        summary="Sign in by an address alone; only under PROVIDERS=fake.",
    ),
    Route(
        method="POST",
        path="/auth/claim-link",
        access="public",
        handle=limited(open_claim_link),
        summary="Redeem the one-time link that `svc claim` printed.",
    ),
    Route(
        method="POST",
        path="/auth/logout",
        access="authenticated",
        handle=log_out,
        summary="End the session.",
    ),
    Route(
        method="POST",
        path="/auth/socket-ticket",
        access="authenticated",
        handle=limited(socket_ticket),
        summary="A one-use ticket for a WebSocket upgrade, by device token.",
    ),
    Route(
        method="POST",
        path="/pair/claim",
        access="public",
        handle=limited(claim_pairing_code, apart="pairing "),
        summary="Turn a pairing code into a device token.",
        csrf_exempt=True,
    ),
)
