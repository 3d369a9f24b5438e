"""What a principal may do with drafts and signatures: plain functions over a transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import msgspec

from svc.errors import Conflict, NotFound
from svc.files import delete_files, hand_over_files
from svc.formats.text import clean_line, cut, text_from_html
from svc.ids import derived_id, new_id
from svc.mail import wire as mail_wire
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.access import Access, writer_of
from svc.mail.model import Account
from svc.mail.sending import attaching, draft_copies, queries, wire
from svc.mail.sending.model import (
    TASKS_TOPIC,
    Answers,
    Draft,
    Outgoing,
    Quote,
    SendRequest,
    draft_origin,
    outgoing_origin,
)
from svc.mail.threads import queries as thread_queries
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array

MAX_DRAFTS: Final = 1_000
"""Drafts of one person, without those of other programs that were not changed here. Beyond: 409 `conflict`."""
SNIPPET_CHARS: Final = 200
SNIPPET_SOURCE_CHARS: Final = 16 * 1024

NO_DRAFT: Final = "There is no such draft."


def save(tx: Tx, principal: Principal, *, draft_id: str | None, version: int | None, request: SendRequest) -> Draft:
    """Save what a person has written so far. Raises :class:`Conflict` if the draft has another ``version`` than the
    caller's."""
    account = account_of(tx, principal, request.account_id)
    request = with_references(tx, principal, request)
    before = None
    if draft_id is not None:
        before = queries.draft_for(tx, principal, draft_id=draft_id)
        if before is None:
            _refuse_sent(tx, principal, draft_id)
            raise NotFound(NO_DRAFT)
        check_version(before, version)
    elif queries.draft_count(tx, principal) >= MAX_DRAFTS:
        raise Conflict(too_many())
    draft_id = draft_id or new_id("drf")
    attachments = attaching.adopt(
        tx,
        principal,
        file_ids=request.attachments,
        origin=draft_origin(draft_id),
        owner_id=writer_of(principal, account),
        holders=[draft_id],
    )
    write(
        tx,
        replace(request, html=attaching.renamed(request.html, request.attachments, attachments)),
        draft_id=draft_id,
        owner_id=writer_of(principal, account),
        attachments=attachments,
        version=1 if before is None else before.version + 1,
    )
    tell(tx, draft_id, device_id=principal.device_id)
    saved = queries.draft(tx, draft_id)
    assert saved is not None
    return saved


def check_version(draft: Draft, version: int | None) -> None:
    """Raises :class:`Conflict` if the draft has another version than the caller's; ``None`` means any."""
    if version is not None and version != draft.version:
        raise Conflict("This draft was changed in another window meanwhile.", data={"version": draft.version})


def too_many() -> str:
    return f"There are {MAX_DRAFTS:,} drafts already. Delete some first."


def delete(tx: Tx, principal: Principal, *, draft_id: str) -> None:
    draft = queries.draft_for(tx, principal, draft_id=draft_id)
    if draft is None:
        raise NotFound(NO_DRAFT)
    remove(tx, principal, draft)


def remove(tx: Tx, principal: Principal, draft: Draft) -> None:
    """Delete the draft and the files that it still has; its copies at servers are deleted later."""
    delete_files(tx, origin=draft_origin(draft.id))
    tx.run("delete from mail_drafts where id = :id", id=draft.id)
    draft_copies.gone(tx, draft.id)
    tx.emit(
        topic=TASKS_TOPIC,
        kind="task.changed",
        id=draft.id,
        payload={"draft": None},
        audience=draft.owner_id,
        device_id=principal.device_id,
    )


def restore(tx: Tx, principal: Principal, row: Outgoing) -> str:
    """Make an accepted mail a draft again, with its files. Returns the draft's id."""
    draft_id = derived_id("drf", row.id)
    hand_over_files(tx, origin=outgoing_origin(row.id), to=draft_origin(draft_id))
    request = SendRequest(
        account_id=row.account_id,
        to=row.to,
        cc=row.cc,
        bcc=row.bcc,
        subject=row.subject,
        html=row.html,
        attachments=row.attachments,
        thread_id=row.thread_id,
        quote=None if row.quoted is None else Quote(message_id=row.quoted.message_id, kind=row.quoted.kind),
        from_address=row.from_address,
    )
    writer_id = queries.sender_of(tx, row)
    answers = None if row.in_reply_to is None else Answers(in_reply_to=row.in_reply_to, references=row.references)
    write(tx, request, draft_id=draft_id, owner_id=writer_id, attachments=row.attachments, version=1, answers=answers)
    delete_files(tx, origin=draft_origin(draft_id), but=row.attachments)  # the quote's pictures are its message's
    tx.run("update mail_outgoing set restored_draft_id = :draft_id where id = :id", draft_id=draft_id, id=row.id)
    return tell(tx, draft_id, device_id=principal.device_id)


def set_signature(tx: Tx, principal: Principal, *, account_id: str, html: str) -> None:
    """``html`` is sanitized already."""
    put_signature(tx, account_id=account_of(tx, principal, account_id, to="own").id, html=html)


def put_signature(tx: Tx, *, account_id: str, html: str) -> None:
    tx.run(
        """
        insert into mail_signatures (account_id, html, updated_at) values (:id, :html, :now)
        on conflict do update set html = :html, updated_at = :now
        """,
        id=account_id,
        html=html,
        now=tx.now,
    )


def account_of(tx: ReadTx, principal: Principal, account_id: str, *, to: Access = "act") -> Account:
    account = account_queries.account_for(tx, principal, account_id=account_id, to=to)
    if account is None:
        raise NotFound("There is no such account.")
    return account


def with_references(tx: Tx, principal: Principal, request: SendRequest) -> SendRequest:
    """Check that the caller may read the answered thread and the quoted message. Returns the request with the thread's
    current id."""
    if request.thread_id is not None:
        thread = thread_queries.thread_for(tx, principal, thread_id=request.thread_id)
        if thread is None:
            raise NotFound("There is no such thread.")
        request = replace(request, thread_id=thread.id)
    if (
        request.quote is not None
        and thread_queries.message_for(tx, principal, message_id=request.quote.message_id) is None
    ):
        raise NotFound("The message that is quoted is not there any more.")
    return request


def _refuse_sent(tx: Tx, principal: Principal, draft_id: str) -> None:
    """Raises :class:`Conflict` if the draft was sent: a save that was under way then must not bring it back."""
    if queries.outgoing_of_draft(tx, principal, draft_id=draft_id) is not None:
        raise Conflict("This draft was sent already.")


def write(
    tx: Tx,
    request: SendRequest,
    *,
    draft_id: str,
    owner_id: str | None,
    attachments: tuple[str, ...],
    version: int,
    answers: Answers | None = None,
) -> None:
    """Insert or update the draft's row. ``answers`` is only used for a new row; an existing draft keeps its own."""
    tx.run(
        """
        insert into mail_drafts (
            id, owner_id, account_id, to_addresses, cc_addresses, bcc_addresses, subject, html, snippet, attachments,
            thread_id, quote, version, created_at, updated_at, from_address, in_reply_to, reference_ids
        ) values (
            :id, :owner_id, :account_id, :to, :cc, :bcc, :subject, :html, :snippet, :attachments, :thread_id, :quote,
            :version, :now, :now, :from_address, :in_reply_to, :references
        ) on conflict do update set owner_id = :owner_id, account_id = :account_id, to_addresses = :to,
            cc_addresses = :cc, bcc_addresses = :bcc, subject = :subject, html = :html, snippet = :snippet,
            attachments = :attachments, thread_id = :thread_id, quote = :quote, version = :version, updated_at = :now,
            from_address = :from_address
        """,
        id=draft_id,
        owner_id=owner_id,
        account_id=request.account_id,
        to=json_array(request.to),
        cc=json_array(request.cc),
        bcc=json_array(request.bcc),
        subject=request.subject,
        html=request.html,
        snippet=cut(clean_line(text_from_html(request.html[:SNIPPET_SOURCE_CHARS])), limit=SNIPPET_CHARS),
        attachments=json_array(attachments),
        thread_id=request.thread_id,
        quote=None if request.quote is None else msgspec.json.encode(request.quote).decode(),
        version=version,
        now=tx.now,
        from_address=request.from_address,
        in_reply_to=None if answers is None else answers.in_reply_to,
        references=None if answers is None else json_array(answers.references),
    )
    draft_copies.changed(tx, draft_id, account_id=request.account_id, owner_id=owner_id)


def tell(tx: Tx, draft_id: str, *, device_id: str) -> str:
    draft = queries.draft(tx, draft_id)
    assert draft is not None
    tx.emit(
        topic=TASKS_TOPIC,
        kind="task.changed",
        id=draft.id,
        payload={"draft": mail_wire.to_builtins(wire.draft_row_out(draft))},
        audience=draft.owner_id,
        device_id=device_id,
    )
    return draft_id
