"""The HTTP routes of identity: who the caller is, sign-in for tests and by a link from the machine, sign-out,
pairing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal, TypeVar

import msgspec

from svc.clock import rfc3339
from svc.errors import Forbidden, Invalid, Unauthenticated
from svc.identity import actions, claim_links, queries
from svc.identity.actions import CODE_REFUSED, NOT_ADMITTED, SignedIn
from svc.identity.limiter import limited
from svc.identity.model import MAX_KIND_CHARS, MAX_NAME_CHARS, Proof, User
from svc.identity.service import SESSION_COOKIE, Identity
from svc.protocol import Request, Response, Route, Says, Wire, clear_cookie, cookie, json_response
from svc.workspace import RequestContext

T = TypeVar("T")

BODY_MAX_BYTES: Final = 16 * 1024
"""The body of a request to sign in or to pair. Beyond: 413 `too_large`."""


class DevLogin(msgspec.Struct):
    email: str
    invite: str | None = None


class ClaimLink(msgspec.Struct):
    token: str


class PairClaim(msgspec.Struct):
    code: Annotated[str, msgspec.Meta(max_length=100)]
    name: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]
    kind: Annotated[str, msgspec.Meta(max_length=MAX_KIND_CHARS)] = "device"


class UserOut(Wire, frozen=True):
    id: str
    email: str
    name: str
    role: Literal["admin", "member"]


class Me(Wire, frozen=True):
    """``user`` is ``None`` on an unclaimed instance, too. The last two are the ways to sign in."""

    user: UserOut | None
    mode: Literal["unclaimed", "claimed", "off"]
    dev_login: bool
    google_login: bool


class SignedInOut(Wire, frozen=True):
    user: UserOut


class Ticket(Wire, frozen=True):
    ticket: str
    expires_at: str


class Paired(Wire, frozen=True):
    """``token`` is shown only once."""

    token: str
    device_id: str
    kind: str
    capabilities: dict[str, bool]


async def me(context: RequestContext, request: Request) -> Response:
    """Who the caller is and how to sign in; nothing that a stranger could not find out by trying."""
    identity = context.workspace.service(Identity)
    principal = context.principal_or_none or await identity.resolve(request)
    session = cookie(request.headers, SESSION_COOKIE)
    if session is not None and principal is not None and principal.via == "session":
        identity.renew(request, session)  # the app asks this whenever it is opened
    user = None
    if principal is not None and principal.user_id is not None:
        user = await context.workspace.store.read_small(queries.user, principal.user_id)
    mode: Literal["unclaimed", "claimed", "off"] = (
        "off" if identity.is_off else "claimed" if await identity.is_claimed() else "unclaimed"
    )
    has_provider = await identity.has_provider()
    return json_response(
        Me(
            user=None if user is None else user_out(user),
            mode=mode,
            dev_login=identity.dev_login,
            google_login=has_provider,
        )
    )


async def dev_login(context: RequestContext, request: Request) -> Response:
    """Sign in by an address only. Only under ``PROVIDERS=fake``."""
    if not context.workspace.service(Identity).dev_login:
        raise Forbidden("This server signs people in through its identity provider.")
    wanted = await _body(request, DevLogin)
    signed_in = await sign_in(context, request, proof=Proof(email=wanted.email), invite=wanted.invite)
    answer = SignedInOut(user=user_out(signed_in.user))
    return json_response(answer, headers=[session_cookie(context, request, signed_in)])


async def open_claim_link(context: RequestContext, request: Request) -> Response:
    """Redeem the link that ``svc claim`` printed on this machine: the person who opens it owns the home directory."""
    wanted = await _body(request, ClaimLink)
    email = await context.workspace.threads.run(
        claim_links.take, context.workspace.home.spool, wanted.token, context.workspace.clock.now()
    )
    if email is None:
        raise Forbidden("This link was used already or is older than 30 minutes. Run `svc claim` again.")
    try:
        signed_in = await sign_in(context, request, proof=Proof(email=email), invite=None, vouched=True)
    except Forbidden as refused:
        if refused is not NOT_ADMITTED:
            raise
        raise Forbidden(
            f"There is no account with the address {email} here. `svc user list` shows them all, and `svc invite` "
            "makes a link for somebody new."
        ) from refused
    answer = SignedInOut(user=user_out(signed_in.user))
    return json_response(answer, headers=[session_cookie(context, request, signed_in)])


async def log_out(context: RequestContext, request: Request) -> Response:
    """End the session and its open sockets."""
    session = cookie(request.headers, SESSION_COOKIE)
    if context.principal.via != "session" or session is None:
        raise Unauthenticated("There is no session to end.")
    identity = context.workspace.service(Identity)
    await identity.write(actions.sign_out, context.principal, cookie=session)
    fields = [
        clear_cookie(SESSION_COOKIE, secure=identity.is_secure(request)),
        ("clear-site-data", '"cache", "storage"'),
    ]
    return Response(status=204, headers=[*fields, ("cache-control", "no-store")])


async def socket_ticket(context: RequestContext, request: Request) -> Response:
    """A single-use ticket for a WebSocket upgrade, for clients that can't set a header there."""
    if context.principal.via != "device":
        raise Forbidden("A ticket is for a device token; a browser's session opens sockets by itself.")
    ticket, lifetime_s = context.workspace.service(Identity).issue_ticket(context.principal)
    expires_at = context.workspace.clock.now() + round(lifetime_s * 1_000)
    return json_response(Ticket(ticket=ticket, expires_at=rfc3339(expires_at)))


async def claim_pairing_code(context: RequestContext, request: Request) -> Response:
    """Turn a pairing code into a device token, which is shown only once."""
    wanted = await _body(request, PairClaim)
    paired = await context.workspace.service(Identity).write(
        actions.claim_pairing_code, code=wanted.code, name=wanted.name, kind=wanted.kind
    )
    if paired is None:
        raise CODE_REFUSED
    device, token = paired
    return json_response(
        Paired(token=token, device_id=device.id, kind=device.kind, capabilities=dict(device.capabilities))
    )


async def sign_in(
    context: RequestContext, request: Request, *, proof: Proof, invite: str | None, vouched: bool = False
) -> SignedIn:
    """Sign a proof in. ``vouched``: the owner of the home directory confirms it, so it may claim from anywhere."""
    identity = context.workspace.service(Identity)
    claiming = identity.claiming(request)
    return await identity.write(
        actions.sign_in,
        proof=proof,
        invite=invite,
        claiming=replace(claiming, freely=True) if vouched else claiming,
        old_cookie=cookie(request.headers, SESSION_COOKIE),
        device_name=(request.headers.get("user-agent") or "Browser")[:MAX_NAME_CHARS],
        seen_from=identity.seen_from(request),
    )


def session_cookie(context: RequestContext, request: Request, signed_in: SignedIn) -> tuple[str, str]:
    return context.workspace.service(Identity).session_cookie(request, signed_in.cookie)


def user_out(user: User) -> UserOut:
    return UserOut(id=user.id, email=user.email, name=user.name, role=user.role)


async def _body(request: Request, kind: type[T]) -> T:
    try:
        return msgspec.convert(await request.read_json(BODY_MAX_BYTES), kind)
    except msgspec.ValidationError as error:
        raise Invalid(str(error)) from error


ROUTES: tuple[Route[RequestContext], ...] = (
    Route(
        method="GET",
        path="/auth/me",
        access="public",
        handle=me,
        summary="Who the caller is, and how one can sign in.",
        says=Says(answers={200: Me}),
    ),
    Route(
        method="POST",
        path="/auth/dev-login",
        access="public",
        handle=limited(dev_login),
        summary="Sign in by an address alone; only under PROVIDERS=fake.",
        says=Says(body=DevLogin, answers={200: SignedInOut}),
    ),
    Route(
        method="POST",
        path="/auth/claim-link",
        access="public",
        handle=limited(open_claim_link),
        summary="Redeem the one-time link that `svc claim` printed.",
        says=Says(body=ClaimLink, answers={200: SignedInOut}),
    ),
    Route(
        method="POST",
        path="/auth/logout",
        access="authenticated",
        handle=log_out,
        summary="End the session.",
        says=Says(answers={204: None}),
    ),
    Route(
        method="POST",
        path="/auth/socket-ticket",
        access="authenticated",
        handle=limited(socket_ticket),
        summary="A one-use ticket for a WebSocket upgrade, by device token.",
        says=Says(answers={200: Ticket}),
    ),
    Route(
        method="POST",
        path="/pair/claim",
        access="public",
        handle=limited(claim_pairing_code, apart="pairing "),
        summary="Turn a pairing code into a device token.",
        says=Says(body=PairClaim, answers={200: Paired}),
        csrf_exempt=True,
    ),
)
