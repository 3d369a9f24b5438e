"""Undoes sending: cancels a mail while it is held."""

from __future__ import annotations

from typing import Final

import msgspec

from svc.mail.sending import actions, queries
from svc.mail.sending.held import KIND, HeldSend
from svc.principal import Principal
from svc.reversal import Reversal, UndoStep
from svc.store import ReadTx, Tx

_held_of = msgspec.json.Decoder(HeldSend).decode


def _hold_back(tx: Tx, principal: Principal, step: UndoStep) -> str | None:
    return actions.cancel(tx, principal, outgoing_id=_held_of(step.inverse).outgoing_id).restored_draft_id


def _is_held(tx: ReadTx, step: UndoStep) -> bool:
    outgoing = queries.outgoing(tx, _held_of(step.inverse).outgoing_id)
    return outgoing is not None and outgoing.state == "held"


REVERSAL: Final = Reversal(kind=KIND, is_open=_is_held, take_back=_hold_back)
