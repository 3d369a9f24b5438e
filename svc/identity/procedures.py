"""The procedures of identity: invites, users, sessions, devices (contract 3)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from svc.clock import rfc3339, rfc3339_or_none
from svc.identity import actions, queries
from svc.identity.model import INVITE_DEFAULT_DAYS, INVITE_MAX_DAYS, MAX_EMAIL_CHARS, Invite, Role, User
from svc.identity.service import Identity
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure, Wire
from svc.settings import canonical_origin
from svc.store import ReadTx
from svc.workspace import RequestContext

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class CreateInviteInput(Wire, frozen=True):
    email: Annotated[str, msgspec.Meta(max_length=MAX_EMAIL_CHARS)] | None = None
    expires_in_days: Annotated[int, msgspec.Meta(ge=1, le=INVITE_MAX_DAYS)] = INVITE_DEFAULT_DAYS


class IdInput(Wire, frozen=True):
    id: Id


class SetRoleInput(Wire, frozen=True):
    id: Id
    role: Role


class Capabilities(Wire, frozen=True, forbid_unknown_fields=True):
    """An unknown capability is refused, not dropped: a client that asks for one would believe it has it."""

    admin: bool = False
    shell: bool = False
    approve: bool = False
    extension_automation: bool = False
    mobile_push: bool = False
    terminal: bool = False


class PairingInput(Wire, frozen=True):
    capabilities: Capabilities = Capabilities()


class InviteCodeOut(Wire, frozen=True):
    code: str
    url: str
    expires_at: str


class PersonOut(Wire, frozen=True):
    id: str
    email: str
    name: str


class InviteOut(Wire, frozen=True):
    id: str
    email: str | None
    created_at: str
    expires_at: str
    used_at: str | None
    revoked_at: str | None
    used_by: PersonOut | None


class SessionOut(Wire, frozen=True):
    id: str
    device_id: str
    created_at: str
    last_seen_at: str
    current: bool


class UserOut(Wire, frozen=True):
    id: str
    email: str
    name: str
    role: Role
    created_at: str


class DeviceOut(Wire, frozen=True):
    id: str
    user_id: str | None
    kind: str
    name: str
    capabilities: dict[str, bool]
    revoked: bool
    last_seen_at: str | None
    seen_from: str | None


class PairingOut(Wire, frozen=True):
    code: str
    expires_at: str


async def create_invite(context: RequestContext, wanted: CreateInviteInput) -> InviteCodeOut:
    invite, code = await _identity(context).write(
        actions.create_invite, context.principal, email=wanted.email, expires_in_days=wanted.expires_in_days
    )
    origin = canonical_origin(context.workspace.config, port=context.workspace.port)
    return InviteCodeOut(code=code, url=f"{origin}/login?invite={code}", expires_at=rfc3339(invite.expires_at))


async def invites(context: RequestContext, wanted: Nothing) -> list[InviteOut]:
    return [_invite_out(invite) for invite in await context.workspace.store.read(queries.invites)]


async def revoke_invite(context: RequestContext, wanted: IdInput) -> Nothing:
    await _identity(context).write(actions.revoke_invite, context.principal, invite_id=wanted.id)
    return NOTHING


async def sessions(context: RequestContext, wanted: Nothing) -> list[SessionOut]:
    return await context.workspace.store.read(_sessions, context.principal)


async def revoke_session(context: RequestContext, wanted: IdInput) -> Nothing:
    await _identity(context).write(actions.revoke_session, context.principal, session_id=wanted.id)
    return NOTHING


async def users(context: RequestContext, wanted: Nothing) -> list[UserOut]:
    return [
        UserOut(id=user.id, email=user.email, name=user.name, role=user.role, created_at=rfc3339(user.created_at))
        for user in await context.workspace.store.read(queries.users)
    ]


async def directory(context: RequestContext, wanted: Nothing) -> list[PersonOut]:
    """The names of all users. Members came by invitation: they may see each other's names to share with each other."""
    return [_person_out(user) for user in await context.workspace.store.read(queries.users)]


async def set_role(context: RequestContext, wanted: SetRoleInput) -> Nothing:
    await _identity(context).write(actions.set_role, user_id=wanted.id, role=wanted.role)
    return NOTHING


async def devices(context: RequestContext, wanted: Nothing) -> list[DeviceOut]:
    found = await context.workspace.store.read(
        queries.devices, user_id=context.principal.user_id, everyone=context.principal.is_admin
    )
    return [
        DeviceOut(
            id=device.id,
            user_id=device.user_id,
            kind=device.kind,
            name=device.name,
            capabilities=dict(device.capabilities),
            revoked=device.revoked,
            last_seen_at=rfc3339_or_none(device.last_seen_at),
            seen_from=device.seen_from,
        )
        for device in found
    ]


async def create_pairing_code(context: RequestContext, wanted: PairingInput) -> PairingOut:
    flags = msgspec.to_builtins(wanted.capabilities)
    code, expires_at = await _identity(context).write(
        actions.create_pairing_code, context.principal, capabilities=flags
    )
    return PairingOut(code=code, expires_at=rfc3339(expires_at))


async def revoke_device(context: RequestContext, wanted: IdInput) -> Nothing:
    await _identity(context).write(actions.revoke_device, context.principal, device_id=wanted.id)
    return NOTHING


def _invite_out(invite: Invite) -> InviteOut:
    user = invite.used_by
    return InviteOut(
        id=invite.id,
        email=invite.email,
        created_at=rfc3339(invite.created_at),
        expires_at=rfc3339(invite.expires_at),
        used_at=rfc3339_or_none(invite.used_at),
        revoked_at=rfc3339_or_none(invite.revoked_at),
        used_by=None if user is None else _person_out(user),
    )


def _person_out(user: User) -> PersonOut:
    return PersonOut(id=user.id, email=user.email, name=user.name)


def _sessions(tx: ReadTx, principal: Principal) -> list[SessionOut]:
    if principal.user_id is None:
        return []
    return [
        SessionOut(
            id=session.id,
            device_id=session.device_id,
            created_at=rfc3339(session.created_at),
            last_seen_at=rfc3339(session.last_seen_at),
            current=session.device_id == principal.device_id,
        )
        for session in queries.sessions_of(tx, principal.user_id)
    ]


def _identity(context: RequestContext) -> Identity:
    return context.workspace.service(Identity)


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="auth.createInvite",
        kind="mutation",
        access="admin",
        input=CreateInviteInput,
        output=InviteCodeOut,
        call=create_invite,
        summary="Mint a one-shot invite; its code is shown once.",
    ),
    Procedure(
        name="auth.invites",
        kind="query",
        access="admin",
        input=Nothing,
        output=list[InviteOut],
        call=invites,
        summary="Every invite, newest first, and who used it.",
    ),
    Procedure(
        name="auth.revokeInvite",
        kind="mutation",
        access="admin",
        input=IdInput,
        output=Nothing,
        call=revoke_invite,
        summary="Make an unused invite worthless.",
    ),
    Procedure(
        name="auth.sessions",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[SessionOut],
        call=sessions,
        summary="The caller's signed-in browsers.",
    ),
    Procedure(
        name="auth.revokeSession",
        kind="mutation",
        access="authenticated",
        input=IdInput,
        output=Nothing,
        call=revoke_session,
        summary="End one of the caller's sessions.",
    ),
    Procedure(
        name="users.list",
        kind="query",
        access="admin",
        input=Nothing,
        output=list[UserOut],
        call=users,
        summary="Everybody with an account.",
    ),
    Procedure(
        name="users.directory",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[PersonOut],
        call=directory,
        summary="Whom one can share with: the names and addresses of everybody with an account.",
    ),
    Procedure(
        name="users.setRole",
        kind="mutation",
        access="admin",
        input=SetRoleInput,
        output=Nothing,
        call=set_role,
        summary="Make somebody an admin or a member.",
    ),
    Procedure(
        name="devices.list",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[DeviceOut],
        call=devices,
        summary="The caller's devices; an admin sees everybody's.",
    ),
    Procedure(
        name="devices.createPairingCode",
        kind="mutation",
        access="authenticated",
        input=PairingInput,
        output=PairingOut,
        call=create_pairing_code,
        summary="A code for a new device, good for five minutes and once.",
    ),
    Procedure(
        name="devices.revoke",
        kind="mutation",
        access="authenticated",
        input=IdInput,
        output=Nothing,
        call=revoke_device,
        summary="Revoke a device: its next request fails.",
    ),
)
