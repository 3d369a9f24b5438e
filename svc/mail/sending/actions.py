"""What a principal may do with outgoing mail: send (accept), cancel, reschedule, retry and dismiss it.

Plain functions over a transaction. A mail is checked completely when it is accepted (recipients, files, sizes,
references), so that a mail that is due in a month does not fail then for a reason that could be reported now. Nothing
here transmits a mail.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Unpack

import msgspec

from svc.clock import Millis
from svc.errors import Conflict, Invalid, NotFound, TooLarge
from svc.files import File, files_of, hand_over_files
from svc.formats.text import clean_line
from svc.formats.writing import Recipients, mailbox_text, recipients
from svc.ids import derived_id, new_id
from svc.mail.accounts import own_addresses
from svc.mail.model import DRAFT, Account, MessageRow
from svc.mail.proposing import replies as proposed_replies
from svc.mail.providers.kinds import kind_of
from svc.mail.sending import attaching, draft_copies, drafts, elsewhere, queries
from svc.mail.sending.answering import answering_address
from svc.mail.sending.held import record_held_send
from svc.mail.sending.model import (
    MAX_ATTACHED_BYTES,
    MAX_ATTACHMENTS,
    Answers,
    Draft,
    Outgoing,
    Quote,
    Quoted,
    SendRequest,
    draft_origin,
    outgoing_origin,
)
from svc.mail.sending.moving import Columns, move, tell
from svc.mail.sending.quoting import snapshot
from svc.mail.sending.states import CANCELLABLE, RETRYABLE, SENDING, OutgoingEvent, OutgoingState
from svc.mail.threads import queries as thread_queries
from svc.principal import Principal
from svc.store import Tx, json_array

MISSING: Final = "There is no such mail on its way."

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_WHY_NOT: Final[dict[OutgoingState, str]] = {
    "scheduled": "This mail has not failed: it goes by itself.",
    "held": "This mail has not failed: it goes by itself.",
    "transmitting": "This mail is on its way right now.",
    "sent": "This mail was sent already.",
    "failed": "This mail did not leave: there is nothing to hold back.",
    "uncertain": "It is not known whether this mail was sent: it can't be held back any more.",
    "cancelled": "This mail was cancelled.",
    "overdue": "This mail waits for a word.",
}


def accept(
    tx: Tx,
    principal: Principal,
    *,
    request: SendRequest,
    send_at: Millis | None,
    draft_id: str | None,
    hold_ms: int,
    group: str | None = None,
    draft_version: int | None = None,
) -> Outgoing:
    """Accept a mail; from then on it is sent automatically. Idempotent per ``draft_id``. ``group``: the undo steps of
    the same group are undone together with it."""
    draft = None
    if draft_id is not None:
        known = queries.outgoing_of_draft(tx, principal, draft_id=draft_id)
        if known is not None:
            return known
    account = _connected(tx, principal, request.account_id)
    if draft_id is not None:
        draft = queries.draft_for(tx, principal, draft_id=draft_id)
        if draft is None:
            raise NotFound(drafts.NO_DRAFT)
        drafts.check_version(draft, draft_version)
        elsewhere.check_sent(tx, draft_id)
    people = checked_recipients(request)
    request = drafts.with_references(tx, principal, request)
    from_address = _from_address(tx, account, request)
    outgoing_id = new_id("out")
    attachments = _adopted(tx, principal, account, request, outgoing_id=outgoing_id, draft=draft)
    request = replace(request, html=attaching.renamed(request.html, request.attachments, attachments))
    quoted = _quoted(tx, principal, account, request.quote, outgoing_id=outgoing_id)
    _check_size(files_of(tx, origin=outgoing_origin(outgoing_id)))
    timing = _timing(tx.now, send_at=send_at, hold_ms=hold_ms)
    _insert(
        tx,
        principal,
        account,
        request,
        people,
        from_address=from_address,
        outgoing_id=outgoing_id,
        attachments=attachments,
        quoted=quoted,
        draft_id=draft_id,
        answers=None if draft is None else draft.answers,
        timing=timing,
    )
    if draft is not None:
        drafts.remove(tx, principal, draft)
    if request.thread_id is not None:
        proposed_replies.drop(tx, account, thread_id=request.thread_id, device_id=principal.device_id)
    if timing.state == "held":
        record_held_send(tx, principal, outgoing_id=outgoing_id, thread_id=request.thread_id, group=group)
    return tell(tx, outgoing_id, device_id=principal.device_id)


def cancel(tx: Tx, principal: Principal, *, outgoing_id: str) -> Outgoing:
    """Cancel the mail, while it has not left. What was written becomes a draft again.

    If an earlier attempt ended without an answer, only the next attempt is cancelled: the mail becomes ``uncertain``,
    not ``cancelled``, and no draft is made.
    """
    row = _own(tx, principal, outgoing_id)
    if row.state not in CANCELLABLE:
        raise Conflict(_WHY_NOT[row.state])
    if row.doubt:
        return _move(tx, principal, row, "cancel_in_doubt")
    drafts.restore(tx, principal, row)
    return _move(tx, principal, row, "cancel")


def reschedule(tx: Tx, principal: Principal, *, outgoing_id: str, send_at: Millis) -> Outgoing:
    """Set another time for a mail that has not left. A time in the past means now."""
    row = _own(tx, principal, outgoing_id)
    if not SENDING.allows(row.state, "reschedule"):
        raise Conflict(_WHY_NOT[row.state])
    _connected(tx, principal, row.account_id)
    return _move(tx, principal, row, "reschedule", next_at=max(send_at, tx.now), send_at=send_at)


def retry(tx: Tx, principal: Principal, *, outgoing_id: str) -> Outgoing:
    """Send again a mail that failed, is late, or may have been sent. The last only because the person asks for it."""
    row = _own(tx, principal, outgoing_id)
    if row.state not in RETRYABLE:
        raise Conflict(_WHY_NOT[row.state])
    if row.dismissed:
        raise Conflict("This mail was put away.")
    _connected(tx, principal, row.account_id)
    return _move(tx, principal, row, "retry", next_at=tx.now)


def dismiss(tx: Tx, principal: Principal, *, outgoing_id: str, keep_draft: bool) -> str | None:
    """Hide a mail that has ended. Returns the id of the draft that it became, if there is one; with ``keep_draft`` a
    failed or uncertain mail becomes one."""
    row = _own(tx, principal, outgoing_id)
    if not SENDING.allows(row.state, "dismiss"):
        raise Conflict(_WHY_NOT[row.state])
    draft_id = row.restored_draft_id
    if keep_draft and draft_id is None and row.state in {"failed", "uncertain"}:
        draft_id = drafts.restore(tx, principal, row)
    move(tx, row, "dismiss", device_id=principal.device_id, dismissed_at=tx.now)
    return draft_id


# Accepting


def checked_recipients(request: SendRequest) -> Recipients:
    """The checked recipients. Refuses control characters: nobody types a line end into an address, so one is there to
    make a parser read something else."""
    if any(_CONTROL.search(text) for text in (*request.to, *request.cc, *request.bcc)):
        raise Invalid("A recipient holds a character that can't be written in an address.")
    people = recipients(to=request.to, cc=request.cc, bcc=request.bcc)
    if not people.everyone:
        raise Invalid("A mail needs somebody to go to.")
    return people


@dataclass(frozen=True, kw_only=True)
class _Timing:
    state: OutgoingState
    send_at: Millis | None
    next_at: Millis


def _timing(now: Millis, *, send_at: Millis | None, hold_ms: int) -> _Timing:
    if send_at is not None and send_at > now:
        return _Timing(state="scheduled", send_at=send_at, next_at=send_at)
    if hold_ms > 0:
        return _Timing(state="held", send_at=None, next_at=now + hold_ms)
    return _Timing(state="scheduled", send_at=None, next_at=now)


def _adopted(
    tx: Tx, principal: Principal, account: Account, request: SendRequest, *, outgoing_id: str, draft: Draft | None
) -> tuple[str, ...]:
    """The attachments as the mail's own files. The files of its draft become files of the mail."""
    origin = outgoing_origin(outgoing_id)
    holders = [outgoing_id]
    if draft is not None:
        hand_over_files(tx, origin=draft_origin(draft.id), to=origin)
        holders.append(draft.id)
    return attaching.adopt(
        tx, principal, file_ids=request.attachments, origin=origin, owner_id=account.owner_id, holders=holders
    )


def _quoted(tx: Tx, principal: Principal, account: Account, quote: Quote | None, *, outgoing_id: str) -> Quoted | None:
    """The quoted message as it is now. Its pictures become files of the mail, so that they stay available."""
    if quote is None:
        return None
    message = thread_queries.message_for(tx, principal, message_id=quote.message_id)
    assert message is not None
    pictures = [one for one in message.headers.attachments if one.inline and one.content_id][:MAX_ATTACHMENTS]
    origin = outgoing_origin(outgoing_id)
    inline = []
    for picture in pictures:
        file = File(
            id=picture.file_id,
            sha256=picture.sha256,
            name=picture.filename,
            mime=picture.mime,
            size=picture.size,
            created_at=tx.now,
        )
        file_id = attaching.attach(tx, file, origin=origin, owner_id=account.owner_id, holder=outgoing_id)
        inline.append(msgspec.structs.replace(picture, file_id=file_id))
    return snapshot(message, quote, inline=tuple(inline))


def _check_size(files: Sequence[File]) -> None:
    size = sum(file.size for file in files)
    if size > MAX_ATTACHED_BYTES:
        raise TooLarge(
            f"The attachments are {size / 2**20:.1f} MiB together; a mail can carry {MAX_ATTACHED_BYTES >> 20} MiB. "
            "Send the larger ones another way."
        )


def _insert(
    tx: Tx,
    principal: Principal,
    account: Account,
    request: SendRequest,
    people: Recipients,
    *,
    from_address: str,
    outgoing_id: str,
    attachments: tuple[str, ...],
    quoted: Quoted | None,
    draft_id: str | None,
    answers: Answers | None,
    timing: _Timing,
) -> None:
    in_reply_to, references, provider_thread_id = queries.place_of_reply(
        tx, account_id=account.id, thread_id=request.thread_id, answers=answers
    )
    domain = from_address.rpartition("@")[2]
    tx.run(
        """
        insert into mail_outgoing (
            id, owner_id, sent_by, device_id, account_id, from_address, to_addresses, cc_addresses, bcc_addresses,
            subject, html, attachments, thread_id, quoted, in_reply_to, reference_ids, provider_thread_id, draft_id,
            message_id_header, state, send_at, next_at, created_at, changed_at, draft_header
        ) values (
            :id, :owner_id, :sent_by, :device_id, :account_id, :from_address, :to, :cc, :bcc, :subject, :html,
            :attachments, :thread_id, :quoted, :in_reply_to, :references, :provider_thread_id, :draft_id, :message_id,
            :state, :send_at, :next_at, :now, :now, :draft_header
        )
        """,
        id=outgoing_id,
        owner_id=account.owner_id,
        sent_by=principal.user_id,
        device_id=principal.device_id,
        account_id=account.id,
        from_address=from_address,
        to=json_array(tuple(map(mailbox_text, people.to))),
        cc=json_array(tuple(map(mailbox_text, people.cc))),
        bcc=json_array(tuple(map(mailbox_text, people.bcc))),
        subject=clean_line(request.subject),
        html=request.html,
        attachments=json_array(attachments),
        thread_id=request.thread_id,
        quoted=None if quoted is None else msgspec.json.encode(quoted).decode(),
        in_reply_to=in_reply_to,
        references=json_array(references),
        provider_thread_id=provider_thread_id,
        draft_id=draft_id,
        message_id=f"{derived_id('mid', outgoing_id)}@{domain}",
        state=timing.state,
        send_at=timing.send_at,
        next_at=timing.next_at,
        now=tx.now,
        draft_header=None if draft_id is None else draft_copies.header_of(tx, draft_id, account_id=account.id),
    )


def _from_address(tx: Tx, account: Account, request: SendRequest) -> str:
    """The chosen address, else the address that the answered mail was sent to, else the account's default."""
    if request.from_address is not None:
        chosen = request.from_address.lower()
        if chosen not in own_addresses.sendable(account):
            raise Invalid(
                f"{request.from_address} is no address of the account {account.address}. "
                "Choose another one under From, or add it to the account under Settings, Accounts."
            )
        return chosen
    answered = _answered(tx, request)
    found = None if answered is None else answering_address(account, answered)
    return found or own_addresses.default_of(tx, account)


def _answered(tx: Tx, request: SendRequest) -> MessageRow | None:
    """The message that is quoted, else the newest message of the thread. Drafts don't count."""
    if request.thread_id is None:
        return None
    messages = [one for one in thread_queries.messages_of(tx, request.thread_id) if DRAFT not in one.labels]
    quoted = request.quote.message_id if request.quote is not None else None
    return next((one for one in messages if one.id == quoted), messages[-1] if messages else None)


# The parts


def _own(tx: Tx, principal: Principal, outgoing_id: str) -> Outgoing:
    row = queries.outgoing_for(tx, principal, outgoing_id=outgoing_id)
    if row is None:
        raise NotFound(MISSING)
    return row


def _connected(tx: Tx, principal: Principal, account_id: str) -> Account:
    account = drafts.account_of(tx, principal, account_id)
    if account.state == "disconnected":
        raise Conflict(f"{account.address} is disconnected. Connect it again to send from it.")
    if not kind_of(account).sends:
        raise Conflict(f"{account.address} is kept on this server alone, and can’t send. Choose another account.")
    return account


def _move(tx: Tx, principal: Principal, row: Outgoing, event: OutgoingEvent, **columns: Unpack[Columns]) -> Outgoing:
    """Move the mail because the person decided so: the attempts count from zero again, and a dismissed mail is shown
    again."""
    written: Columns = {"attempts": 0, "dismissed_at": None, **columns}
    moved = move(tx, row, event, device_id=principal.device_id, **written)
    assert moved is not None
    return moved
