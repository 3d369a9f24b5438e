"""The procedures of triage."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from svc import mail
from svc.mail import Cursor, ThreadRow, ThreadsOut, decode_cursor, encode_cursor_at, thread_summaries
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure, Wire
from svc.store import ReadTx, Tx
from svc.triage import actions, following, queries
from svc.triage.model import By, Kind
from svc.triage.queries import owner_of
from svc.workspace import RequestContext

LOOKED_AT: Final = 500
"""Threads of a kind that one page looks at. Beyond: the page is shorter than asked for, and the next one goes on."""
MAX_THREADS: Final = 200
"""Threads in one request. Beyond: 400 `invalid`."""
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class LearnedOut(Wire, frozen=True):
    address: str
    kind: Kind


class TriageOut(Wire, frozen=True):
    """``learned``: the caller's corrections, by sender."""

    enabled: bool
    asks_model: bool
    learned: tuple[LearnedOut, ...]


class SetInput(Wire, frozen=True):
    """``asks_model``: whether a model is asked where the rules are not sure."""

    enabled: bool
    asks_model: bool = False


class ThreadsInput(Wire, frozen=True):
    kind: Kind
    account_id: Id | None = None
    cursor: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_THREADS)] = 50


class OfInput(Wire, frozen=True):
    thread_ids: Annotated[tuple[Id, ...], msgspec.Meta(max_length=MAX_THREADS)]


class KindOut(Wire, frozen=True):
    thread_id: str
    kind: Kind
    by: By
    because: str


class CorrectInput(Wire, frozen=True):
    thread_id: Id
    kind: Kind


class CorrectedOut(Wire, frozen=True):
    """``learned``: the sender whose mail gets this kind from now on; ``None`` where nothing is remembered."""

    learned: str | None


class AddressInput(Wire, frozen=True):
    address: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


async def get(context: RequestContext, wanted: Nothing) -> TriageOut:
    return await context.workspace.store.read(_get, context.principal)


def _get(tx: ReadTx, principal: Principal) -> TriageOut:
    owner = owner_of(principal)
    asks_model = queries.asks_model(tx, owner)
    return TriageOut(
        enabled=asks_model is not None,
        asks_model=bool(asks_model),
        learned=tuple(LearnedOut(address=address, kind=kind) for address, kind in queries.learned(tx, owner)),
    )


async def configure(context: RequestContext, wanted: SetInput) -> TriageOut:
    store = context.workspace.store
    was_on = (await store.read(_get, context.principal)).enabled
    await store.write(_switch, context.principal, wanted=wanted)
    if wanted.enabled and not was_on:
        await following.sort_what_is_there(context.workspace, context.principal)
    return await store.read(_get, context.principal)


def _switch(tx: Tx, principal: Principal, *, wanted: SetInput) -> None:
    queries.switch(tx, owner_of(principal), on=wanted.enabled, asks_model=wanted.asks_model)


async def threads(context: RequestContext, wanted: ThreadsInput) -> ThreadsOut:
    return await context.workspace.store.read(_threads, context.principal, wanted=wanted)


def _threads(tx: ReadTx, principal: Principal, *, wanted: ThreadsInput) -> ThreadsOut:
    rows: list[ThreadRow] = []
    cursor = decode_cursor(wanted.cursor)
    looked_at = queries.of_kind(tx, owner_of(principal), wanted.kind, cursor=cursor, limit=LOOKED_AT)
    ended = len(looked_at) < LOOKED_AT
    for one in looked_at:
        cursor = Cursor(at=one.at, id=one.thread_id)
        if wanted.account_id not in {None, one.account_id}:
            continue
        thread = mail.thread_for(tx, principal, thread_id=one.thread_id)
        if thread is None or not actions.is_listed(wanted.kind, thread):
            continue
        if wanted.account_id is None and thread.duplicate_group is not None and not thread.leads:
            continue
        rows.append(thread)
        if len(rows) == wanted.limit:
            ended = ended and one is looked_at[-1]
            break
    return ThreadsOut(
        threads=thread_summaries(tx, rows, principal),
        next_cursor=None if ended or cursor is None else encode_cursor_at(cursor),
    )


async def of(context: RequestContext, wanted: OfInput) -> list[KindOut]:
    found = await context.workspace.store.read(queries.some, owner_of(context.principal), wanted.thread_ids)
    return [KindOut(thread_id=one.thread_id, kind=one.kind, by=one.by, because=one.because) for one in found]


async def correct(context: RequestContext, wanted: CorrectInput) -> CorrectedOut:
    learned = await context.workspace.store.write(
        actions.correct, context.principal, thread_id=wanted.thread_id, kind=wanted.kind
    )
    return CorrectedOut(learned=learned)


async def forget(context: RequestContext, wanted: AddressInput) -> Nothing:
    await context.workspace.store.write(actions.forget, context.principal, address=wanted.address)
    return NOTHING


PROCEDURES: Final[tuple[Procedure[RequestContext], ...]] = (
    Procedure(
        name="triage.get",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=TriageOut,
        call=get,
        summary="Whether the caller's mail is sorted by kind, and what their corrections say of senders.",
    ),
    Procedure(
        name="triage.set",
        kind="mutation",
        access="authenticated",
        input=SetInput,
        output=TriageOut,
        call=configure,
        summary="Switch triage on or off, and say whether a model is asked where the rules are not sure.",
    ),
    Procedure(
        name="triage.threads",
        kind="query",
        access="authenticated",
        input=ThreadsInput,
        output=ThreadsOut,
        call=threads,
        summary="A page of the threads of one kind, newest first: those in the inbox; of `waiting` all.",
    ),
    Procedure(
        name="triage.of",
        kind="query",
        access="authenticated",
        input=OfInput,
        output=list[KindOut],
        call=of,
        summary="Of what kind some threads are, and why.",
    ),
    Procedure(
        name="triage.correct",
        kind="mutation",
        access="authenticated",
        input=CorrectInput,
        output=CorrectedOut,
        call=correct,
        summary="Say of what kind a thread is; it is remembered for its sender.",
    ),
    Procedure(
        name="triage.forget",
        kind="mutation",
        access="authenticated",
        input=AddressInput,
        output=Nothing,
        call=forget,
        summary="Forget what was said of a sender.",
    ),
)
