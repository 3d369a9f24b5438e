"""Trying svc beside one's own mail: adds the demo's mailbox as an account that exists only here. Erasing the account
removes it.

It contacts no outside server, and nothing can be sent from it. ``make demo`` is the whole demo world, without any real
account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from svc.feature import Feature
from svc.formats.mailbox.marks import Marks
from svc.mail import KeptMail, keep_mails
from svc.protocol import Nothing, Procedure, Wire
from svc.workspace import RequestContext

if TYPE_CHECKING:
    from svc.demo.mail import FixtureMailbox

ACCOUNT_NAME: Final = "demo"
_NOBODY: Final = "demo.example"
"""The authority whose authentication results are trusted for this mailbox: none, since no such server exists."""


class TriedOut(Wire, frozen=True):
    account_id: str


async def try_out(context: RequestContext, wanted: Nothing) -> TriedOut:
    from svc.demo.mail import mailboxes  # loaded on first use, and not at each start

    workspace = context.workspace
    first, *_ = mailboxes(workspace.clock.now(), authority=_NOBODY)
    colors = {one.name: one.color for one in first.labels if one.color}
    account_id = await keep_mails(workspace, context.principal, name=ACCOUNT_NAME, mails=_mails(first), colors=colors)
    return TriedOut(account_id=account_id)


def _mails(mailbox: FixtureMailbox) -> list[KeptMail]:
    own = {one.id: one.name for one in mailbox.labels}
    return [
        KeptMail(
            raw=message.raw,
            marks=Marks(
                system=message.labels - own.keys(),
                own=tuple(sorted(own[label] for label in message.labels & own.keys())),
                said_labels=True,
            ),
            at=message.received_at,
        )
        for message in mailbox.messages
    ]


FEATURE = Feature(
    name="tryout",
    summary="A made-up mailbox to try the app with, kept here as an account of one's own.",
    procedures=(
        Procedure(
            name="demo.tryOut",
            kind="mutation",
            access="authenticated",
            input=Nothing,
            output=TriedOut,
            call=try_out,
            summary="Put a made-up mailbox into an account of the caller's that is kept here alone.",
        ),
    ),
)
