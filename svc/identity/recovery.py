"""What ``svc`` commands may do about identity: the owner of the home directory is the owner, locked out or not."""

from __future__ import annotations

from svc.errors import NotFound
from svc.identity import actions, queries
from svc.identity.model import Device, Role, User, normal_email
from svc.principal import Principal
from svc.store import ReadTx, Tx

_OWNER = Principal(user_id=None, device_id="system:command", is_admin=True, via="system")


def invite(tx: Tx, *, email: str | None, days: int, admin: bool) -> str:
    """Create an invite and return its code."""
    _, code = actions.create_invite(tx, _OWNER, email=email, expires_in_days=days, role="admin" if admin else "member")
    return code


def users(tx: ReadTx) -> list[User]:
    return queries.users(tx)


def devices(tx: ReadTx) -> list[Device]:
    return queries.devices(tx, user_id=None, everyone=True)


def set_role(tx: Tx, *, email: str, role: Role) -> None:
    user = queries.user_by_email(tx, normal_email(email))
    if user is None:
        raise NotFound(f"There is no user with the address {email}.")
    actions.set_role(tx, user_id=user.id, role=role)


def revoke_device(tx: Tx, *, device_id: str) -> None:
    actions.revoke_device(tx, _OWNER, device_id=device_id)


def end_all_sessions(tx: Tx) -> int:
    return actions.end_all_sessions(tx)
