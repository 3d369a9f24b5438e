"""IDLE on virtual time: renewed before a router forgets it, left alone where a server lacks it, and never waited on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
import trio

from svc.mail.providers.imap.connection import ImapConnection
from svc.mail.providers.imap.faults import MailServerFault
from svc.mail.providers.imap.idling import idle
from svc.mail.providers.imap.login import Login
from svc.mail.providers.imap.opening import connected
from svc.nursery import open_task_group
from tests.mail.imap.scripted_server import SERVER, Script, ScriptedDialler, Wire, answers

HELLO = "* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN IDLE] Ready"
IN = ["* CAPABILITY IMAP4rev1 IDLE", "T OK in"]

Serve = Callable[[Script], ScriptedDialler]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    async with open_task_group() as nursery:
        yield lambda script: ScriptedDialler(script=script, nursery=nursery)
        nursery.cancel_scope.cancel()


async def listen(dialler: ScriptedDialler, heard: Callable[[], None]) -> None:
    async def connect() -> ImapConnection:
        return await connected(dialler, SERVER, Login(username="mia", secret="secret"))

    await idle(connect, heard)


def telling(*told: str, every_s: float = 100) -> Script:
    """Says one of these every so often, while it is listened to."""

    async def serve(wire: Wire) -> None:
        await wire.say(HELLO)
        left = list(told)
        while (line := await wire.line()) is not None:
            tag, _, command = line.partition(" ")
            if command != "IDLE":
                await wire.say(*(one.replace("T ", f"{tag} ") for one in (IN if "AUTH" in command else ["T OK done"])))
                continue
            await wire.say("+ idling")
            with trio.move_on_after(every_s):
                if await wire.line() == "DONE":
                    await wire.say(f"{tag} OK done")
                    continue
            if not left:
                return
            await wire.say(left.pop(0))
            assert await wire.line() == "DONE"
            await wire.say(f"{tag} OK done")

    return serve


async def test_what_happens_is_heard_and_what_keeps_the_line_alive_is_not(serve: Serve) -> None:
    heard: list[float] = []
    began_s = trio.current_time()
    dialler = serve(telling("* 4 EXISTS", "* OK Still here", "* 2 EXPUNGE", "* 1 FETCH (FLAGS (\\Seen))"))
    with pytest.raises(MailServerFault):
        await listen(dialler, lambda: heard.append(trio.current_time() - began_s))
    assert len(heard) == 1 + 3
    assert heard[1] == pytest.approx(100)


async def test_it_is_renewed_within_five_minutes(serve: Serve) -> None:
    dialler = serve(telling(every_s=1_000))
    with trio.move_on_after(3_600):
        await listen(dialler, lambda: None)
    assert sum(line == "DONE" for line in dialler.wires[0].said) == 12


@pytest.mark.parametrize(
    "script",
    [
        answers("* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN] Ready", CAPABILITY=["* CAPABILITY IMAP4rev1", "T OK"]),
        answers(HELLO, AUTHENTICATE=IN, IDLE=["T BAD what"]),
        answers(HELLO, AUTHENTICATE=IN, EXAMINE=["T NO no inbox"]),
    ],
)
async def test_a_server_that_is_not_able_to_is_left_in_peace(serve: Serve, script: Script) -> None:
    await listen(serve(script), lambda: None)


@pytest.mark.parametrize("told", [["* BYE bye"], ["cut"], ["+ idling", "* BYE bye"], ["hang"]])
async def test_a_line_that_ends_or_is_dead_is_told(serve: Serve, told: list[str]) -> None:
    with pytest.raises(MailServerFault) as caught, trio.fail_after(1_000):
        await listen(serve(answers(HELLO, AUTHENTICATE=IN, IDLE=told)), lambda: None)
    assert caught.value.reason == "lost"
