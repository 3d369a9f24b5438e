"""The subcommands of ``svc`` that belong to mail."""

from __future__ import annotations

from functools import partial

from svc.command import OK, Command, Invocation
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.porting.commands import commands as porting_commands
from svc.mail.porting.commands import take_into
from svc.mail.search.actions import outdate


def make_index_anew(call: Invocation) -> int:
    with call.home() as opened:
        opened.store.write_now(outdate)
    return OK


import_mail = partial(take_into, steps=INGEST_STEPS)
"""Imports the mail of an archive, for a command that has opened the home and runs its writer."""

COMMANDS = (
    Command(
        name="mail reindex",
        summary="make the search index anew, from the stored mail; done in the background after the next start "
        "(the server must be stopped)",
        run=make_index_anew,
    ),
    *porting_commands(INGEST_STEPS),
)
