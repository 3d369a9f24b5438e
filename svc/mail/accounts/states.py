"""The states of an account's sync, and the table of its transitions. ``docs/states.md`` has the diagram."""

from __future__ import annotations

from typing import Final, Literal

from svc.machine import Machine, Transition
from svc.mail.model import AccountState

AccountEvent = Literal[
    "connect",
    "connect_where_it_was",
    "list",
    "begin_full_sync",
    "resume_full_sync",
    "finish_full_sync",
    "finish_poll",
    "wait",
    "lose_grant",
    "disconnect",
]

_T = Transition[AccountState, AccountEvent]
_CONNECTED: Final = ("backfilling", "caught-up", "waiting", "reconnect")

SYNC: Final = Machine[AccountState, AccountEvent](
    name="The sync of an account",
    states=("backfilling", "caught-up", "waiting", "reconnect", "disconnected"),
    initial=("backfilling",),
    transitions=(
        _T("list", _CONNECTED, "backfilling", "The list of the mailbox is being read, before all of its mail."),
        _T(
            "begin_full_sync",
            _CONNECTED,
            "backfilling",
            "The whole mailbox has to be read, for the first time or again.",
        ),
        _T(
            "resume_full_sync",
            ("waiting", "reconnect"),
            "backfilling",
            "The provider answers again during a full sync.",
        ),
        _T(
            "finish_full_sync", ("backfilling", "waiting", "reconnect"), "caught-up", "The mailbox was read to its end."
        ),
        _T("finish_poll", _CONNECTED, "caught-up", "The provider has told all that is new."),
        _T("wait", _CONNECTED, "waiting", "The provider is away or asks for a pause, or the disk is full."),
        _T("lose_grant", _CONNECTED, "reconnect", "The provider does not accept the grant any more."),
        _T("disconnect", (*_CONNECTED, "disconnected"), "disconnected", "The person disconnects the account."),
        _T(
            "connect", (*_CONNECTED, "disconnected"), "backfilling", "The person connects it again; a full sync is due."
        ),
        _T(
            "connect_where_it_was",
            ("caught-up", "waiting", "reconnect", "disconnected"),
            "caught-up",
            "The person connects it again, and polling goes on.",
        ),
    ),
)
