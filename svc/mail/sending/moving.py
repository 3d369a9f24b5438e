"""The only function that changes the state of an outgoing mail, and the event that notifies clients of it."""

from __future__ import annotations

from typing import Final, TypedDict, Unpack

from svc.clock import Millis
from svc.mail import wire as mail_wire
from svc.mail.sending import queries, wire
from svc.mail.sending.model import TASKS_TOPIC, Outgoing
from svc.mail.sending.states import GOES_BY_ITSELF, SENDING, OutgoingEvent
from svc.principal import system
from svc.store import Tx

DEVICE_ID: Final = system("mail-sending").device_id
MAX_REASON_CHARS: Final = 500


class Columns(TypedDict, total=False):
    """The columns that a transition writes besides the state. A column that is not given keeps its value, except
    ``next_at``."""

    next_at: Millis | None
    """Null unless it is given: a state that waits for a person has no date."""
    send_at: Millis
    attempts: int
    last_error: str | None
    doubt: bool
    raw_sha256: str
    provider_message_id: str
    message_id: str | None
    dismissed_at: Millis | None


def move(
    tx: Tx, row: Outgoing, event: OutgoingEvent, *, device_id: str = DEVICE_ID, **columns: Unpack[Columns]
) -> Outgoing | None:
    """Change the state of ``row`` as the table says, and notify the person's clients. No other statement writes the
    state of a mail.

    Compares and sets the row's version, so that of two concurrent changes (a cancel and a tick, a poll and an answer)
    exactly one wins. Returns ``None`` if the row has changed since it was read. Raises
    :class:`svc.machine.ForbiddenTransition`.
    """
    to = SENDING.after(row.state, event)
    written: Columns = {"next_at": None, **columns}
    if (written["next_at"] is not None) != (to in GOES_BY_ITSELF):
        raise ValueError(f"{event} leads to {to}, and next_at is {written['next_at']}")
    if reason := written.get("last_error"):
        written["last_error"] = reason[:MAX_REASON_CHARS]
    changed = tx.run(
        f"""
        update mail_outgoing set state = :state, version = version + 1, changed_at = :now,
            {", ".join(f"{column} = :{column}" for column in written)}
        where id = :id and version = :version
        """,
        state=to,
        now=tx.now,
        id=row.id,
        version=row.version,
        **written,
    )
    return tell(tx, row.id, device_id=device_id) if changed else None


def tell(tx: Tx, outgoing_id: str, *, device_id: str = DEVICE_ID) -> Outgoing:
    """Send the mail's current state to the clients of its owner and its sender. For a dismissed mail the payload is
    null: there is nothing to show."""
    row = queries.outgoing(tx, outgoing_id)
    assert row is not None
    for audience in {row.owner_id, queries.sender_of(tx, row)}:
        tx.emit(
            topic=TASKS_TOPIC,
            kind="task.changed",
            id=row.id,
            payload={"outgoing": None if row.dismissed else mail_wire.to_builtins(wire.outgoing_out(row))},
            audience=audience,
            device_id=device_id,
        )
    return row


def tell_withdrawn(tx: Tx, outgoing_id: str, *, audience: str) -> None:
    """Notify a person that they may not see this mail any more."""
    tx.emit(
        topic=TASKS_TOPIC,
        kind="task.changed",
        id=outgoing_id,
        payload={"outgoing": None},
        audience=audience,
        device_id=DEVICE_ID,
    )
