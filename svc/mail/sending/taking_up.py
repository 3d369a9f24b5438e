"""Continues drafts that were begun in another mail program: a draft that is taken up becomes one of the person's
drafts here.

Theory: a draft message in a mailbox never changes; a program that edits it replaces it by a new message. So a draft
here stands for exactly one text of the other program. Opening one writes nothing to the server. Once the draft is
changed here its copy replaces that message (``draft_copies.py``); a version that another program made meanwhile stays
beside it.

Pictures in the text become files of the draft and keep their place in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from svc.errors import Conflict, NotFound
from svc.files import File, delete_files
from svc.formats.html import text_to_html
from svc.formats.text import clean_line
from svc.formats.writing import mailbox_text
from svc.formats.writing.headers import references_of, usable_id
from svc.ids import derived_id
from svc.mail.accounts import own_addresses
from svc.mail.accounts.access import writer_of
from svc.mail.model import DRAFT, Account, Body, MessageRow
from svc.mail.providers.kinds import kind_of
from svc.mail.sending import attaching, draft_copies, drafts, queries, wire
from svc.mail.sending.model import MAX_ATTACHMENTS, Answers, Draft, SendRequest, draft_origin
from svc.mail.sending.rebuilding import MAX_BODY_BLOB_BYTES, Rebuilder
from svc.mail.threads import queries as thread_queries
from svc.principal import Principal, system
from svc.store import BlobCorrupt, BlobMissing, Blobs, ReadTx, Store, Tx

NO_SUCH: Final = "There is no such draft in this mailbox."
_SPACES: Final = re.compile("^ +| {2,}", re.MULTILINE)
_NBSP: Final = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, kw_only=True)
class TakingUp:
    store: Store
    blobs: Blobs
    rebuilder: Rebuilder

    async def take_up(self, principal: Principal, message_id: str) -> str:
        """Make a draft here of a draft message in a mailbox. Returns its id, which is the same each time.
        Raises :class:`NotFound` and :class:`Conflict`."""
        message = await self.store.read(_open, principal, message_id)
        if isinstance(message, str):
            return message
        text = await self.words(message, draft_id=derived_id("drf", message.id))
        return await self.store.write(_take, principal, message_id, text)

    async def words(self, message: MessageRow, *, draft_id: str) -> str:
        """The message's text as HTML for the editor, with its pictures as files of the draft ``draft_id``. Raises
        :class:`Conflict` if the text is missing, damaged or too large."""
        try:
            data = await self.blobs.read(message.body_sha256, limit=MAX_BODY_BLOB_BYTES)
        except (BlobMissing, BlobCorrupt) as fault:
            raise Conflict("The text of this draft is missing or damaged on this server.") from fault
        body = msgspec.json.decode(data, type=Body)
        images = _pictures(message, draft_id)
        found = html_of(body.text) if body.html is None else (await self.rebuilder.own(body.html, images=images)).html
        if len(found) > wire.MAX_HTML_CHARS or len(message.headers.attachments) > MAX_ATTACHMENTS:
            raise Conflict("This draft is too large to be continued here. Open it in the program that wrote it.")
        return found


def html_of(text: str) -> str:
    """Plain text as HTML, with its lines and quotations. Runs of spaces become no-break spaces: the editor has no other
    way to keep them."""
    return text_to_html(_SPACES.sub(lambda run: _NBSP * len(run[0]), text))


def _pictures(message: MessageRow, draft_id: str) -> dict[str, str]:
    """Maps each content id to the id of the draft's file that :func:`attached` makes. Of two equal content ids the
    first counts."""
    found: dict[str, str] = {}
    for one in message.headers.attachments:
        if one.content_id is not None:
            found.setdefault(one.content_id, derived_id("fil", draft_id, one.file_id))
    return found


def _open(tx: ReadTx, principal: Principal, message_id: str) -> MessageRow | str:
    """The message, or the id of the draft that already continues it."""
    message = thread_queries.message_for(tx, principal, message_id=message_id)
    if message is None:
        raise NotFound(NO_SUCH)
    account = drafts.account_of(tx, principal, message.account_id, to="own")
    if DRAFT not in message.labels:
        raise NotFound(NO_SUCH)
    if not kind_of(account).sends:
        raise Conflict("This mailbox was imported, and can’t send. Forward the draft from another account.")
    draft_id = draft_copies.taken(tx, message.id) or derived_id("drf", message.id)
    if queries.outgoing_of_draft(tx, principal, draft_id=draft_id) is not None:
        raise Conflict("This draft was sent already.")
    if queries.draft_for(tx, principal, draft_id=draft_id) is not None:
        return draft_id
    if draft_copies.taken(tx, message.id) is not None:
        raise Conflict("This draft was thrown away here, and is about to go from the mailbox.")
    return message


def _take(tx: Tx, principal: Principal, message_id: str, text: str) -> str:
    message = _open(tx, principal, message_id)
    if isinstance(message, str):
        return message
    if queries.draft_count(tx, principal) >= drafts.MAX_DRAFTS:
        raise Conflict(drafts.too_many())
    account = drafts.account_of(tx, principal, message.account_id, to="own")
    draft_id = derived_id("drf", message.id)
    assert writer_of(principal, account) == account.owner_id
    put(tx, account, message, text, draft_id=draft_id, before=None)
    return draft_id


def put(tx: Tx, account: Account, message: MessageRow, text: str, *, draft_id: str, before: Draft | None) -> None:
    """Write the draft with the content of ``message``, which is its copy at the server. ``before``: the draft as it was
    until now, if there is one."""
    request = request_of(tx, account, message, text)
    files = attached(tx, account, message, draft_id)
    drafts.write(
        tx,
        request if before is None else replace(request, thread_id=before.thread_id or request.thread_id),
        draft_id=draft_id,
        owner_id=account.owner_id,
        attachments=files,
        version=1 if before is None else before.version + 1,
        answers=_answers(message),
    )
    delete_files(tx, origin=draft_origin(draft_id), but=files)
    header = thread_queries.message_id_header(tx, message.id)
    draft_copies.take(tx, draft_id, message, message_id_header=header if usable_id(header or "") else None)
    if before is not None:
        drafts.tell(tx, draft_id, device_id=system("mail-drafts").device_id)


def request_of(tx: ReadTx, account: Account, message: MessageRow, text: str) -> SendRequest:
    sender = message.sender.address.lower()
    headers = message.headers
    return SendRequest(
        account_id=account.id,
        to=tuple(map(mailbox_text, headers.to)),
        cc=tuple(map(mailbox_text, headers.cc)),
        bcc=tuple(map(mailbox_text, headers.bcc)),
        subject=clean_line(message.subject),
        html=text,
        attachments=(),
        thread_id=None if queries.last_message_of(tx, message.thread_id) is None else message.thread_id,
        quote=None,
        from_address=sender if sender in own_addresses.sendable(account) else None,
    )


def attached(tx: Tx, account: Account, message: MessageRow, draft_id: str) -> tuple[str, ...]:
    """The message's files, with the pictures of its text, as files of the draft."""
    return tuple(
        attaching.attach(
            tx,
            File(
                id=one.file_id,
                sha256=one.sha256,
                name=one.filename,
                mime=one.mime,
                size=one.size,
                created_at=tx.now,
            ),
            origin=draft_origin(draft_id),
            owner_id=account.owner_id,
            holder=draft_id,
        )
        for one in message.headers.attachments
    )


def _answers(message: MessageRow) -> Answers | None:
    """The In-Reply-To and References of the message itself, even if its thread has newer messages."""
    parent = message.headers.in_reply_to
    parent = parent if usable_id(parent or "") else None
    references = references_of(message.headers.references, parent=parent)
    return Answers(in_reply_to=parent, references=references) if references else None
