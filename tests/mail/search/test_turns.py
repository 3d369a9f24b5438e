"""Searches queue; one that would wait too long is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import pytest
import trio

from svc.mail.search.procedures import SEARCHES_AT_A_TIME, TURN_WAIT_S, Search
from svc.nursery import Turns
from svc.principal import UNCLAIMED
from tests.quiet import all_quiet
from tests.support.http import HOST, read_to_end, replies
from tests.support.service import RpcError, Service

ME = UNCLAIMED.user_id or UNCLAIMED.device_id


@asynccontextmanager
async def all_turns_taken(search: Search, who: str = "somebody") -> AsyncIterator[None]:
    async with AsyncExitStack() as held:
        for _ in range(SEARCHES_AT_A_TIME):
            await held.enter_async_context(search.turns.turn(who))
        yield


async def test_a_search_that_gets_no_turn_is_refused_in_time_and_the_next_one_is_served(service: Service) -> None:
    search = service.workspace.service(Search)
    began = trio.current_time()
    with pytest.raises(RpcError, match="Too many searches"):
        async with all_turns_taken(search):
            await service.query("mail.search", query="hello")
    assert trio.current_time() - began == TURN_WAIT_S
    assert (await service.query("mail.search", query="hello"))["threads"] == []


async def test_who_asks_once_waits_for_a_few_of_who_asks_much() -> None:
    turns = Turns(at_a_time=2, each=2)
    ended: list[str] = []

    async def one(who: str) -> None:
        async with turns.turn(who):
            await trio.sleep(1)
        ended.append(who)

    async with trio.open_nursery() as nursery:
        for _ in range(64):
            nursery.start_soon(one, "mia")
        await trio.sleep(0.5)
        nursery.start_soon(one, "noa")
        await trio.sleep(2)
        assert sorted(ended) == ["mia", "mia", "mia", "noa"]
        nursery.cancel_scope.cancel()
    assert turns.asked("mia") == turns.asked("noa") == 0


async def test_a_search_whose_client_has_gone_waits_no_longer(service: Service) -> None:
    search, began = service.workspace.service(Search), trio.current_time()
    async with all_turns_taken(search):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(service.query, "mail.search", query="hello"))
            await all_quiet()
            assert search.turns.asked(ME) == 1
            nursery.cancel_scope.cancel()  # it closes its connection
        await all_quiet()
        assert search.turns.asked(ME) == 0
    assert trio.current_time() - began < TURN_WAIT_S


async def test_what_a_client_sends_ahead_while_its_search_waits_is_answered_in_order(service: Service) -> None:
    search = service.workspace.service(Search)
    stream = await service.listener.connect()
    async with all_turns_taken(search):
        await stream.send_all(get("/trpc/mail.search?input=%7B%22query%22%3A%22hello%22%7D") + get("/livez"))
        await trio.sleep(1)
    await stream.send_all(get("/no-such-route", connection="close"))
    found, bare, missing = replies(await read_to_end(stream), ["GET"] * 3)
    assert found.json["result"]["data"]["threads"] == []
    assert (bare.status, missing.status) == (200, 404)


def get(target: str, **fields: str) -> bytes:
    lines = [f"GET {target} HTTP/1.1", f"host: {HOST}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


async def test_searches_at_once_share_one_look_at_what_waits_for_the_index(service: Service) -> None:
    """Under a synchronous index each search first sees to it that everything can be found."""
    await service.synced("Hello")
    await all_quiet()  # the indexer's own look is over
    indexer = service.workspace.service(Search).indexer
    follow, followed = indexer.follow, []

    async def counted() -> None:
        followed.append(trio.current_time())
        await all_quiet()  # all the others have come
        await follow()

    indexer.follow = counted
    async with trio.open_nursery() as nursery:
        for _ in range(2 * SEARCHES_AT_A_TIME):
            nursery.start_soon(found_one, service)
    assert len(followed) == 2  # the first one's, and one that all who came during it share


async def found_one(service: Service) -> None:
    assert len((await service.query("mail.search", query="hello"))["threads"]) == 1


async def test_a_turn_that_failed_is_shared_by_nobody(service: Service) -> None:
    await all_quiet()  # the indexer's own first look is over
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
