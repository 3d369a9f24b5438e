"""Registers search with the mail feature: its services, and the indexer as a subsystem."""

from __future__ import annotations

from functools import partial

from svc.mail.search.following import CONSUMER
from svc.mail.search.procedures import Search
from svc.mail.search.settings import INDEX_DEBOUNCE_MS
from svc.mail.search.tasks import Indexer
from svc.nursery import Subsystem
from svc.store import Following
from svc.workspace import Workspace


def build(workspace: Workspace) -> None:
    indexer = Indexer(
        store=workspace.store,
        blobs=workspace.blobs,
        threads=workspace.threads,
        processes=workspace.processes,
        log=workspace.log,
        follow=partial(workspace.service(Following).catch_up, CONSUMER.name),
        debounce_s=workspace.config[INDEX_DEBOUNCE_MS] / 1_000,
    )
    workspace.provide(indexer)
    workspace.provide(Search(store=workspace.store, indexer=indexer))


def subsystem(workspace: Workspace) -> Subsystem:
    return Subsystem(name="mail-search", run=workspace.service(Indexer).run)
