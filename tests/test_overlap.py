"""Two steps at once: both come to their ends, and what goes wrong is told as it is."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator
from typing import Final, Literal, get_args

import pytest
import trio

from svc.nursery import ThreadPool
from svc.overlap import at_once, write_ahead
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
