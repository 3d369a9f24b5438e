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
from tests.support.mailbox import MailSync

REVERSALS: Final = {REVERSAL.kind: REVERSAL, LABELS.kind: LABELS}


async def select(mail_sync: MailSync, wanted: SelectAllInput, principal: Principal | None = None) -> SelectedOut:
    indexer = mail_sync.indexer()
    await indexer.catch_up()
    chooser = Chooser(store=mail_sync.store, search=Search(store=mail_sync.store, indexer=indexer))
    return await chooser.choose(principal or mail_sync.principal, wanted)


async def start(mail_sync: MailSync, chosen: SelectedOut, act: BulkAct, principal: Principal | None = None) -> BulkStep:
    return await mail_sync.store.write(actions.start, principal or mail_sync.principal, step_id=chosen.id, act=act)


async def work_off(mail_sync: MailSync) -> None:
    while await mail_sync.store.write(actions.go_on):
        pass


async def do(mail_sync: MailSync, wanted: SelectAllInput, act: BulkAct) -> SelectedOut:
    chosen = await select(mail_sync, wanted)
    await start(mail_sync, chosen, act)
    await work_off(mail_sync)
    return chosen


async def take_back(mail_sync: MailSync) -> TakenBack | None:
    taken = await mail_sync.store.write(undo.take_back, mail_sync.principal, reversals=REVERSALS)
    await work_off(mail_sync)
    return taken
