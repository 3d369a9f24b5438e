"""The connection: how long a head, a pause, a body and an answer may take, on virtual time."""

from __future__ import annotations

import math
from functools import partial

import pytest
import trio
import trio.testing

from svc.protocol.idle import Idle
from tests.support.http import SmallApplication, read_to_end, request_bytes

PIECES = [1, 65536]


async def drip(stream: trio.abc.SendStream, data: bytes, *, every_s: float, size: int = 1) -> None:
    try:
        for start in range(0, len(data), size):
            await stream.send_all(data[start : start + size])
            await trio.sleep(every_s)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass


async def test_a_head_has_five_seconds_in_total_however_it_drips(app: SmallApplication) -> None:
    async with trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(app.serve, theirs)
        await trio.sleep(60)  # idle time does not count
        began = trio.current_time()
        nursery.start_soon(lambda: drip(ours, request_bytes("GET", "/hello"), every_s=1))
        first = await ours.receive_some()
        assert trio.current_time() - began == pytest.approx(5, abs=0.01)
        assert first.startswith(b"HTTP/1.1 408 ")
        await read_to_end(ours)
        nursery.cancel_scope.cancel()
    assert app.seen == []


async def test_the_second_head_of_a_connection_has_its_own_five_seconds(app: SmallApplication) -> None:
    async with trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("GET", "/hello") + b"GET /hello")
        assert (await ours.receive_some()).startswith(b"HTTP/1.1 200 ")
        await trio.sleep(4)
        await ours.send_all(request_bytes("GET", "?x")[4:])
        assert (await ours.receive_some()).startswith(b"HTTP/1.1 200 ")
        nursery.cancel_scope.cancel()


async def test_an_idle_connection_is_closed_without_a_word(app: SmallApplication) -> None:
    began = trio.current_time()
    assert await app.talk(b"") == b""
    assert trio.current_time() - began == pytest.approx(app.limits.idle_s)


async def test_each_request_lets_a_connection_wait_anew_and_who_waits_longest_goes_first(app: SmallApplication) -> None:
    """Ten at one port, of which some ask again meanwhile; one is busy all the time, and stays."""
    wait_s, idle, closed = app.limits.idle_s, Idle(), dict[int, float]()

    async def wait_for_the_end(number: int, ours: trio.abc.Stream) -> None:
        await read_to_end(ours)
        closed[number] = trio.current_time() - began

    async with trio.open_nursery() as nursery:
        nursery.start_soon(idle.run, app.limits, app.drain)
        began = trio.current_time()
        asks = {number: trio.testing.memory_stream_pair() for number in range(10)}
        for _, theirs in asks.values():
            nursery.start_soon(partial(app.serve, theirs, idle=idle))
        await trio.sleep(wait_s - 1)
        for number in (3, 7, 1):
            await asks[number][0].send_all(request_bytes("GET", "/hello"))
            await asks[number][0].receive_some()
        await asks[5][0].send_all(request_bytes("GET", "/slow"))
        for number, (ours, _) in asks.items():
            nursery.start_soon(wait_for_the_end, number, ours)
        await trio.sleep(4 * wait_s)
        late = pytest.approx(2 * wait_s - 1)
        assert closed == {**dict.fromkeys((0, 2, 4, 6, 8, 9), pytest.approx(wait_s)), 3: late, 7: late, 1: late}
        app.drain.begin()
        nursery.cancel_scope.cancel()


async def test_where_nobody_waits_nobody_looks(app: SmallApplication) -> None:
    idle = Idle()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(idle.run, app.limits, app.drain)
        await trio.testing.wait_all_tasks_blocked()
        assert trio.lowlevel.current_statistics().seconds_to_next_deadline == math.inf
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(partial(app.serve, theirs, idle=idle))
        await trio.lowlevel.checkpoint()
        began = trio.current_time()
        await read_to_end(ours)
        assert trio.current_time() - began == pytest.approx(app.limits.idle_s)
        app.drain.begin()


async def test_who_watches_the_idle_ends_with_the_drain(app: SmallApplication) -> None:
    with trio.fail_after(1):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Idle().run, app.limits, app.drain)
            await trio.testing.wait_all_tasks_blocked()
            app.drain.begin()
            nursery.start_soon(Idle().run, app.limits, app.drain)


async def upload_at(app: SmallApplication, *, rate: int, size: int) -> bytes:
    async with trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("POST", "/upload", content_length=str(size), connection="close"))
        nursery.start_soon(lambda: drip(ours, b"a" * size, every_s=1, size=rate))
        raw = await read_to_end(ours)
        nursery.cancel_scope.cancel()
    return raw


async def test_a_body_slower_than_its_pace_is_cut_with_408(app: SmallApplication) -> None:
    began = trio.current_time()
    raw = await upload_at(app, rate=900, size=90_000)
    assert raw.startswith(b"HTTP/1.1 408 ")
    assert trio.current_time() - began < 35
    assert "upload 90000" not in app.seen


async def test_a_body_that_keeps_the_pace_may_take_its_time(app: SmallApplication) -> None:
    raw = await upload_at(app, rate=1200, size=90_000)
    assert raw.startswith(b"HTTP/1.1 200 ")
    assert "upload 90000" in app.seen


async def test_a_slow_handler_is_no_fault_of_its_client(app: SmallApplication) -> None:
    assert (await app.ask("GET", "/slow")).body == b"done"


@pytest.mark.parametrize("target", ["/big", "/stream"])
async def test_a_client_that_never_reads_is_cut(app: SmallApplication, target: str) -> None:
    began = trio.current_time()
    ours, theirs = trio.testing.lockstep_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ours.send_all, request_bytes("GET", target))
        await app.serve(theirs)
    assert trio.current_time() - began == pytest.approx(app.limits.send_piece_s)
    assert "http.slow_reader" in app.log_text


async def test_a_client_that_reads_slowly_but_steadily_gets_everything(app: SmallApplication) -> None:
    ours, theirs = trio.testing.lockstep_stream_pair()
    got = 0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(app.serve, theirs)
        await ours.send_all(request_bytes("GET", "/big", connection="close"))
        while piece := await ours.receive_some(8_192):
            got += len(piece)
            await trio.sleep(3)
    assert got > 1_000_000
