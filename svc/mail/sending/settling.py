"""What becomes of a mail after it was accepted: the moves of the state machine, each one small transaction.

Every move compares and sets the row's version, so that of two that meet (a cancel and a tick, a poll and an answer)
one wins whole and the other changes nothing. Each tells the person's clients; an end is kept as an event too.
:func:`found` is what the ingest transaction calls for every message of sent mail: the mailbox is the last judge.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from svc.clock import Millis
from svc.files import delete_files
from svc.mail import wire as mail_wire
from svc.mail.sending import queries, wire
from svc.mail.sending.model import (
    MAX_ATTEMPTS,
    TASKS_TOPIC,
    Outgoing,
    OutgoingState,
    outgoing_origin,
)
from svc.principal import system
from svc.store import Tx

DEVICE_ID: Final = system("mail-sending").device_id
MAX_REASON_CHARS: Final = 500

_RESTARTED: Final = (
    "The server stopped while this mail was on its way. It is not known whether it was sent; it is looked for among "
    "the sent mail."
)
_LATE: Final = "This mail was due more than 12 hours ago, while the server was not running. Send it now, or cancel it."


def begin(tx: Tx, *, outgoing_id: str, version: int, raw_sha256: str) -> Outgoing | None:
    """Commit that it leaves now; ``None`` when it may not (cancelled or changed meanwhile, not due any more)."""
    changed = tx.run(
        """
        update mail_outgoing set state = 'transmitting', version = version + 1, attempts = attempts + 1, next_at = null,
            raw_sha256 = :raw_sha256, changed_at = :now
        where id = :id and version = :version and next_at <= :now and account_id in
            (select id from mail_accounts where state <> 'disconnected')
        """,
        id=outgoing_id,
        version=version,
        raw_sha256=raw_sha256,
        now=tx.now,
    )
    return tell(tx, outgoing_id) if changed else None


def sent(tx: Tx, *, outgoing_id: str, provider_message_id: str, message_id: str | None) -> None:
    """It is sent, whoever found out. Said again, it changes nothing."""
    changed = tx.run(
        """
        update mail_outgoing set state = 'sent', version = version + 1, next_at = null, last_error = null, doubt = 0,
            provider_message_id = :provider_message_id, message_id = :message_id, changed_at = :now
        where id = :id and state <> 'sent'
        """,
        id=outgoing_id,
        provider_message_id=provider_message_id,
        message_id=message_id,
        now=tx.now,
    )
    if not changed:
        return
    delete_files(tx, origin=outgoing_origin(outgoing_id))
    row = tell(tx, outgoing_id)
    _record(tx, row, "mail-sent", messageId=message_id, providerMessageId=provider_message_id)


def found(
    tx: Tx,
    *,
    account_id: str,
    message_id_header: str | None,
    mark: str | None,
    provider_message_id: str,
    message_id: str,
) -> None:
    """A message stands among the account's sent mail. If it is the copy of an outgoing one, that one is sent."""
    if message_id_header is None and mark is None:
        return
    row = queries.named_by(tx, account_id=account_id, message_id_header=message_id_header, mark=mark)
    if row is not None:
        sent(tx, outgoing_id=row.id, provider_message_id=provider_message_id, message_id=message_id)


def failed(tx: Tx, begun: Outgoing, *, reason: str, drop_thread: bool = False) -> None:
    """The provider will not have it, now or later. ``drop_thread``: its thread is what it minded."""
    if _end(tx, begun, reason=reason) and drop_thread:
        tx.run("update mail_outgoing set provider_thread_id = null where id = :id", id=begun.id)


def put_off(tx: Tx, begun: Outgoing, *, next_at: Millis, reason: str) -> None:
    """It provably did not leave, and may later; after the tenth time it ends."""
    if begun.attempts >= MAX_ATTEMPTS:
        _end(tx, begun, reason=reason)
    else:
        _move(tx, begun, to="scheduled", next_at=next_at, reason=reason)


def uncertain(tx: Tx, begun: Outgoing, *, reason: str) -> None:
    """Nobody knows what the provider did."""
    _move(tx, begun, to="uncertain", reason=reason, doubt=True)


def recover(tx: Tx, *, in_flight: Set[str] = frozenset()) -> None:
    """What was on its way when the process or a task died. ``in_flight``: those whose end is still awaited."""
    for row in queries.transmitting(tx):
        if row.id not in in_flight:
            uncertain(tx, row, reason=_RESTARTED)


def mark_overdue(tx: Tx) -> None:
    for row in queries.late(tx):
        _move(tx, row, to="overdue", reason=_LATE)


def mend_dates(tx: Tx, *, hold_ms: int) -> None:
    """The clock has jumped back: what waits for seconds or minutes must not wait for what it jumped."""
    for row in queries.far_away(tx, hold_ms=hold_ms):
        next_at = tx.now + (hold_ms if row.state == "held" else 0)
        _move(tx, row, to=row.state, next_at=next_at, reason=row.last_error)


def fail_waiting(tx: Tx, *, account_id: str, reason: str) -> None:
    """The account goes away: what would have left from it does not, and says so."""
    for row in queries.waiting_of_account(tx, account_id):
        _end(tx, row, reason=reason)


def forget_old(tx: Tx) -> None:
    for outgoing_id in queries.forgettable(tx):
        delete_files(tx, origin=outgoing_origin(outgoing_id))
        tx.run("delete from mail_outgoing where id = :id", id=outgoing_id)


def tell(tx: Tx, outgoing_id: str, *, device_id: str = DEVICE_ID) -> Outgoing:
    """Tell the person's clients how it stands now; nothing stands of what was put away."""
    row = queries.outgoing(tx, outgoing_id)
    assert row is not None
    tx.emit(
        topic=TASKS_TOPIC,
        kind="task.changed",
        id=row.id,
        payload={"outgoing": None if row.dismissed else mail_wire.to_builtins(wire.outgoing_out(row))},
        audience=row.owner_id,
        device_id=device_id,
    )
    return row


def _end(tx: Tx, row: Outgoing, *, reason: str) -> bool:
    """It did not leave this time. Whether it ever did is another question where there was doubt before."""
    if row.doubt:
        return _move(tx, row, to="uncertain", reason=reason)
    moved = _move(tx, row, to="failed", reason=reason)
    if moved:
        _record(tx, row, "mail-send-failed", reason=reason[:MAX_REASON_CHARS])
    return moved


def _move(
    tx: Tx,
    row: Outgoing,
    *,
    to: OutgoingState,
    reason: str | None,
    next_at: Millis | None = None,
    doubt: bool = False,
) -> bool:
    """From how ``row`` stood; ``False`` when it stands otherwise by now."""
    changed = tx.run(
        """
        update mail_outgoing set state = :state, version = version + 1, next_at = :next_at, last_error = :reason,
            doubt = max(doubt, :doubt), changed_at = :now
        where id = :id and version = :version
        """,
        state=to,
        next_at=next_at,
        reason=None if reason is None else reason[:MAX_REASON_CHARS],
        doubt=int(doubt),
        now=tx.now,
        id=row.id,
        version=row.version,
    )
    if changed:
        tell(tx, row.id)
    return bool(changed)


def _record(tx: Tx, row: Outgoing, type: str, **more: str | None) -> None:
    """Kept for good, under the device that asked for the mail."""
    tx.record(
        type=type,
        payload={
            "outgoingId": row.id,
            "accountId": row.account_id,
            "from": row.from_address,
            "to": row.to,
            "subject": row.subject,
            "attempts": row.attempts,
            **more,
        },
        audience=row.owner_id,
        device_id=row.device_id,
    )
