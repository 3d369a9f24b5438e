"""Records a mail that is held before it is sent as an undo step."""

from __future__ import annotations

from typing import Final

import msgspec

from svc import undo
from svc.principal import Principal
from svc.store import Tx

KIND: Final = "send"


class HeldSend(msgspec.Struct, frozen=True):
    """The data of the undo step. It can be undone as long as the mail is held."""

    outgoing_id: str


def record_held_send(
    tx: Tx, principal: Principal, *, outgoing_id: str, thread_id: str | None, group: str | None
) -> None:
    undo.record(
        tx,
        principal,
        kind=KIND,
        what="send",
        concerns=() if thread_id is None else (thread_id,),
        inverse=HeldSend(outgoing_id=outgoing_id),
        group=group,
    )
