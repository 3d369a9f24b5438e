"""The events of a mail after it was accepted: each function is one event of the table in ``states.py``.

Each is a small transaction that notifies the person's clients. That a mail was sent or failed is also recorded as an
event. :func:`settle_found` is a step of the ingest transaction: a mail that is in the sent mail was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Final

from svc.clock import Millis
from svc.files import delete_files
from svc.mail.accounts import acts
from svc.mail.accounts import queries as account_queries
from svc.mail.model import is_own
from svc.mail.sending import queries
from svc.mail.sending.model import MAX_ATTEMPTS, Outgoing, outgoing_origin
from svc.mail.sending.moving import MAX_REASON_CHARS, move, tell_withdrawn
from svc.mail.sync.steps import StoredMessage
from svc.mail.threads import queries as thread_queries
from svc.store import Tx

BeforeForgetting = Callable[[Tx, Sequence[str]], None]
"""Called with the ids of mails, in the transaction that deletes them."""

_RESTARTED: Final = (
    "The server stopped while this mail was on its way. It is not known whether it was sent; it is looked for among "
    "the sent mail."
)
_LATE: Final = "This mail was due more than 12 hours ago, while the server was not running. Send it now, or cancel it."


def begin(tx: Tx, *, outgoing_id: str, version: int, raw_sha256: str) -> Outgoing | None:
    """Commit that the mail leaves now. Returns ``None`` if it may not: it was cancelled or changed meanwhile, is not
    due any more, or its account is gone."""
    row = queries.outgoing(tx, outgoing_id)
    if row is None or row.version != version or row.next_at is None or row.next_at > tx.now:
        return None
    if account_queries.connected_account(tx, row.account_id) is None:
        return None
    return move(tx, row, "begin", attempts=row.attempts + 1, raw_sha256=raw_sha256)


def sent(tx: Tx, *, outgoing_id: str, provider_message_id: str, message_id: str | None) -> None:
    """The mail is sent, as the provider answered or the mailbox shows. Idempotent."""
    row = queries.outgoing(tx, outgoing_id)
    if row is None or row.state == "sent":
        return
    delete_files(tx, origin=outgoing_origin(outgoing_id))
    moved = move(
        tx,
        row,
        "find",
        last_error=None,
        doubt=False,
        provider_message_id=provider_message_id,
        message_id=message_id,
    )
    assert moved is not None
    _note_sender(tx, moved)
    _record(tx, moved, "mail-sent", messageId=message_id, providerMessageId=provider_message_id)


def _note_sender(tx: Tx, row: Outgoing) -> None:
    """In a shared account, record the person who sent the mail."""
    message = None if row.message_id is None else thread_queries.message(tx, row.message_id)
    if message is None or row.sent_by is None:
        return
    if row.sent_by != row.owner_id or account_queries.shared_count(tx, row.account_id):
        acts.note_sent(
            tx,
            account_id=row.account_id,
            thread_id=message.thread_id,
            message_id=message.id,
            user_id=row.sent_by,
        )


def settle_found(tx: Tx, stored: StoredMessage) -> None:
    """An ingest step: a mail that is in the account's sent mail was sent, even if the provider's answer was lost."""
    message = stored.message
    if is_own(message.labels):
        found(
            tx,
            account_id=stored.account.id,
            message_id_header=message.original_message_id or message.message_id_header,
            mark=message.outgoing_mark,
            provider_message_id=message.provider_message_id,
            message_id=stored.message_id,
        )


def found(
    tx: Tx,
    *,
    account_id: str,
    message_id_header: str | None,
    mark: str | None,
    provider_message_id: str,
    message_id: str,
) -> None:
    """A message is in the account's sent mail. If it is the copy of an outgoing mail, that mail is marked as sent."""
    if message_id_header is None and mark is None:
        return
    row = queries.named_by(tx, account_id=account_id, message_id_header=message_id_header, mark=mark)
    if row is not None:
        sent(tx, outgoing_id=row.id, provider_message_id=provider_message_id, message_id=message_id)


def failed(tx: Tx, begun: Outgoing, *, reason: str, drop_thread: bool = False) -> None:
    """The provider refuses the mail for good. ``drop_thread``: the provider has no such thread any more, so the mail
    forgets the provider's thread id."""
    if _give_up(tx, begun, reason=reason) and drop_thread:
        tx.run("update mail_outgoing set provider_thread_id = null where id = :id", id=begun.id)


def put_off(tx: Tx, begun: Outgoing, *, next_at: Millis, reason: str) -> None:
    """The mail provably did not leave and is tried again later. After the last attempt it fails."""
    if begun.attempts >= MAX_ATTEMPTS:
        _give_up(tx, begun, reason=reason)
    else:
        move(tx, begun, "put_off", next_at=next_at, last_error=reason)


def wait(tx: Tx, row: Outgoing, *, next_at: Millis, reason: str) -> None:
    """The disk is full. Nothing of the mail has left, and this does not count as an attempt. It is sent once there is
    room, and can be cancelled until then."""
    move(tx, row, "wait_for_room", next_at=next_at, last_error=reason)


def uncertain(tx: Tx, begun: Outgoing, *, reason: str) -> None:
    """It is not known what the provider did with the mail."""
    move(tx, begun, "lose_answer", last_error=reason, doubt=True)


def recover(tx: Tx, *, in_flight: Set[str] = frozenset()) -> None:
    """Mark as uncertain the mails that were on their way when the process or a task died. ``in_flight``: the ids of
    mails whose outcome a task still awaits."""
    for row in queries.transmitting(tx):
        if row.id not in in_flight:
            uncertain(tx, row, reason=_RESTARTED)


def mark_overdue(tx: Tx) -> None:
    for row in queries.late(tx):
        move(tx, row, "fall_due_long_ago", last_error=_LATE)


def mend_dates(tx: Tx, *, hold_ms: int) -> None:
    """Correct dates after the clock has jumped back: an undo pause or a retry must not wait for the time that the clock
    jumped, and a mail that only seemed to be late goes back to its schedule."""
    for row in queries.far_away(tx, hold_ms=hold_ms):
        move(tx, row, "set_date_again", next_at=tx.now + (hold_ms if row.state == "held" else 0))
    for row in queries.not_late_after_all(tx):
        if row.send_at is None:
            move(tx, row, "hold_again", next_at=tx.now + hold_ms, last_error=None)
        else:
            move(tx, row, "schedule_again", next_at=row.send_at, last_error=None)


def fail_waiting(tx: Tx, *, account_id: str, reason: str, sent_by: str | None = None) -> None:
    """The account goes away, or one person (``sent_by``) may not act in it any more: the waiting mails fail with this
    reason."""
    for row in queries.waiting_of_account(tx, account_id):
        if sent_by is None or row.sent_by == sent_by:
            _give_up(tx, row, reason=reason)
            if sent_by is not None:
                tell_withdrawn(tx, row.id, audience=sent_by)


def forget_old(tx: Tx, *, before: Sequence[BeforeForgetting] = ()) -> None:
    """Delete the mails that ended long ago. ``before``: called with their ids first, by who names them."""
    old = queries.forgettable(tx)
    for note_end in before:
        note_end(tx, old)
    for outgoing_id in old:
        delete_files(tx, origin=outgoing_origin(outgoing_id))
        tx.run("delete from mail_outgoing where id = :id", id=outgoing_id)


def _give_up(tx: Tx, row: Outgoing, *, reason: str) -> bool:
    """The mail did not leave this time. With a doubt it becomes uncertain: an earlier attempt may have succeeded."""
    if row.doubt:
        return move(tx, row, "give_up_in_doubt", last_error=reason) is not None
    moved = move(tx, row, "give_up", last_error=reason) is not None
    if moved:
        _record(tx, row, "mail-send-failed", reason=reason[:MAX_REASON_CHARS])
    return moved


def _record(tx: Tx, row: Outgoing, type: str, **more: str | None) -> None:
    """Record a permanent event, under the device that asked for the mail."""
    tx.record(
        type=type,
        payload={
            "outgoingId": row.id,
            "accountId": row.account_id,
            "from": row.from_address,
            "to": row.to,
            "subject": row.subject,
            "attempts": row.attempts,
            "by": row.sent_by,
            **more,
        },
        audience=row.owner_id,
        device_id=row.device_id,
    )
