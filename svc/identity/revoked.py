"""The end of the session or device that opened a socket: how it is told, and a wait for it."""

from __future__ import annotations

from typing import Final

from svc.identity.actions import CLAIMED, IDENTITY_TOPIC
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
    is_of_person = principal.user_id is not None and row.id == principal.user_id
    return row.id == principal.device_id or (principal.via == "device" and is_of_person)


async def until_revoked(store: Store, principal: Principal) -> None:
    """Return when the session or device of ``principal`` is no longer valid."""
    while True:
        with store.outbox.subscribe() as subscription:
            if await store.read(_is_revoked, principal.device_id):
                return
            try:
                while True:
                    rows = await subscription.receive()
                    if any(ends(row, principal) for row in rows):
                        return
            except Overflowed:
                continue  # the table has what was missed


def _is_revoked(tx: ReadTx, device_id: str) -> bool:
    """Whether the device is revoked. A device without a row is not: nobody signed in with it."""
    return bool(tx.value("select revoked from devices where id = :id", id=device_id))
