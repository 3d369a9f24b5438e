"""Two steps at once: both run to their ends, and each fault is raised as it is."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, Literal, get_args

import pytest
import trio

from svc.nursery import ThreadPool
from svc.overlap import PIECES_AHEAD, at_once, feed, write_ahead
from tests.sizes import HANGS_S

First = Literal["fetch", "work"]
EITHER_FIRST: Final = pytest.mark.parametrize("first", get_args(First))


@EITHER_FIRST
async def test_both_run_at_once(first: First) -> None:
    async def fetch() -> str:
        await trio.sleep(2)
        return "next"

    async def work() -> None:
        await trio.sleep(3)

    began = trio.current_time()
    assert await at_once(fetch, work, first=first) == "next"
    assert trio.current_time() - began == 3


@EITHER_FIRST
async def test_what_runs_in_a_thread_runs_while_the_other_one_blocks(first: First) -> None:
    begun = threading.Event()
    threads = ThreadPool(limit=1, name="test")

    async def in_thread() -> None:
        await threads.run(begun.set)

    async def blocks() -> None:
        assert begun.wait(HANGS_S)

    fetch, work = (in_thread, blocks) if first == "fetch" else (blocks, in_thread)
    await at_once(fetch, work, first=first)


@EITHER_FIRST
async def test_nobody_waits_for_a_piece_that_can_not_be_worked_on(first: First) -> None:
    async def work() -> None:
        await trio.sleep(1)
        raise ValueError("full")

    with pytest.raises(ValueError, match="full"):
        await at_once(trio.sleep_forever, work, first=first)


@EITHER_FIRST
async def test_the_last_good_piece_is_worked_on_before_a_fault_of_the_next_is_told(first: First) -> None:
    done: list[str] = []

    async def fetch() -> str:
        raise ValueError("cut")

    async def work() -> None:
        await trio.sleep(1)
        done.append("written")

    with pytest.raises(ValueError, match="cut"):
        await at_once(fetch, work, first=first)
    assert done == ["written"]


async def test_pieces_are_written_in_order_and_closed_also_when_the_writer_leaves() -> None:
    closed: list[bool] = []

    async def pieces() -> AsyncGenerator[bytes, None]:
        try:
            for number in range(3):
                yield b"%d" % number
        finally:
            closed.append(True)

    written: list[bytes] = []
    most = 3

    async def write(piece: bytes) -> None:
        await trio.sleep(1)
        if len(written) == most:
            raise BrokenPipeError
        written.append(piece)

    await write_ahead(pieces(), write)
    assert (written, closed) == ([b"0", b"1", b"2"], [True])
    most = 5
    with pytest.raises(BrokenPipeError):
        await write_ahead(pieces(), write)
    assert (written[3:], closed) == ([b"0", b"1"], [True, True])


PIECES: Final = [b"%d" % number for number in range(20)]


def given(pieces: Iterable[bytes], *, fails: bool = False) -> Callable[[], Coroutine[Any, Any, bytes]]:
    rest = iter(pieces)

    async def fetch() -> bytes:
        await trio.sleep(1)
        piece = next(rest, b"")
        if fails and not piece:
            raise ValueError("cut")
        return piece

    return fetch


async def test_each_step_gets_every_piece_in_order_and_none_waits_for_another() -> None:
    got: dict[float, list[bytes]] = {0.5: [], 1.5: []}

    def step(takes_s: float) -> Callable[[Sequence[bytes]], Coroutine[Any, Any, None]]:
        async def work(pieces: Sequence[bytes]) -> None:
            await trio.sleep(takes_s * len(pieces))
            got[takes_s] += pieces

        return work

    began = trio.current_time()
    await feed(given(PIECES), [step(0.5), step(1.5)])
    assert got == {0.5: PIECES, 1.5: PIECES}
    # The slower one is never idle after its first piece, though the faster one and the fetch have their own times.
    assert trio.current_time() - began == 1 + 1.5 * len(PIECES)


async def test_few_pieces_wait_for_a_slow_step_and_it_gets_all_of_them_at_once() -> None:
    fetched = 0
    given_at_once: list[int] = []

    async def fetch() -> bytes:
        nonlocal fetched
        if fetched == len(PIECES):
            return b""
        fetched += 1
        return b"x"

    async def slow(pieces: Sequence[bytes]) -> None:
        given_at_once.append(len(pieces))
        await trio.sleep(1)
        assert fetched - sum(given_at_once) <= PIECES_AHEAD + 1  # one is about to be given

    await feed(fetch, [slow])
    assert sum(given_at_once) == len(PIECES)
    assert max(given_at_once[1:]) == PIECES_AHEAD + 2


async def test_when_a_step_fails_all_else_is_cancelled() -> None:
    ended: list[str] = []

    async def full(pieces: Sequence[bytes]) -> None:
        await trio.sleep(1)
        raise OSError("full")

    async def other(pieces: Sequence[bytes]) -> None:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("other")

    with pytest.raises(OSError, match="full"):
        await feed(given(PIECES), [other, full])
    assert ended == ["other"]
    assert trio.current_time() == pytest.approx(2)


async def test_when_the_fetch_fails_the_steps_finish_with_what_they_have_got() -> None:
    done: list[bytes] = []

    async def work(pieces: Sequence[bytes]) -> None:
        await trio.sleep(10)
        done.extend(pieces)

    with pytest.raises(ValueError, match="cut"):
        await feed(given(PIECES[:2], fails=True), [work])
    assert done == PIECES[:2]
