"""A real program on a real pseudoterminal, and that nothing of it is left when it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import trio

from svc.nursery import ThreadPool
from svc.terminals import shell as module
from svc.terminals.environment import environment_of
from svc.terminals.shell import Shell, Size, members_of
from tests.sizes import HANGS_S
from tests.support.waiting import until

pytestmark = pytest.mark.wall_clock
SH = Path("/bin/sh")


async def started(directory: Path, threads: ThreadPool, program: Path = SH) -> Shell:
    environ = {**environment_of({"PATH": os.environ["PATH"]}, shell=program), "HOME": str(directory)}
    return await Shell.start(
        program, environ=environ, directory=directory, size=Size(cols=90, rows=20), threads=threads
    )


@pytest.fixture
async def shell(tmp_path: Path, threads: ThreadPool) -> AsyncIterator[Shell]:
    opened = await started(tmp_path, threads)
    yield opened
    await opened.close()


async def says(shell: Shell, typed: str, wanted: bytes) -> bytes:
    """What is said until ``wanted`` is, which must not stand in ``typed`` itself: that is echoed."""
    await shell.write(typed.encode() + b"\n")
    return await read_until(shell, wanted)


async def read_until(shell: Shell, wanted: bytes) -> bytes:
    said = b""
    with trio.fail_after(HANGS_S):
        while wanted not in said:
            piece = await shell.read(4_096)
            assert piece, said
            said += piece
    return said


async def test_it_has_a_terminal_of_its_own_which_takes_its_size_and_turns_keys_into_signals(shell: Shell) -> None:
    assert b"/dev/pts/" in await says(shell, "tty; stty size; echo don'e'", b"done")
    shell.resize(Size(cols=132, rows=50))
    await says(shell, "stty size", b"50 132")
    await says(shell, "echo ru'ns'; sleep 600", b"runs")
    await until(lambda: shell.foreground() == "sleep", what="sleep to have the terminal")
    await shell.write(b"\x03")
    await until(lambda: shell.foreground() != "sleep", what="the shell to have the terminal back")  # or it drops input
    await says(shell, "echo ne'xt'", b"next")
    await says(shell, "exit 7", b"exit 7")
    assert await shell.wait() == 7
    assert await shell.read(100) in (b"", b"\r\n")


@pytest.fixture
def nothing_interrupts() -> Iterator[None]:
    """As in the background of a script, and under nohup."""
    before = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("nothing_interrupts")
async def test_signals_are_as_a_shell_expects_them(tmp_path: Path, threads: ThreadPool) -> None:
    """What its parents ignore would be inherited: the interpreter ignores some, and whoever started the service."""
    shell = await started(tmp_path, threads)
    said = await says(shell, "grep SigIgn /proc/self/status; echo don'e'", b"done\r\n")
    await shell.close()
    ignored = int(said.split(b"SigIgn:")[1].split()[0], 16)
    for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        assert not ignored & (1 << number - 1), number


async def test_bytes_that_are_no_text_come_as_they_are(shell: Shell) -> None:
    assert b"\xff\x00\x80" in await says(shell, r"printf '\377\000\200'; echo don'e'", b"done")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only /proc tells who is in a session")
async def test_all_that_it_started_ends_with_it_also_what_ignores_the_hang_up(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE_S", 0.1)
    deaf = "(trap '' HUP; while :; do sleep 1; done) &"
    await says(shell, f"set -m; {deaf} nohup sleep 600 >/dev/null & sleep 600 & {deaf} echo al'l'", b"all")
    assert len(members_of(shell.pid)) >= 5
    with trio.fail_after(HANGS_S):
        await shell.end()
    assert members_of(shell.pid) == []
    assert await shell.wait() == -signal.SIGHUP


async def test_a_program_that_is_not_there_says_so_in_the_terminal(tmp_path: Path, threads: ThreadPool) -> None:
    shell = await started(tmp_path, threads, tmp_path / "none")
    try:
        await read_until(shell, b"can't be started: No such file")
        assert await shell.wait() == 127
    finally:
        await shell.close()


async def test_whoever_lets_go_of_it_leaves_nothing(tmp_path: Path, threads: ThreadPool) -> None:
    shell = await started(tmp_path, threads)
    await says(shell, "trap '' HUP; echo re'ady'", b"ready")
    with trio.CancelScope() as scope:
        scope.cancel()
        await shell.close()
    assert members_of(shell.pid) == []
