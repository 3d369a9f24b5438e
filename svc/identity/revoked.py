"""The end of the session or device that opened a socket: how it is told, and a wait for it."""

from __future__ import annotations

from typing import Final

from svc.identity import queries
from svc.identity.actions import CLAIMED, IDENTITY_TOPIC
from svc.identity.service import acting
from svc.principal import Principal
from svc.store import OutboxRow, Overflowed, ReadTx, Store

CLOSE_SIGNED_OUT: Final = 4401


def ends(row: OutboxRow, principal: Principal) -> bool:
    """Whether this row says that the session or device of ``principal`` is no longer valid, or has another owner or
    other rights from now on."""
    if row.topic != IDENTITY_TOPIC:
        return False
    if row.kind == CLAIMED:
        return principal.via == "unclaimed" or principal.unowned
    return row.id in {principal.device_id, principal.user_id}


async def until_revoked(store: Store, principal: Principal) -> None:
    """Return when the session or device of ``principal`` is no longer valid, or has another owner or other rights."""
    while True:
        with store.outbox.subscribe() as subscription:
            if await store.read(_has_ended, principal):
                return
            try:
                while True:
                    rows = await subscription.receive()
                    if any(ends(row, principal) for row in rows):
                        return
            except Overflowed:
                continue  # the tables have what was missed


def _has_ended(tx: ReadTx, principal: Principal) -> bool:
    """What :func:`ends` hears, found in the tables: the news of it may have come before anybody listened."""
    if principal.via == "unclaimed":
        return queries.is_claimed(tx)
    if principal.via not in {"session", "device"}:
        return False
    found = queries.good_device(tx, principal.device_id)
    if found is None:
        return True
    device, user = found
    if principal.via == "device":
        return acting(tx, device, user) != principal
    return user is None or (user.role == "admin") != principal.is_admin
