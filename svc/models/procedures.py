"""The procedures of models: which model is asked, what has been spent, and the ceilings."""

from __future__ import annotations

from svc import runs
from svc.clock import DAY_MS
from svc.errors import NotFound
from svc.models import ledger, wire
from svc.models.service import Models
from svc.models.wire import CeilingsOut, PriceOut, RunCostOut, RunInput, UsageOut
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.store import ReadTx
from svc.worker.models import vendor_of
from svc.workspace import RequestContext

MONTH_MS = 30 * DAY_MS


async def usage(context: RequestContext, wanted: Nothing) -> UsageOut:
    return await context.workspace.store.read(_usage, context.principal, models=context.workspace.service(Models))


def _usage(tx: ReadTx, principal: Principal, *, models: Models) -> UsageOut:
    price = models.price(models.name)
    today = tx.now - tx.now % DAY_MS
    return UsageOut(
        model=models.name,
        vendor=vendor_of(models.name)[0],
        problem=models.problem(tx),
        price=PriceOut(input=price.input, output=price.output),
        ceilings=wire.ceilings_out(ledger.ceilings(tx)),
        today=wire.spent_out(ledger.spent(tx, since=today, principal=principal)),
        month=wire.spent_out(ledger.spent(tx, since=today - MONTH_MS, principal=principal)),
        everybody=wire.spent_out(ledger.spent(tx, since=today)) if principal.is_admin else None,
    )


async def set_ceilings(context: RequestContext, wanted: CeilingsOut) -> Nothing:
    await context.workspace.store.write(ledger.set_ceilings, wanted.ceilings())
    return NOTHING


async def of_run(context: RequestContext, wanted: RunInput) -> RunCostOut:
    return await context.workspace.store.read(_of_run, context.principal, run_id=wanted.run_id)


def _of_run(tx: ReadTx, principal: Principal, *, run_id: str) -> RunCostOut:
    if runs.mine(tx, principal, run_id) is None:
        raise NotFound("There is no such run.")
    most = ledger.ceilings(tx).run_micros
    own = ledger.run_ceiling(tx, run_id)
    return RunCostOut(
        spent=wire.spent_out(ledger.spent_by_run(tx, run_id)),
        ceiling_usd=(most if own is None else min(own, most)) / ledger.MICROS,
    )


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="models.usage",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=UsageOut,
        call=usage,
        summary="Which model is asked, what it costs, what the caller's runs have spent, and the ceilings.",
    ),
    Procedure(
        name="models.ofRun",
        kind="query",
        access="authenticated",
        input=RunInput,
        output=RunCostOut,
        call=of_run,
        summary="What a run of the caller has cost so far, and what it may.",
    ),
    Procedure(
        name="models.setCeilings",
        kind="mutation",
        access="admin",
        input=CeilingsOut,
        output=Nothing,
        call=set_ceilings,
        summary="Set up to where models may cost: a day and a run, in dollars, and in tokens.",
    ),
)
