"""Decides who is notified of a new mail: a durable consumer of the events of mail.

Only mail that came to the inbox just now counts: not mail from the first sync of a mailbox, not the person's own mail,
not mail in a muted thread, and nothing older than some minutes, as after a time when the server was off. A person is
notified of an account that they chose and may read, outside their quiet hours: as a live event, for the open browser,
and by a push to each registered browser. Both are written in one transaction. After a crash the same events may be
consumed again: the queue holds one push per message and browser, and a browser shows one notice per thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from svc import mail
from svc.clock import MINUTE_MS
from svc.notifications import actions, queries
from svc.notifications.delivering import JOB
from svc.notifications.model import Words
from svc.notifications.wire import ArrivedOut
from svc.scheduler import Scheduler
from svc.store import Consumer, Event, Tx
from svc.workspace import Workspace

TOPIC: Final = "notifications"
FRESH_MS: Final = 5 * MINUTE_MS

MAX_SUBJECT_CHARS: Final = 150
MAX_SNIPPET_CHARS: Final = 140
MAX_SENDER_CHARS: Final = 100


class _Received(msgspec.Struct, frozen=True, rename="camel"):
    """An old event without ``inbox`` notifies nobody."""

    sender: str
    subject: str
    snippet: str
    account_id: str
    message_id: str
    thread_id: str
    own: bool
    backfill: bool
    inbox: bool = False


async def tell(workspace: Workspace, events: Sequence[Event]) -> None:
    if await workspace.store.write(tell_of, events):
        workspace.service(Scheduler).nudge(JOB.name)


def tell_of(tx: Tx, events: Sequence[Event]) -> bool:
    """Queues pushes for these events. Returns whether there are pushes to send. The same events again queue nothing
    new."""
    queued = False
    for event in events:
        received = msgspec.json.decode(event.payload, type=_Received)
        if received.inbox and not received.own and not received.backfill and tx.now - event.at <= FRESH_MS:
            for user_id in queries.listeners(tx, received.account_id):
                queued |= _tell_one(tx, user_id, received, event)
    return queued


def _tell_one(tx: Tx, user_id: str, received: _Received, event: Event) -> bool:
    if mail.account_for(tx, queries.as_person(user_id), account_id=received.account_id, to="read") is None:
        return False  # they may no longer read it
    wanted = queries.preferences(tx, user_id)
    if wanted.quiet is not None and wanted.quiet.holds_at(tx.now):
        return False
    told = _worded(received, wanted.words)
    payload = mail_news(told)
    tx.emit(
        topic=TOPIC,
        kind="mail.arrived",
        id=received.message_id,
        payload=msgspec.to_builtins(told),
        audience=user_id,
        device_id="system:notifications",
    )
    browsers = queries.browsers_of(tx, user_id)
    actions.queue(
        tx,
        browsers,
        message_id=received.message_id,
        thread_id=received.thread_id,
        account_id=received.account_id,
        payload=payload,
        at=event.at,
    )
    return bool(browsers)


def mail_news(told: ArrivedOut) -> bytes:
    """The content of a push."""
    return msgspec.json.encode(told)


def _worded(received: _Received, words: Words) -> ArrivedOut:
    named = words != "none"
    return ArrivedOut(
        account_id=received.account_id,
        thread_id=received.thread_id,
        message_id=received.message_id,
        sender=received.sender[:MAX_SENDER_CHARS] if named else "",
        subject=received.subject[:MAX_SUBJECT_CHARS] if named else "",
        snippet=received.snippet[:MAX_SNIPPET_CHARS] if words == "all" else "",
    )


CONSUMER: Final[Consumer[Workspace]] = Consumer(
    name="notifications",
    types=frozenset({mail.MAIL_RECEIVED}),
    summary="Tells people of new mail: the browser that is open, and by Web Push.",
    handle=tell,
)
