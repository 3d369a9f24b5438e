"""The procedures of search by meaning."""

from __future__ import annotations

from functools import partial
from typing import Final, cast

from svc import mail
from svc.clock import rfc3339
from svc.errors import NotConfigured
from svc.mail import SearchInput
from svc.meaning import calls, queue, searching, wire
from svc.meaning.form import form_named, form_of, problem
from svc.meaning.queue import PAGES, owner_key
from svc.meaning.tasks import Embedder
from svc.meaning.texts import CHARS_A_TOKEN, HEAD_CHARS, MAIL_CHARS, PAGE_CHARS
from svc.models import Models, ceilings, spent_by_run
from svc.principal import Principal
from svc.protocol import Nothing, Procedure
from svc.runs import Dispatcher, progress_of
from svc.store import ReadTx, Tx
from svc.worker.meaning import INDEX
from svc.workspace import RequestContext, Workspace

SAMPLE: Final = 300
"""Newest messages in a sample; its average is taken for all messages."""


async def search(context: RequestContext, wanted: wire.MeaningInput) -> wire.MeaningOut:
    asked = SearchInput(
        query=wanted.query, limit=wanted.limit, account_id=wanted.account_id, time_zone=wanted.time_zone
    )
    found = await searching.search(context.workspace, context.principal, asked)
    pages = tuple(
        wire.MeantPageOut(
            id=page.id, path=page.path, title=page.title, snippet=page.snippet, updated_at=rfc3339(page.updated_at)
        )
        for page in found.pages
    )
    return wire.MeaningOut(
        threads=found.threads, pages=pages, near=found.near, notices=found.notices, problem=found.problem
    )


async def state(context: RequestContext, wanted: Nothing) -> wire.MeaningStateOut:
    return await context.workspace.store.read(_state, context.principal, workspace=context.workspace)


def _state(tx: ReadTx, principal: Principal, *, workspace: Workspace) -> wire.MeaningStateOut:
    user_id = principal.user_id
    form, models = form_of(workspace), workspace.service(Models)
    run_id = calls.active(tx, user_id)
    last = run_id or _last_run(tx, user_id)
    told = progress_of(tx, run_id) if run_id else None
    on = queue.is_on(tx, user_id)
    mails, pages, read = _counts(tx, user_id, form=form.name)
    return wire.MeaningStateOut(
        on=on,
        model=form.model,
        is_own_server=models.b_is_elsewhere,
        problem=problem(workspace, tx),
        waiting_for=workspace.service(Embedder).problem if on else "",
        items=mails + pages,
        read=read,
        before=_before(tx, user_id, form=form.name) if on else None,
        waiting=cast(int, tx.value("select count(*) from meaning_queue where owner_id = :id", id=owner_key(user_id))),
        run_id=run_id,
        last_run_id=last,
        last_problem=_why_failed(tx, last) if last else "",
        progress=wire.MeaningProgressOut(done=told[0], total=told[1]) if told else None,
        micros=spent_by_run(tx, last).micros if last else 0,
        expected=_expected(tx, user_id, mails=mails, pages=pages, read=read, models=models, model=form.model),
    )


def _last_run(tx: ReadTx, user_id: str | None) -> str | None:
    found = tx.value(
        """
        select id from runs where workflow = :workflow and user_id is :user_id order by created_at desc, id desc limit 1
        """,
        workflow=INDEX.name,
        user_id=user_id,
    )
    return cast("str | None", found)


def _why_failed(tx: ReadTx, run_id: str) -> str:
    """Empty if the run did not fail."""
    found = tx.value("select error ->> '$.message' from runs where id = :id and state = 'failed'", id=run_id)
    return cast("str | None", found) or ""


def _counts(tx: ReadTx, user_id: str | None, *, form: str) -> tuple[int, int, int]:
    """The person's own mails and pages that can be read, and how many of them have vectors."""
    mails = tx.value(
        f"""
        select count(*) from mail_messages m where {queue.GOES} and m.account_id in (
            select id from mail_accounts where owner_id is :user_id and not erasing
        )
        """,
        user_id=user_id,
    )
    pages = tx.value("select count(*) from pages where owner_id is :user_id and kind = 'page'", user_id=user_id)
    return cast(int, mails), cast(int, pages), _read(tx, user_id, form=form)


def _before(tx: ReadTx, user_id: str | None, *, form: str) -> wire.MeaningBeforeOut | None:
    searched = queue.searched_form(tx, user_id)
    if searched is None or searched == form:
        return None
    return wire.MeaningBeforeOut(model=form_named(searched).model, read=_read(tx, user_id, form=searched))


def _read(tx: ReadTx, user_id: str | None, *, form: str) -> int:
    found = tx.value(
        """
        select (select count(distinct v.message_id) from meaning_vectors v join mail_accounts a on a.id = v.space
                where a.owner_id is :user_id and v.form = :form)
            + (select count(distinct v.page_id) from meaning_vectors v join pages p on p.id = v.page_id
                where v.space = :pages and p.owner_id is :user_id and v.form = :form)
        """,
        user_id=user_id,
        form=form,
        pages=PAGES,
    )
    return cast(int, found)


def _expected(
    tx: ReadTx, user_id: str | None, *, mails: int, pages: int, read: int, models: Models, model: str
) -> wire.ExpectedOut:
    """An estimate that is rather too high: quotations are counted, although they are not read."""
    chars = mail.body_chars(tx, user_id, sample=SAMPLE, most_chars=MAIL_CHARS + HEAD_CHARS)
    page_chars = tx.value(
        """
        select coalesce(sum(min(length(s.body) + length(s.title), :most)), 0)
        from pages p join page_search s on s.page_id = p.id where p.owner_id is :user_id and p.kind = 'page'
        """,
        user_id=user_id,
        most=PAGE_CHARS,
    )
    whole = (mails * chars + cast(int, page_chars)) / CHARS_A_TOKEN
    left = max(mails + pages - read, 0)
    tokens = round(whole * left / (mails + pages)) if left else 0
    micros = models.price(f"b/{model}").micros(tokens, 0)
    return wire.ExpectedOut(items=left, tokens=tokens, micros=micros, ceiling=ceilings(tx).run_micros)


async def switch(context: RequestContext, wanted: wire.SwitchInput) -> wire.BegunOut:
    workspace = context.workspace
    user_id = context.principal.user_id
    run_id = await workspace.store.write(partial(_switch, workspace=workspace), user_id, on=wanted.on)
    workspace.service(Embedder).try_again()
    workspace.service(Dispatcher).wake.call()
    return wire.BegunOut(run_id=run_id)


def _switch(tx: Tx, user_id: str | None, *, on: bool, workspace: Workspace) -> str | None:
    if on and (reason := problem(workspace, tx)):
        raise NotConfigured(reason, data={"reason": "not_configured"})
    queue.switch(tx, user_id, on=on)
    running = calls.active(tx, user_id)
    if not on:
        return None
    return running or calls.start(tx, user_id, workspace=workspace)


async def index(context: RequestContext, wanted: Nothing) -> wire.BegunOut:
    workspace = context.workspace
    run_id = await workspace.store.write(partial(calls.start, workspace=workspace), context.principal.user_id)
    workspace.service(Embedder).try_again()
    workspace.service(Dispatcher).wake.call()
    return wire.BegunOut(run_id=run_id)


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="meaning.search",
        kind="query",
        access="authenticated",
        input=wire.MeaningInput,
        output=wire.MeaningOut,
        call=search,
        is_costly=True,
        summary="Find threads and pages by what they are about and by their words, the best first.",
    ),
    Procedure(
        name="meaning.state",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=wire.MeaningStateOut,
        call=state,
        summary="Whether the caller's mail and pages can be found by meaning, how many are, and what the rest costs.",
    ),
    Procedure(
        name="meaning.switch",
        kind="mutation",
        access="authenticated",
        input=wire.SwitchInput,
        output=wire.BegunOut,
        call=switch,
        summary="Let the caller's own mail and pages be found by meaning, and begin to read them; or forget it all.",
    ),
    Procedure(
        name="meaning.index",
        kind="mutation",
        access="authenticated",
        input=Nothing,
        output=wire.BegunOut,
        call=index,
        summary="Read what of the caller's mail and pages has not been read, as a run; nothing is paid for twice.",
    ),
)
