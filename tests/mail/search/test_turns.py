"""Searches take turns; who would wait too long is told, and nobody waits in silence."""

from __future__ import annotations

import pytest
import trio

from svc.mail.search.procedures import SEARCHES_AT_A_TIME, TURN_WAIT_S, Search
from tests.service import RpcError, Service


async def test_a_search_that_gets_no_turn_is_refused_in_time_and_the_next_one_is_served(service: Service) -> None:
    turns = service.workspace.service(Search)._turns
    holders = [object() for _ in range(SEARCHES_AT_A_TIME)]
    for holder in holders:
        await turns.acquire_on_behalf_of(holder)
    began = trio.current_time()
    with pytest.raises(RpcError, match="Too many searches"):
        await service.query("mail.search", query="hello")
    assert trio.current_time() - began == TURN_WAIT_S
    for holder in holders:
        turns.release_on_behalf_of(holder)
    assert (await service.query("mail.search", query="hello"))["threads"] == []
    assert turns.borrowed_tokens == 0


async def test_searches_at_once_share_one_look_at_what_waits_for_the_index(service: Service) -> None:
    """Under a synchronous index each search first sees to it that everything can be found."""
    await service.synced("Hello")
    indexer = service.workspace.service(Search).indexer
    follow, followed = indexer.follow, []

    async def counted() -> None:
        followed.append(trio.current_time())
        await follow()

    indexer.follow = counted
    async with trio.open_nursery() as nursery:
        for _ in range(2 * SEARCHES_AT_A_TIME):
            nursery.start_soon(found_one, service)
    assert len(followed) == 2  # the first one's, and one that all who came during it share


async def found_one(service: Service) -> None:
    assert len((await service.query("mail.search", query="hello"))["threads"]) == 1


async def test_a_turn_that_failed_is_shared_by_nobody(service: Service) -> None:
    indexer = service.workspace.service(Search).indexer
    follow, began, ended = indexer.follow, [], []

    async def second_fails() -> None:
        began.append(trio.current_time())
        await trio.sleep(1)
        if len(began) == 2:
            raise OSError("the disk failed")
        await follow()

    async def catch_up() -> None:
        try:
            await indexer.catch_up()
            ended.append("done")
        except OSError:
            ended.append("failed")

    indexer.follow = second_fails
    async with trio.open_nursery() as nursery:
        nursery.start_soon(catch_up)
        await trio.sleep(0.5)
        for _ in range(2):
            nursery.start_soon(catch_up)
    assert (len(began), ended) == (3, ["done", "failed", "done"])
