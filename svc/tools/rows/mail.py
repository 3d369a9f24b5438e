"""``mail.search|read|draft|send``: the owner's mail. All text read in it is from outside."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from svc import mail, meaning
from svc.errors import Invalid
from svc.formats.html import text_to_html
from svc.inert import inert
from svc.mail import FoundThreadOut, SendRequest
from svc.principal import Principal
from svc.store import ReadTx, Tx
from svc.tools.cards import recipients, row
from svc.tools.model import CardRow, Outcome, Tool, ToolInput
from svc.workspace import Workspace

OUTSIDE: Final = "mail"
MAX_MESSAGES: Final = 50
"""Messages of a thread that a tool reads. Beyond: the newest ones."""
MAX_TEXT_CHARS: Final = 20_000
"""Characters of one message. Beyond: it is cut, and says so."""
REPLY_ELSEWHERE: Final = "the mail that it answers asks for replies at an address other than its sender's"

Text = Annotated[str, msgspec.Meta(max_length=200_000)]
Addresses = Annotated[tuple[Annotated[str, msgspec.Meta(max_length=1_000)], ...], msgspec.Meta(max_length=200)]


class SearchInput(ToolInput, frozen=True):
    query: Annotated[str, msgspec.Meta(max_length=1_000)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=50)] = 20


class ReadInput(ToolInput, frozen=True):
    thread_id: str


class WriteInput(ToolInput, frozen=True):
    """``account_id``: the account to send from. Without it: the thread's account, or the only account."""

    subject: Annotated[str, msgspec.Meta(max_length=2_000)]
    text: Text
    to: Addresses = ()
    cc: Addresses = ()
    bcc: Addresses = ()
    reply_to: str | None = None
    account_id: str | None = None


async def _search(workspace: Workspace, principal: Principal, wanted: SearchInput) -> Outcome:
    """By words, and also by meaning if the owner has switched that on."""
    near: tuple[str, ...] = ()
    threads: tuple[FoundThreadOut, ...]
    if await meaning.is_on(workspace, principal):
        asked = mail.SearchInput(query=wanted.query, limit=wanted.limit)
        mixed = await meaning.search(workspace, principal, asked)
        threads, near, more = mixed.threads, mixed.near, len(mixed.threads) == wanted.limit
    else:
        found = await mail.search(workspace, principal, query=wanted.query, limit=wanted.limit)
        threads, more = found.threads, found.next_cursor is not None
    listed = [
        {
            "threadId": one.id,
            "accountId": one.account_id,
            "subject": one.subject,
            "from": f"{one.sender.name} <{one.sender.address}>",
            "at": one.last_message_at,
            "snippet": one.snippet,
            **({"near": True} if one.id in near else {}),
        }
        for one in threads
    ]
    return Outcome(output={"threads": listed, "more": more}, outside=OUTSIDE)


async def _read(workspace: Workspace, principal: Principal, wanted: ReadInput) -> Outcome:
    found = await mail.read_thread(workspace, principal, thread_id=wanted.thread_id)
    messages = [
        {
            "from": f"{one.from_.name} <{one.from_.address}>",
            "to": [person.address for person in one.to],
            "cc": [person.address for person in one.cc],
            "sentAt": one.sent_at,
            "subject": one.subject,
            "text": _cut(inert(one.text)),
            "warnings": list(one.warnings),
            "attachments": [{"filename": each.filename, "fileId": each.file_id} for each in one.attachments],
        }
        for one in found.messages[-MAX_MESSAGES:]
    ]
    said = {"threadId": wanted.thread_id, "accountId": found.thread.account_id, "messages": messages}
    return Outcome(output=said, outside=OUTSIDE)


def _cut(text: str) -> str:
    left = len(text) - MAX_TEXT_CHARS
    return text if left <= 0 else f"{text[:MAX_TEXT_CHARS]}\n[{left} characters more]"


def _draft(workspace: Workspace, tx: Tx, principal: Principal, wanted: WriteInput) -> Outcome:
    saved = mail.save_draft(tx, principal, draft_id=None, version=None, request=_request(tx, principal, wanted))
    return Outcome(output={"draftId": saved.id})


def _send(workspace: Workspace, tx: Tx, principal: Principal, wanted: WriteInput) -> Outcome:
    accepted = mail.send(
        tx,
        principal,
        request=_request(tx, principal, wanted),
        send_at=None,
        draft_id=None,
        hold_ms=mail.hold_ms(workspace),
    )
    return Outcome(output={"outgoingId": accepted.id, "state": accepted.state})


def _request(tx: ReadTx, principal: Principal, wanted: WriteInput) -> SendRequest:
    """The mail as its card shows it: what is left out there does not go, either."""
    return SendRequest(
        account_id=_account_id(tx, principal, wanted),
        to=wanted.to,
        cc=wanted.cc,
        bcc=wanted.bcc,
        subject=inert(_one_line(wanted.subject)),
        html=text_to_html(inert(wanted.text)),
        attachments=(),
        thread_id=wanted.reply_to,
        quote=None,
    )


def _one_line(subject: str) -> str:
    return " ".join(subject.split())


def _account_id(tx: ReadTx, principal: Principal, wanted: WriteInput) -> str:
    if wanted.account_id is not None:
        return wanted.account_id
    if wanted.reply_to is not None:
        thread = mail.thread_for(tx, principal, thread_id=wanted.reply_to)
        if thread is not None:
            return thread.account_id
    own = [one for one in mail.accounts(tx, principal) if mail.kind_of(one).sends]
    if len(own) != 1:
        known = ", ".join(f"{one.id} ({one.address})" for one in own[:10]) or "none"
        raise NoAccount(f"Say which account it is from, by accountId: {known}.")
    return own[0].id


class NoAccount(Invalid):
    """The call does not say which of several accounts is meant."""


def _send_sink(tx: ReadTx, principal: Principal, wanted: WriteInput) -> str | None:
    return "It sends a mail in your name."


def _draft_sink(tx: ReadTx, principal: Principal, wanted: WriteInput) -> str | None:
    """A draft in one's own mailbox is a private note. In a shared mailbox others see it, and may send it."""
    account = mail.account_for(tx, principal, account_id=_account_id(tx, principal, wanted), to="act")
    if account is None:
        return None
    if account.owner_id not in {None, principal.user_id}:
        return "The mailbox is somebody else's, who sees the draft."
    return "The mailbox is shared with others, who see the draft." if mail.shared_count(tx, account.id) else None


def _send_card(tx: ReadTx, principal: Principal, wanted: WriteInput) -> tuple[CardRow, ...]:
    request = _request(tx, principal, wanted)
    account = mail.account_for(tx, principal, account_id=request.account_id, to="read")
    rows = [row("From", account.address if account else request.account_id)]
    for label, texts in (("To", wanted.to), ("Cc", wanted.cc), ("Bcc", wanted.bcc)):
        rows += recipients(tx, principal, label, texts)
    rows += [row("Subject", _one_line(wanted.subject)), row("Text", wanted.text)]
    if wanted.reply_to is not None:
        rows.append(_answered(tx, principal, wanted.reply_to))
    return tuple(rows)


def _checked_card(tx: ReadTx, principal: Principal, wanted: WriteInput) -> tuple[CardRow, ...]:
    """Nobody is asked about a mail that can't go to whom it names."""
    mail.checked_recipients(_request(tx, principal, wanted))
    return _send_card(tx, principal, wanted)


def _answered(tx: ReadTx, principal: Principal, thread_id: str) -> CardRow:
    thread = mail.thread_for(tx, principal, thread_id=thread_id)
    if thread is None:
        return row("Answers", thread_id, "there is no such thread")
    messages = mail.messages_of(tx, thread.id)
    elsewhere = any(
        person.address.lower() != one.sender.address.lower() for one in messages for person in one.headers.reply_to
    )
    return row("Answers", thread.subject, *((REPLY_ELSEWHERE,) if elsewhere else ()))


TOOLS: Final = (
    Tool(
        name="mail.search",
        summary="Find mail threads by their words, people and dates, or by what they are about (near).",
        input=SearchInput,
        level="mail",
        perform=_search,
        reads_outside=OUTSIDE,
    ),
    Tool(
        name="mail.read",
        summary="Read a mail thread: its messages as text.",
        input=ReadInput,
        level="mail",
        perform=_read,
        reads_outside=OUTSIDE,
    ),
    Tool(
        name="mail.draft",
        summary="Save a mail as a draft, which its owner checks and sends.",
        input=WriteInput,
        level="full",
        decide=_draft,
        sink=_draft_sink,
        card=_send_card,
        after=mail.carry_on,
    ),
    Tool(
        name="mail.send",
        summary="Send a mail in its owner's name. replyTo is the id of the thread that it answers.",
        input=WriteInput,
        level="full",
        decide=_send,
        sink=_send_sink,
        card=_checked_card,
        after=mail.carry_on,
    ),
)
