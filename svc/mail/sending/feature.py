"""Registers sending with the mail feature: its services, its steps at boot and claim, its job and its subsystem."""

from __future__ import annotations

from typing import Final

from svc.clock import Millis
from svc.job import Job
from svc.mail.sending import settling
from svc.mail.sending.building import Builder
from svc.mail.sending.draft_copying import DraftCopier
from svc.mail.sending.following import Following
from svc.mail.sending.preparing import Preparer
from svc.mail.sending.rebuilding import Rebuilder
from svc.mail.sending.settings import UNDO_SEND_SECONDS
from svc.mail.sending.taking_up import TakingUp
from svc.mail.sending.tasks import JOB as NAME
from svc.mail.sending.tasks import Delivery
from svc.mail.sync.engine import MailEngine
from svc.nursery import Subsystem
from svc.scheduler import Scheduler
from svc.settings import DRAIN_S
from svc.store import Tx
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    rebuilder = Rebuilder(
        blobs=workspace.blobs, threads=workspace.threads, processes=workspace.processes, log=workspace.log
    )
    builder = Builder(
        store=workspace.store,
        blobs=workspace.blobs,
        threads=workspace.threads,
        rebuilder=rebuilder,
        clock=workspace.clock,
    )
    delivery = Delivery(
        store=workspace.store,
        blobs=workspace.blobs,
        engine=workspace.service(MailEngine),
        steps=workspace.service(MailEngine).steps,
        builder=builder,
        scheduler=workspace.service(Scheduler),
        clock=workspace.clock,
        rng=workspace.rng,
        hold_ms=workspace.config[UNDO_SEND_SECONDS] * 1_000,
    )
    taking_up = TakingUp(store=workspace.store, blobs=workspace.blobs, rebuilder=rebuilder)
    copier = DraftCopier(
        store=workspace.store,
        engine=workspace.service(MailEngine),
        builder=builder,
        following=Following(store=workspace.store, taking_up=taking_up),
        scheduler=workspace.service(Scheduler),
        clock=workspace.clock,
        rng=workspace.rng,
    )
    workspace.service(MailEngine).watchers.extend((copier.look, delivery.look))
    workspace.provide(copier)
    workspace.provide(rebuilder)
    workspace.provide(taking_up)
    workspace.provide(Preparer(store=workspace.store, rebuilder=rebuilder))
    workspace.provide(delivery)


def boot(workspace: Workspace) -> None:
    """Runs before everything else: mails that were on their way when the last process ended become uncertain."""
    workspace.store.write_now(settling.recover)


def claim(tx: Tx, user_id: str) -> None:
    tx.run("update mail_outgoing set owner_id = :user_id where owner_id is null", user_id=user_id)
    tx.run("update mail_drafts set owner_id = :user_id where owner_id is null", user_id=user_id)


async def _tick(workspace: Workspace) -> Millis | None:
    return await workspace.service(Delivery).tick()


JOB: Final = Job(name=NAME, summary="Sends what is due, and mends what a dead task left behind.", run=_tick)


def subsystem(workspace: Workspace) -> Subsystem:
    """Stops before the accounts' loops do, because it uses their providers."""
    delivery = workspace.service(Delivery)
    return Subsystem(name="mail-sending", run=delivery.run, drain_s=float(workspace.config[DRAIN_S]))
