"""The ``fake.mail.*`` hooks: put mail into the fake mailboxes and drive their sync, for tests and demos.

They exist only under ``PROVIDERS=fake``; otherwise they answer like an unknown procedure.
"""

from __future__ import annotations

import base64

from svc.errors import NotFound
from svc.fakes.mail.provider import FakeWorld
from svc.fakes.mail.wire import AddressInput, FaultInput, InjectInput, InjectOut, SentOut, SetLabelsInput
from svc.formats import mime
from svc.mail import account_by_address, connect_account, start_account, thread_id_of
from svc.mail import sync_now as sync_account
from svc.protocol import NOTHING, Nothing, Procedure
from svc.workspace import RequestContext


async def inject(context: RequestContext, wanted: InjectInput) -> InjectOut:
    """A new message arrives in the mailbox; the next sync brings it in. An unknown address becomes a new account."""
    from svc.fakes.mail.injected import raw_message  # imported late: it loads the writers of `email`

    workspace = context.workspace
    raw = await workspace.threads.run(raw_message, wanted)  # a long subject takes a while to encode
    message_id, provider_thread_id = await _world(context).inject(
        address=wanted.address,
        raw=raw,
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
