"""What search adds to mail's rows: its services, and the indexer as a subsystem."""

from __future__ import annotations

from svc.mail.search import actions
from svc.mail.search.procedures import Search
from svc.mail.search.settings import INDEX_DEBOUNCE_MS
from svc.mail.search.tasks import Indexer
from svc.nursery import Subsystem
from svc.store import Tx
from svc.workspace import Workspace


def reindex(tx: Tx) -> None:
    """Have the whole index made anew, from the stored bodies: the service does so in the background."""
    actions.outdate(tx)


def build(workspace: Workspace) -> None:
    indexer = Indexer(
        store=workspace.store,
        blobs=workspace.blobs,
        threads=workspace.threads,
        log=workspace.log,
        debounce_s=workspace.config[INDEX_DEBOUNCE_MS] / 1_000,
    )
    workspace.provide(indexer)
    workspace.provide(Search(store=workspace.store, indexer=indexer))


def subsystem(workspace: Workspace) -> Subsystem:
    return Subsystem(name="mail-search", run=workspace.service(Indexer).run)
