"""The first content of a compose window: recipients, subject, the quoted original, the signature. Writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from svc.errors import Invalid, NotFound
from svc.formats.writing import forward_subject, mailbox_text, reply_subject
from svc.mail.accounts import own_addresses
from svc.mail.model import DRAFT, Account, MessageRow
from svc.mail.sending import queries, wire
from svc.mail.sending.answering import Answer, answer_to, answering_address
from svc.mail.sending.drafts import account_of
from svc.mail.sending.model import Quote
from svc.mail.sending.quoting import snapshot
from svc.mail.sending.rebuilding import Rebuilder
from svc.mail.threads import queries as thread_queries
from svc.principal import Principal
from svc.store import BlobCorrupt, BlobMissing, ReadTx, Store

_LOST: Final = "<p><em>The text of this message is missing or damaged on this server.</em></p>"


@dataclass(frozen=True, kw_only=True)
class _Found:
    account: Account
    message: MessageRow
    own: frozenset[str]
    signature: str
    from_address: str


@dataclass(frozen=True, kw_only=True)
class Preparer:
    store: Store
    rebuilder: Rebuilder

    async def prepare(self, principal: Principal, wanted: wire.PrepareInput) -> wire.PreparedOut:
        found = await self.store.read(_find, principal, thread_id=wanted.thread_id, message_id=wanted.message_id)
        forward = wanted.kind == "forward"
        answer = Answer(to=(), cc=())
        if not forward:
            answer = answer_to(found.message, own=found.own, everyone=wanted.kind == "replyAll")
        quote = Quote(message_id=found.message.id, kind="forward" if forward else "reply")
        subject = found.message.subject
        return wire.PreparedOut(
            account_id=found.account.id,
            to=tuple(map(mailbox_text, answer.to)),
            cc=tuple(map(mailbox_text, answer.cc)),
            subject=forward_subject(subject) if forward else reply_subject(subject),
            quote=wire.quote_out(quote),
            quoted_html=await self._shown(found.message, quote),
            attachments=_carried(found.message) if forward else (),
            signature=found.signature,
            from_address=found.from_address,
        )

    async def _shown(self, message: MessageRow, quote: Quote) -> str:
        """The quote as it will be sent, without its pictures: only the sent mail contains them."""
        try:
            return (await self.rebuilder.quoted(snapshot(message, quote, inline=()), images={})).html
        except (BlobMissing, BlobCorrupt):
            return _LOST


def _find(tx: ReadTx, principal: Principal, *, thread_id: str | None, message_id: str | None) -> _Found:
    message = _message(tx, principal, thread_id=thread_id, message_id=message_id)
    account = account_of(tx, principal, message.account_id)
    return _Found(
        account=account,
        message=message,
        own=queries.addresses_of(tx, principal) | own_addresses.of_account(account),
        signature=queries.signature(tx, account.id),
        from_address=answering_address(account, message) or own_addresses.default_of(tx, account),
    )


def _message(tx: ReadTx, principal: Principal, *, thread_id: str | None, message_id: str | None) -> MessageRow:
    if thread_id is None and message_id is None:
        raise Invalid("Say which message: threadId, or messageId.")
    if thread_id is not None:
        thread = thread_queries.thread_for(tx, principal, thread_id=thread_id)
        if thread is None:
            raise NotFound("There is no such thread.")
        thread_id = thread.id
    if message_id is not None:
        named = thread_queries.message_for(tx, principal, message_id=message_id)
        if named is None or thread_id not in (None, named.thread_id):
            raise NotFound("There is no such message.")
        return named
    assert thread_id is not None
    messages = thread_queries.messages_of(tx, thread_id)
    written = [one for one in messages if DRAFT not in one.labels] or messages
    if not written:
        raise NotFound("There is no such message.")
    return written[-1]


def _carried(message: MessageRow) -> tuple[wire.AttachedOut, ...]:
    """The attachments of a forward. The pictures in the text are part of the quote."""
    files = (one for one in message.headers.attachments if not (one.inline and one.content_id))
    return tuple(map(wire.attachment_out, files))
