"""The ``fake.mail.*`` hooks: push mail into the fake mailboxes and drive their sync, for tests and demos.

They exist only under ``PROVIDERS=fake``; everywhere else they answer as a procedure that never was.
"""

from __future__ import annotations

import base64
import binascii
from email.header import Header
from email.message import Message
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import parseaddr
from typing import Annotated, Literal

import msgspec

from svc.errors import Invalid, NotFound
from svc.fakes.mail.provider import FakeWorld
from svc.formats import mime
from svc.mail import (
    INBOX,
    UNREAD,
    Id,
    account_by_address,
    connect_account,
    start_account,
    thread_id_of,
)
from svc.mail import sync_now as sync_account
from svc.protocol import NOTHING, Nothing, Procedure, Wire
from svc.workspace import RequestContext

Address = Annotated[str, msgspec.Meta(min_length=3, max_length=320)]
MAX_TIMES = 10_000


class FakeAttachment(Wire, frozen=True):
    """``content`` is base64; ``text`` is for those who would rather not."""

    filename: str
    mime: str = "application/octet-stream"
    content: str | None = None
    text: str | None = None


class InjectInput(Wire, frozen=True):
    address: Address
    from_: str = msgspec.field(name="from")
    subject: str
    text: str | None = None
    html: str | None = None
    thread_key: str | None = None
    labels: tuple[str, ...] = (INBOX, UNREAD)
    attachments: tuple[FakeAttachment, ...] = ()


class InjectOut(Wire, frozen=True):
    provider_message_id: str
    thread_id: str


class SetLabelsInput(Wire, frozen=True):
    address: Address
    provider_message_id: Id
    labels: tuple[str, ...]


class AddressInput(Wire, frozen=True):
    address: Address


class FaultInput(Wire, frozen=True):
    address: Address
    operation: Literal["list", "get", "history", "send", "modify"]
    fault: Literal[401, 403, 404, 429, 500, "timeout", "cut", "lost-answer"]
    times: Annotated[int, msgspec.Meta(ge=1, le=MAX_TIMES)] = 1


class SentOut(Wire, frozen=True):
    """``raw`` is base64url."""

    provider_message_id: str
    message_id: str
    to: tuple[str, ...]
    subject: str
    raw: str


async def inject(context: RequestContext, wanted: InjectInput) -> InjectOut:
    """A new message arrives in the mailbox; the next sync brings it in. An unknown address becomes a new account."""
    workspace = context.workspace
    message_id, provider_thread_id = await _world(context).inject(
        address=wanted.address,
        raw=_build(wanted),
        thread_key=wanted.thread_key,
        labels=frozenset(wanted.labels),
        stamped=True,
    )
    account = await workspace.store.read(account_by_address, wanted.address)
    if account is not None:
        account_id = account.id
    else:
        account_id = await workspace.store.write(
            connect_account, context.principal, address=wanted.address, provider="fake"
        )
        await start_account(workspace, account_id)
    return InjectOut(provider_message_id=message_id, thread_id=thread_id_of(account_id, provider_thread_id))


async def set_labels(context: RequestContext, wanted: SetLabelsInput) -> Nothing:
    await _world(context).set_labels(
        address=wanted.address, message_id=wanted.provider_message_id, labels=frozenset(wanted.labels)
    )
    return NOTHING


async def expire_history(context: RequestContext, wanted: AddressInput) -> Nothing:
    await _world(context).expire_history(address=wanted.address)
    return NOTHING


async def sync_now(context: RequestContext, wanted: AddressInput) -> Nothing:
    account = await context.workspace.store.read(account_by_address, wanted.address)
    if account is None:
        raise NotFound("There is no such mailbox.")
    await sync_account(context.workspace, account.id)
    return NOTHING


async def fault(context: RequestContext, wanted: FaultInput) -> Nothing:
    _world(context).fault(address=wanted.address, operation=wanted.operation, fault=wanted.fault, times=wanted.times)
    return NOTHING


async def sent(context: RequestContext, wanted: AddressInput) -> list[SentOut]:
    found = []
    for record in _world(context).mailbox(wanted.address).sent:
        parsed = mime.parse_message(record.raw)
        found.append(
            SentOut(
                provider_message_id=record.provider_message_id,
                message_id=parsed.message_id or "",
                to=tuple(one.address for one in (*parsed.to, *parsed.cc, *parsed.bcc)),
                subject=parsed.subject,
                raw=base64.urlsafe_b64encode(record.raw).decode(),
            )
        )
    return found


def _world(context: RequestContext) -> FakeWorld:
    return context.workspace.service(FakeWorld)


def _build(wanted: InjectInput) -> bytes:
    """The injected message as a stranger's program would have sent it."""
    bodies: list[Message] = []
    if wanted.text is not None or wanted.html is None:
        bodies.append(MIMEText(wanted.text or "", "plain", "utf-8"))
    if wanted.html is not None:
        bodies.append(MIMEText(wanted.html, "html", "utf-8"))
    root: Message = bodies[0] if len(bodies) == 1 else MIMEMultipart("alternative", _subparts=bodies)
    if wanted.attachments:
        root = MIMEMultipart("mixed", _subparts=[root, *(_attachment(one) for one in wanted.attachments)])
    name, address = parseaddr(_one_line(wanted.from_))
    root["From"] = f"{Header(name, 'utf-8').encode()} <{address}>" if name else address or _one_line(wanted.from_)
    root["To"] = wanted.address
    root["Subject"] = Header(_one_line(wanted.subject), "utf-8").encode()
    return root.as_bytes()


def _attachment(wanted: FakeAttachment) -> Message:
    try:
        content = (wanted.text or "").encode() if wanted.content is None else base64.b64decode(wanted.content)
    except binascii.Error as error:
        raise Invalid("An attachment's content is not base64.") from error
    kind, _, subtype = wanted.mime.partition("/")
    part = MIMEApplication(content, subtype or "octet-stream")
    part.replace_header("Content-Type", f"{kind}/{subtype or 'octet-stream'}")
    part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", _one_line(wanted.filename)))
    return part


def _one_line(value: str) -> str:
    return " ".join(value.split())


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="fake.mail.inject",
        kind="mutation",
        access="admin",
        input=InjectInput,
        output=InjectOut,
        call=inject,
        summary="Put a new message into a fake mailbox.",
    ),
    Procedure(
        name="fake.mail.setLabels",
        kind="mutation",
        access="admin",
        input=SetLabelsInput,
        output=Nothing,
        call=set_labels,
        summary="Change a message's labels at the fake provider.",
    ),
    Procedure(
        name="fake.mail.expireHistory",
        kind="mutation",
        access="admin",
        input=AddressInput,
        output=Nothing,
        call=expire_history,
        summary="Make the fake provider forget its history.",
    ),
    Procedure(
        name="fake.mail.syncNow",
        kind="mutation",
        access="admin",
        input=AddressInput,
        output=Nothing,
        call=sync_now,
        summary="Run one sync step and return when it has finished.",
    ),
    Procedure(
        name="fake.mail.sent",
        kind="query",
        access="admin",
        input=AddressInput,
        output=list[SentOut],
        call=sent,
        summary="What a fake mailbox accepted for sending.",
    ),
    Procedure(
        name="fake.mail.fault",
        kind="mutation",
        access="admin",
        input=FaultInput,
        output=Nothing,
        call=fault,
        summary="Make the next calls of one operation fail.",
    ),
)
