"""Answers invitations: writes the reply, makes it durable, and accepts it for sending and stores the answer in one
transaction."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Final

import trio

from svc.clock import Clock
from svc.errors import Conflict, NotFound
from svc.files import add_file, delete_files
from svc.formats.invitations import Answer, write_kept, write_moved, write_reply
from svc.formats.invitations.model import MAX_BYTES
from svc.ids import new_id
from svc.mail.accounts import own_addresses
from svc.mail.accounts import queries as account_queries
from svc.mail.invitations import actions, proposals
from svc.mail.invitations.proposals import Told
from svc.mail.invitations.reading import READ_DEADLINE_S, InvitationReader, with_thread
from svc.mail.invitations.viewing import State, View, view
from svc.mail.model import MessageRow
from svc.mail.sending import actions as sending_actions
from svc.mail.sending.model import SendRequest
from svc.mail.sending.tasks import Delivery
from svc.nursery import ProcessPool, WorkerCrashed, WorkerTimeout
from svc.principal import Principal
from svc.store import BlobCorrupt, BlobMissing, BlobRef, Blobs, ReadTx, Store, Tx

READING_S: Final = 10.0
"""Time to read all calendar files of a thread. Those that are not read then are read another time."""

_WORDS: Final[dict[Answer, str]] = {"accepted": "Accepted", "tentative": "Tentative", "declined": "Declined"}
_SENTENCES: Final[dict[Answer, str]] = {
    "accepted": "has accepted this invitation.",
    "tentative": "may come.",
    "declined": "has declined this invitation.",
}
_WHY_NOT: Final[dict[State, str]] = {
    "updated": "A later version of this invitation came. Answer that one.",
    "cancelled": "This meeting was called off.",
    "information": "There is nothing to answer here.",
}
MISSING: Final = "There is no such invitation."
UNREADABLE: Final = "The invitation can't be read any more, so it can't be answered."


@dataclass(frozen=True, kw_only=True)
class Invitations:
    store: Store
    blobs: Blobs
    processes: ProcessPool
    reader: InvitationReader
    delivery: Delivery
    clock: Clock

    async def view(self, principal: Principal, *, message_id: str) -> View | None:
        """The invitation in a message, with the calendar files of its whole thread taken into account."""
        found = await self.store.read(with_thread, principal, message_id=message_id)
        if found is None:
            raise NotFound("There is no such message.")
        message, thread = found
        with trio.move_on_after(READING_S):
            await self.reader.read([message])
            await self.reader.read([one for one in thread if one.id != message.id])
        return await self.store.read(view, principal, message=message)

    async def answer(self, principal: Principal, *, message_id: str, answer: Answer, comment: str) -> str:
        """Answer an invitation. Returns the id of the outgoing mail. The same answer again returns the same id."""
        await self.store.read(_may_act, principal, message_id=message_id)
        shown = await self.view(principal, message_id=message_id)
        if shown is None:
            raise NotFound(MISSING)
        given = _given(shown, answer, comment)
        if given is not None:
            return given
        assert shown.invited is not None
        data = await self._reply(shown, answer, comment)
        (blob,) = await self.blobs.put_all([data])
        outgoing_id = await self.store.write(
            _accept,
            principal,
            message_id=message_id,
            answer=answer,
            comment=comment,
            blob=blob,
            hold_ms=self.delivery.hold_ms,
        )
        self.delivery.look()
        return outgoing_id

    async def _reply(self, shown: View, answer: Answer, comment: str) -> bytes:
        one, now = shown.version.found, self.clock.now()
        event = one.uid, one.recurrence_id
        try:
            data = await self.blobs.read(shown.version.file_sha256, limit=MAX_BYTES)
            if one.method != "COUNTER":
                said = shown.invited, answer, comment, now
                return await self.processes.run(write_reply, data, *event, *said, deadline_s=READ_DEADLINE_S)
            if answer == "declined":
                kept = shown.proposer, comment, now
                return await self.processes.run(write_kept, data, *event, *kept, deadline_s=READ_DEADLINE_S)
            assert shown.planned is not None
            planned = await self.blobs.read(shown.planned.file_sha256, limit=MAX_BYTES)
            moved = proposals.next_number(shown), comment, now
            return await self.processes.run(write_moved, planned, data, *event, *moved, deadline_s=READ_DEADLINE_S)
        except (BlobMissing, BlobCorrupt, WorkerTimeout, WorkerCrashed, ValueError) as fault:
            raise Conflict(UNREADABLE) from fault


def _given(shown: View, answer: Answer, comment: str) -> str | None:
    """The id of the outgoing mail, where the same answer was given before; else ``None``. Raises ``Conflict`` where no
    answer can be given."""
    if shown.state in _WHY_NOT:
        raise Conflict(_WHY_NOT[shown.state])
    if shown.version.found.method == "COUNTER":
        proposals.check(shown, answer)
    elif shown.invited is None or shown.version.found.organizer is None:
        raise Conflict("This invitation names none of your addresses, or nobody to answer to.")
    return shown.outgoing_id if shown.answer == answer and not comment else None


def _accept(
    tx: Tx, principal: Principal, *, message_id: str, answer: Answer, comment: str, blob: BlobRef, hold_ms: int
) -> str:
    _may_act(tx, principal, message_id=message_id)
    message, shown = _again(tx, principal, message_id)
    given = _given(shown, answer, comment)
    if given is not None:
        return given
    told = proposals.told(shown, answer) if shown.version.found.method == "COUNTER" else _reply_told(shown, answer)
    file_id = new_id("fil")
    origin = f"invitation:{file_id}"
    add_file(
        tx,
        id=file_id,
        owner_id=principal.user_id,
        sha256=blob.sha256,
        name=told.filename,
        mime=f"text/calendar; method={told.method}",
        size=blob.size,
        origin=origin,
    )
    account = account_queries.account(tx, message.account_id)
    assert account is not None
    request = SendRequest(
        account_id=message.account_id,
        to=told.to,
        cc=(),
        bcc=(),
        subject=told.subject,
        html="".join(f"<p>{escape(text)}</p>" for text in (told.words, *comment.splitlines()) if text.strip()),
        attachments=(file_id,),
        thread_id=message.thread_id,
        quote=None,
        from_address=own_addresses.sent_to(account, [shown.invited or ""]),
    )
    row = sending_actions.accept(tx, principal, request=request, send_at=None, draft_id=None, hold_ms=hold_ms)
    delete_files(tx, origin=origin)
    record = actions.record_proposal_answer if shown.version.found.method == "COUNTER" else actions.record_answer
    record(tx, account_id=message.account_id, version=shown.version, answer=answer, outgoing_id=row.id)
    return row.id


def _reply_told(shown: View, answer: Answer) -> Told:
    """The content of a reply. Outlook accepts a calendar file only if its media type names the method, and if it is an
    attachment, not an alternative of the text."""
    one = shown.version.found
    assert one.organizer is not None
    return Told(
        method="REPLY",
        filename="reply.ics",
        to=(one.organizer.address,),
        subject=f"{_WORDS[answer]}: {one.summary}",
        words=f"{shown.invited} {_SENTENCES[answer]}",
    )


def _may_act(tx: ReadTx, principal: Principal, *, message_id: str) -> None:
    """Raises :class:`Forbidden` for a principal who may only read the account."""
    found = with_thread(tx, principal, message_id=message_id)
    if found is None or not account_queries.account_for(tx, principal, account_id=found[0].account_id, to="act"):
        raise NotFound("There is no such message.")


def _again(tx: ReadTx, principal: Principal, message_id: str) -> tuple[MessageRow, View]:
    """The message and invitation as they are now: new mail may have come since the reply was written."""
    found = with_thread(tx, principal, message_id=message_id)
    shown = None if found is None else view(tx, principal, message=found[0])
    if found is None or shown is None:
        raise NotFound(MISSING)
    return found[0], shown
