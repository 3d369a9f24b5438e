"""The indexer of pages: a moment after a page was made, changed or deleted, the search knows."""

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
                await catch_up(store)  # with what was told before
                while True:
                    if any(row.topic == TOPIC for row in await news.receive()):
                        await catch_up(store)

    return run


async def catch_up(store: Store) -> None:
    """Work off all that waits. What asks costs a read, and nothing is written where nothing waits."""
    if await store.read_small(search_index.has_waiting):
        while await store.write(search_index.take):
            pass
