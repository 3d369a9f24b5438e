"""A step on all that match, as the service takes it: select, act, and work it off batch by batch."""

from __future__ import annotations

from typing import Final

from svc import undo
from svc.mail.bulk import actions
from svc.mail.bulk.choosing import Chooser
from svc.mail.bulk.feature import REVERSAL
from svc.mail.bulk.model import BulkAct, BulkStep
from svc.mail.bulk.wire import SelectAllInput, SelectedOut
from svc.mail.labelling.reversals import REVERSAL as LABELS
from svc.mail.search.procedures import Search
from svc.principal import Principal
from svc.undo import TakenBack
from tests.support.mailbox import Rig

REVERSALS: Final = {REVERSAL.kind: REVERSAL, LABELS.kind: LABELS}


async def select(rig: Rig, wanted: SelectAllInput, principal: Principal | None = None) -> SelectedOut:
    indexer = rig.indexer()
    await indexer.catch_up()
    chooser = Chooser(store=rig.store, search=Search(store=rig.store, indexer=indexer))
    return await chooser.choose(principal or rig.principal, wanted)


async def start(rig: Rig, chosen: SelectedOut, act: BulkAct, principal: Principal | None = None) -> BulkStep:
    return await rig.store.write(actions.start, principal or rig.principal, step_id=chosen.id, act=act)


async def work_off(rig: Rig) -> None:
    while await rig.store.write(actions.go_on):
        pass


async def do(rig: Rig, wanted: SelectAllInput, act: BulkAct) -> SelectedOut:
    chosen = await select(rig, wanted)
    await start(rig, chosen, act)
    await work_off(rig)
    return chosen


async def take_back(rig: Rig) -> TakenBack | None:
    taken = await rig.store.write(undo.take_back, rig.principal, reversals=REVERSALS)
    await work_off(rig)
    return taken
