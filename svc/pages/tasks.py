"""The indexer of pages: updates the search index a moment after a page is made, changed or deleted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

from svc.nursery import Child, Subsystem
from svc.pages import search_index
from svc.pages.news import TOPIC
from svc.store import Overflowed, Store
from svc.workspace import Workspace


def indexer(workspace: Workspace) -> Subsystem:
    return Subsystem(name="page-search", run=_indexing(workspace.store))


def _indexing(store: Store) -> Callable[[Child], Awaitable[None]]:
    async def run(child: Child) -> None:
        child.started()
        while True:
            with store.outbox.subscribe() as news, suppress(Overflowed):
                await catch_up(store)  # with the changes made before the subscription
                while True:
                    if any(row.topic == TOPIC for row in await news.receive()):
                        await catch_up(store)

    return run


async def catch_up(store: Store) -> None:
    """Process the whole queue. An empty queue costs one read and no write."""
    if await store.read_small(search_index.has_waiting):
        while await store.write(search_index.take):
            pass
