"""One terminal, of a program in memory, on virtual time: what it keeps, whom it waits for, and when it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio
import trio.testing

from svc.terminals import terminal as module
from svc.terminals.shell import Size
from svc.terminals.tape import KEPT_BYTES
from svc.terminals.terminal import READ_BYTES, STUCK_S, TAKEN_OVER, TOO_SLOW, UNDRAWN_BYTES, Terminal, View
from tests.terminals.paper_shell import PaperShell

IDLE_S = 600.0
LINE = b"0123456789abcde\n"


@asynccontextmanager
async def living(shell: PaperShell) -> AsyncIterator[Terminal]:
    terminal = Terminal(id="trm_1", owner="usr_1", size=Size(cols=80, rows=24), opened_at=0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(terminal.live, shell, idle_s=IDLE_S))
        await trio.testing.wait_all_tasks_blocked()
        yield terminal
        nursery.cancel_scope.cancel()
    assert shell.is_closed


async def hear(terminal: Terminal, view: View, at_least: int) -> bytes:
    heard = b""
    while len(heard) < at_least and (data := await terminal.next_output(view)):
        heard += data
    return heard


async def test_it_shows_what_is_said_and_types_what_is_typed() -> None:
    shell = PaperShell()
    async with living(shell) as terminal:
        view = terminal.show("dev_1")
        await shell.say(b"$ ")
        assert await hear(terminal, view, 2) == b"$ "
        await terminal.type(b"ls\n")
        await trio.testing.wait_all_tasks_blocked()
        assert shell.typed == b"ls\n"


async def test_whoever_comes_back_sees_the_last_of_it_from_the_start_of_a_line() -> None:
    shell = PaperShell()
    async with living(shell) as terminal:
        await shell.say(b"first\n")
        await trio.testing.wait_all_tasks_blocked()
        assert await hear(terminal, terminal.show("dev_1"), 6) == b"first\n"
        assert shell.redrawn == 0
        view = terminal.show("dev_1")
        terminal.leave(view)
        for _ in range(KEPT_BYTES // len(LINE) // 1_000 + 1):
            await shell.say(LINE * 1_000)
        await trio.testing.wait_all_tasks_blocked()
        view = terminal.show("dev_2")
        assert shell.redrawn == 1, "what set up its screen is gone"
        replay = await hear(terminal, view, terminal.tape.ends - view.began)
        assert KEPT_BYTES - len(LINE) <= len(replay) <= KEPT_BYTES
        assert replay == LINE * (len(replay) // len(LINE))


async def test_a_hundred_megabytes_go_through_in_what_is_kept() -> None:
    shell, size, heard = PaperShell(), 100 * 1024 * 1024, 0
    most = 0
    async with living(shell) as terminal, trio.open_nursery() as nursery:
        view = terminal.show("dev_1")

        async def print_it() -> None:
            for _ in range(size // 65_536):
                await shell.say(LINE * 4_096)

        nursery.start_soon(print_it)
        while heard < size:
            data = await terminal.next_output(view)
            heard += len(data)
            most = max(most, terminal.tape.ends - terminal.tape.begins)
    assert (heard, most) == (size, KEPT_BYTES)


async def test_a_program_waits_for_a_browser_that_takes_nothing_and_goes_on_once_that_has_left() -> None:
    shell, said = PaperShell(), 0
    async with living(shell) as terminal, trio.open_nursery() as nursery:
        view = terminal.show("dev_1")

        async def print_it() -> None:
            nonlocal said
            for _ in range(100):
                await shell.say(LINE * 4_096)
                said += 65_536

        nursery.start_soon(print_it)
        await trio.testing.wait_all_tasks_blocked()
        assert terminal.tape.ends <= KEPT_BYTES
        assert said <= KEPT_BYTES + 2 * READ_BYTES
        terminal.leave(view)
        await trio.testing.wait_all_tasks_blocked()
        assert said == 100 * 65_536


async def test_one_that_waits_for_its_browser_keeps_no_other_waiting() -> None:
    slow, quick = PaperShell(), PaperShell()
    async with living(slow) as stuck, living(quick) as other, trio.open_nursery() as nursery:
        stuck.show("dev_1")
        nursery.start_soon(partial(_print, slow, 20))
        view = other.show("dev_2")
        nursery.start_soon(partial(_print, quick, 20))
        assert len(await hear(other, view, 20 * 65_536)) == 20 * 65_536
        nursery.cancel_scope.cancel()


async def _print(shell: PaperShell, times: int) -> None:
    for _ in range(times):
        await shell.say(LINE * 4_096)


async def test_a_browser_that_says_what_it_draws_is_never_sent_far_ahead() -> None:
    shell = PaperShell()
    async with living(shell) as terminal, trio.open_nursery() as nursery:
        view = terminal.show("dev_1")
        view.drew(0)
        nursery.start_soon(partial(_print, shell, 20))
        heard = await hear(terminal, view, UNDRAWN_BYTES)
        assert len(heard) == UNDRAWN_BYTES
        with trio.move_on_after(STUCK_S / 2):
            raise AssertionError(await terminal.next_output(view))
        view.drew(1_000)
        assert len(await terminal.next_output(view)) == 1_000
        view.drew(10**12)
        assert await terminal.next_output(view)
        nursery.cancel_scope.cancel()


async def test_one_that_draws_nothing_any_more_is_dismissed_and_its_program_goes_on() -> None:
    shell, began = PaperShell(), trio.current_time()
    async with living(shell) as terminal, trio.open_nursery() as nursery:
        view = terminal.show("dev_1")
        view.drew(0)
        nursery.start_soon(partial(_print, shell, 20))
        await hear(terminal, view, UNDRAWN_BYTES)
        assert await terminal.next_output(view) == b""
        assert view.dismissal is not None
        assert view.dismissal.code == TOO_SLOW
        assert trio.current_time() - began == pytest.approx(STUCK_S)
    assert terminal.tape.ends == 20 * 65_536


async def test_the_newest_takes_over() -> None:
    shell = PaperShell()
    async with living(shell) as terminal:
        first = terminal.show("dev_1")
        second = terminal.show("dev_2")
        assert first.dismissal is not None
        assert first.dismissal.code == TAKEN_OVER
        assert await terminal.next_output(first) == b""
        terminal.leave(first)
        assert terminal.view is second


async def test_what_a_program_does_not_take_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TYPED_BYTES", 8)
    shell = PaperShell(takes=False)
    async with living(shell) as terminal:
        await terminal.type(b"12345678")
        with trio.move_on_after(60) as waits:
            await terminal.type(b"9")
        assert waits.cancelled_caught
        await shell.take()
        await terminal.type(b"9")
        await trio.testing.wait_all_tasks_blocked()
        assert shell.typed == b"123456789"


async def test_its_last_words_are_shown_and_then_how_it_ended() -> None:
    shell = PaperShell()
    async with living(shell) as terminal:
        view = terminal.show("dev_1")
        await shell.say(LINE * 100)
        await shell.exit(3)
        assert await hear(terminal, view, len(LINE) * 1_000) == LINE * 100
        assert (terminal.why, terminal.status) == ("exit", 3)


@pytest.mark.parametrize(("heeds", "status"), [(True, -1), (False, -9)])
async def test_it_ends_when_it_is_told_to(heeds: bool, status: int) -> None:
    async with living(PaperShell(heeds=heeds)) as terminal:
        terminal.end("kill")
        terminal.end("idle")
        await terminal.over.wait()
        assert (terminal.why, terminal.status) == ("kill", status)


async def test_one_left_alone_ends_and_one_that_is_shown_does_not() -> None:
    async with living(PaperShell()) as terminal:
        await trio.sleep(IDLE_S - 1)
        view = terminal.show("dev_1")
        await trio.sleep(100 * IDLE_S)
        assert not terminal.over.is_set()
        terminal.leave(view)
        await trio.sleep(IDLE_S - 1)
        assert not terminal.over.is_set()
        await trio.sleep(2)
        assert (terminal.over.is_set(), terminal.why) == (True, "idle")
