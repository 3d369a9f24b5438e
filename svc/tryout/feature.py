"""Trying svc beside one's own mail: adds the demo's mailbox as an account that exists only here. Erasing the account
removes it.

It contacts no outside server, and nothing can be sent from it. ``make demo`` is the whole demo world, without any real
account.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from svc.clock import Millis
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
    workspace = context.workspace
    mails, colors = await workspace.threads.run(_composed, workspace.clock.now())
    account_id = await keep_mails(workspace, context.principal, name=ACCOUNT_NAME, mails=mails, colors=colors)
    return TriedOut(account_id=account_id)


def _composed(now: Millis) -> tuple[list[KeptMail], Mapping[str, str]]:
    """The mails and the colours of their labels. Takes up to a second: for a thread."""
    from svc.demo.mail import mailboxes  # loaded on first use, and not at each start

    first, *_ = mailboxes(now, authority=_NOBODY)
    return _mails(first), {one.name: one.color for one in first.labels if one.color}


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
