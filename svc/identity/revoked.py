"""Waits for the end of the session that opened a socket, for sockets that do not follow the outbox themselves."""

from __future__ import annotations

from typing import Final

from svc.identity.actions import IDENTITY_TOPIC
from svc.principal import Principal
from svc.store import Overflowed, ReadTx, Store

CLOSE_SIGNED_OUT: Final = 4401


async def until_revoked(store: Store, principal: Principal) -> None:
    """Return when the session or device of ``principal`` is no longer valid."""
    while True:
        with store.outbox.subscribe() as subscription:
            if await store.read(_is_revoked, principal.device_id):
                return
            try:
                while True:
                    rows = await subscription.receive()
                    if any(row.topic == IDENTITY_TOPIC and row.id == principal.device_id for row in rows):
                        return
            except Overflowed:
                continue  # the table has what was missed


def _is_revoked(tx: ReadTx, device_id: str) -> bool:
    """Whether the device is revoked. A device without a row is not: nobody signed in with it."""
    return bool(tx.value("select revoked from devices where id = :id", id=device_id))
