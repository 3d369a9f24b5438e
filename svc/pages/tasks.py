"""The indexer of pages: updates the search index a moment after a page is made, changed or deleted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from svc.nursery import Child, Subsystem, Wake, open_task_group
from svc.pages import search_index
from svc.pages.news import TOPIC
from svc.store import Store
from svc.workspace import Workspace


def indexer(workspace: Workspace) -> Subsystem:
    return Subsystem(name="page-search", run=_indexing(workspace.store))


def _indexing(store: Store) -> Callable[[Child], Awaitable[None]]:
    async def run(child: Child) -> None:
        child.started()
        wake = Wake()
        async with open_task_group() as nursery:
            nursery.start_soon(store.outbox.wake_on, lambda row: row.topic == TOPIC, wake.call)
            while True:
                await wake.wait()
                await catch_up(store)

    return run


async def catch_up(store: Store) -> None:
    """Process the whole queue. An empty queue costs one read and no write."""
    if await store.read_small(search_index.has_waiting):
        while await store.write(search_index.take):
            pass
