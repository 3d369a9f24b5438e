"""``/pty`` and its procedures, with the whole service and real shells: who may, what they get, and what is left."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
import trio.testing

from svc.clock import VirtualClock
from svc.principal import UNCLAIMED, Principal
from svc.protocol import Response
from svc.terminals import running_terminals as module
from svc.terminals.running_terminals import Terminals
from svc.terminals.shell import members_of
from tests.identity.people import Person, pair, sign_in
from tests.protocol.socket_client import upgrade_request
from tests.recorded_log import RecordedLog
from tests.support.service import HOST, MIA, RpcError, Service, open_service
from tests.support.waiting import until
from tests.terminals.screen import Screen, Screens

pytestmark = pytest.mark.wall_clock
CANARY = "canary-of-a-secret"
SETTINGS = {"PROVIDERS": "fake", "SVC_SHELL": "/bin/sh", "IDP_CLIENT_SECRET": CANARY, "IDP_CLIENT_ID": "id"}


@pytest.fixture
async def service(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=wall, log=log, environ={**SETTINGS, "PATH": "/usr/bin:/bin"}) as opened:
        yield opened


@pytest.fixture
async def screens(service: Service) -> AsyncIterator[Screens]:
    opened = Screens(service)
    yield opened
    await opened.leave()


def pids_of(service: Service) -> list[int]:
    """Of all that runs in its terminals."""
    opened = [one["pid"] for one in service.log.records if one["event"] == "terminal.opened"]
    return [pid for leader in opened for pid in members_of(int(str(leader)))]


async def until_ended(service: Service) -> dict[str, object]:
    def ended() -> dict[str, object]:
        return next((one for one in service.log.records if one["event"] == "terminal.ended"), {})

    return await until(ended, what="a terminal to end")


async def left(service: Service, screen: Screen) -> None:
    """Its socket is gone, and the service knows."""
    await screen.leave()

    async def is_shown_nowhere() -> bool:
        return not (await service.query("terminals.list"))[0]["shown"]

    await until(is_shown_nowhere, what="the terminal to be shown nowhere")


# What it does


async def test_a_new_one_is_shown_typed_into_and_resized(screens: Screens) -> None:
    screen = await screens.ready("?cols=100&rows=40")
    assert screen.words == [{"type": "ready", "session": screen.session, "replayed": 0}]
    await screen.type("stty size; echo don'e'\n")
    assert b"40 100" in await screen.until(b"done")
    await screen.say(type="resize", cols=61, rows=17)
    await screen.type("stty size; echo don'e'\n")
    assert b"17 61" in await screen.until(b"done")
    (listed,) = await screens.service.query("terminals.list")
    assert listed == {
        "session": screen.session,
        "program": "sh",
        "owner": None,
        "mine": True,
        "shown": True,
        "cols": 61,
        "rows": 17,
        "openedAt": listed["openedAt"],
        "endsAt": None,
    }


async def test_it_knows_no_secret_of_the_service(screens: Screens) -> None:
    screen = await screens.ready()
    await screen.type("env; cat /proc/self/environ; echo don'e'\n")
    shown = await screen.until(b"done\r\n")
    assert CANARY.encode() not in shown
    assert b"SVC_" not in shown.replace(b"TERM_PROGRAM=svc", b"")
    assert b"TERM=xterm-256color" in shown


@pytest.mark.thorough
async def test_its_exit_is_told_and_nothing_is_left(screens: Screens) -> None:
    screen = await screens.ready()
    await screen.type("(trap '' HUP; exec sleep 600) & exit 3\n")
    assert await screen.end() == 1000
    assert screen.words[-1] == {"type": "exit", "code": 3}
    assert await screens.service.query("terminals.list") == []
    assert pids_of(screens.service) == []


@pytest.mark.thorough
async def test_a_kill_by_its_socket_or_by_the_procedure_ends_it(screens: Screens) -> None:
    first, second = await screens.ready(), await screens.ready()
    await first.say(type="kill")
    await screens.service.mutate("terminals.kill", session=second.session)
    for screen in (first, second):
        assert await screen.end() == 1000
        # HUP; and KILL for a shell that a machine under load lets do nothing for two seconds
        assert screen.words[-1] in [{"type": "exit", "signal": f"SIG{name}"} for name in ("HUP", "KILL")]
    with pytest.raises(RpcError) as gone:
        await screens.service.mutate("terminals.kill", session=first.session)
    assert gone.value.code == "NOT_FOUND"


async def test_it_goes_on_without_its_socket_and_is_shown_again(screens: Screens) -> None:
    first = await screens.ready()
    await first.type("(sleep 0.1; echo la'ter') & echo fir'st'\n")
    await first.until(b"first")
    await left(screens.service, first)
    (listed,) = await screens.service.query("terminals.list")
    assert (listed["shown"], listed["endsAt"] is None) == (False, False)
    again = await screens.ready(f"?session={first.session}")
    assert again.words[0]["replayed"] > 0
    assert b"first" in await again.until(b"later")
    newest = await screens.ready(f"?session={first.session}")
    assert await again.end() == 4409
    await newest.type("echo sti'll'\n")
    await newest.until(b"still")


async def test_much_output_is_held_to_what_is_kept(screens: Screens) -> None:
    """A socket that reads nothing blocks only its own program. A socket that replaces it sees the output."""
    stuck, other = await screens.ready(pair=trio.testing.lockstep_stream_pair), await screens.ready()
    await stuck.type("yes 0123456789 | head -c 3000000; echo don'e'\n")
    await other.type("seq 20000; echo don'e'\n")
    assert b"20000" in await other.until(b"done")
    terminals = screens.service.workspace.service(Terminals)
    assert all(one.tape.ends - one.tape.begins <= 256 * 1024 for one in terminals.running())
    again = await screens.ready(f"?session={stuck.session}")
    await again.until(b"done")
    assert again.words[-1]["type"] == "ready"


async def test_the_frame_under_way_is_let_out_before_the_close(screens: Screens) -> None:
    """A browser that was in the middle of one hears why its socket is closed, and sees no broken link."""
    slow, other = await screens.ready(pair=trio.testing.lockstep_stream_pair), await screens.ready()
    await slow.type("seq 20000\n")
    await other.type("seq 20000; echo don'e'\n")
    await other.until(b"done")
    await screens.ready(f"?session={slow.session}")
    assert await slow.end() == 4409


NO_FRAMES = (
    "",
    "[]",
    '{"type":"fire"}',
    '{"type":"resize","cols":0,"rows":1}',
    '{"type":"drawn","bytes":-1}',
    "[" * 9_999,
)


async def test_a_frame_that_means_nothing_is_answered_and_survived(screens: Screens) -> None:
    screen = await screens.ready()
    for frame in NO_FRAMES:
        await screen.socket.client.say(frame)
        assert (await screen.word("error"))["code"] == "invalid"
        screen.words.clear()
    await screen.type("echo sti'll'\n")
    await screen.until(b"still")


async def test_a_size_that_is_none_is_refused_before_the_handshake(screens: Screens) -> None:
    for query in ("?cols=0", "?cols=1001", "?rows=-1", "?rows=a", "?cols=%C2%B2", "?rows=" + "9" * 5_000):
        assert (await screens.open(query)).status == 400
    assert await screens.service.query("terminals.list") == []


async def test_there_are_only_so_many(screens: Screens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TERMINALS", 1)
    first = await screens.ready()
    second = await screens.open()
    assert await second.end() == 1008
    assert second.closed is not None
    assert "1 terminals are open" in str(second.closed.reason)
    assert await (await screens.open("?session=trm_none")).end() == 4404
    await first.say(type="kill")
    await first.end()
    await screens.ready()


async def test_the_log_has_its_beginning_and_its_end_and_nothing_of_what_was_said(screens: Screens) -> None:
    screen = await screens.ready()
    await screen.type("echo whis'per'; exit 1\n")
    await screen.end()
    ended = await until_ended(screens.service)
    assert (ended["why"], ended["status"], ended["terminal"]) == ("exit", 1, screen.session)
    assert "whisper" not in str(screens.service.log.records)


# When it ends by itself


@pytest.mark.thorough
async def test_one_left_alone_ends_after_its_time(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    environ = {**SETTINGS, "SVC_PTY_IDLE_SECONDS": "1"}
    async with open_service(tmp_path, clock=wall, log=log, environ=environ) as service:
        screen = await Screens(service).ready()
        await screen.leave()
        ended = await until_ended(service)
        assert (ended["why"], ended["signal"]) == ("idle", "SIGHUP")
        assert pids_of(service) == []


async def test_a_drain_ends_it_whole(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log, environ=SETTINGS) as service:
        screen = await Screens(service).ready()
        await screen.type("trap '' HUP; (sleep 600) & echo rea'dy'\n")
        await screen.until(b"ready")
        assert len(pids_of(service)) == 2
        service.workspace.root.drain("test")
        assert await screen.end() == 1001
    assert pids_of(service) == []
    assert (await until_ended(service))["why"] == "drain"


# Who may


@pytest.mark.thorough
async def test_a_device_needs_the_capability_and_an_admin_as_its_owner(screens: Screens) -> None:
    mia = await sign_in(screens.service, MIA)
    noa = await sign_in(screens.service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    statuses = {
        "nobody": (await screens.open()).status,
        "member": (await screens.open(fields=noa.fields)).status,
        "device": (await screens.open(fields=(await pair(mia)).fields)).status,
        "admin's": (await screens.open(fields=(await pair(mia, admin=True, shell=True)).fields)).status,
        "with terminals": (await screens.open(fields=(await pair(mia, terminal=True)).fields)).status,
        "admin": (await screens.open(fields=mia.fields)).status,
        "from elsewhere": (await screens.open(fields={**mia.fields, "origin": "https://evil.example"})).status,
    }
    assert statuses == {
        "nobody": 401,
        "member": 403,
        "device": 403,
        "admin's": 403,
        "with terminals": 101,
        "admin": 101,
        "from elsewhere": 403,
    }
    with pytest.raises(RpcError):
        await pair(noa, terminal=True)


async def test_a_public_cell_has_none(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    cell = {"SVC_PROFILE": "cloud", "SVC_PUBLIC_ORIGIN": "https://a.example", "SVC_CLAIM_TOKEN": "t" * 40}
    async with open_service(tmp_path, clock=wall, log=log, environ={**SETTINGS, **cell}) as service:
        mia = await sign_in(service, MIA, invite="t" * 40)
        screen = await Screens(service).open(fields=mia.fields)
        assert screen.status == 403
        for ask in (mia.query("terminals.list"), mia.mutate("terminals.kill", session="trm_1")):
            with pytest.raises(RpcError) as refused:
                await ask
            assert refused.value.code == "FORBIDDEN"


async def admins(service: Service) -> tuple[Person, Person, str]:
    """Two of them, and who the second one is."""
    mia = await sign_in(service, MIA)
    await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    noas = next(row["id"] for row in await mia.query("users.list") if row["email"] != MIA)
    await mia.mutate("users.setRole", id=noas, role="admin")
    return mia, await sign_in(service, "noa@example.org"), noas


@pytest.mark.thorough
async def test_another_admins_is_in_the_list_can_be_ended_and_not_opened(screens: Screens) -> None:
    mia, noa, _ = await admins(screens.service)
    screen = await screens.ready(fields=noa.fields)
    (listed,) = await mia.query("terminals.list")
    assert (listed["mine"], listed["owner"]) == (False, (await noa.me())["user"]["id"])
    assert await (await screens.open(f"?session={screen.session}", fields=mia.fields)).end() == 4404
    await mia.mutate("terminals.kill", session=screen.session)
    assert await screen.end() == 1000


@pytest.mark.thorough
async def test_a_revoked_session_or_device_loses_its_sockets_and_an_admin_no_more_the_terminals(
    screens: Screens,
) -> None:
    mia, noa, noas = await admins(screens.service)
    device = await pair(noa, terminal=True)
    by_device, by_session = await screens.ready(fields=device.fields), await screens.ready(fields=noa.fields)
    own = await screens.ready(fields=mia.fields)
    rows = await noa.query("devices.list")
    await noa.mutate("devices.revoke", id=next(row["id"] for row in rows if row["kind"] == "mobile"))
    assert await by_device.end() == 4401
    assert len(await mia.query("terminals.list")) == 3
    await mia.mutate("users.setRole", id=noas, role="member")
    assert await by_session.end() == 4401

    async def is_alone() -> bool:
        return len(await mia.query("terminals.list")) == 1

    await until(is_alone, what="the terminals of the other admin to end")
    await own.type("echo sti'll'\n")
    await own.until(b"still")


async def test_what_nobody_owned_is_the_first_admins(screens: Screens) -> None:
    screen = await screens.ready()
    mia = await sign_in(screens.service, MIA)
    assert await screen.end() == 4401
    await screens.ready(f"?session={screen.session}", fields=mia.fields)


async def test_who_is_refused_has_started_nothing(service: Service) -> None:
    member = Principal(user_id="usr_m", device_id="dev_m", is_admin=False, via="session")
    for principal, refused in ((None, 401), (member, 403), (UNCLAIMED, None)):
        request = upgrade_request(host=HOST)
        request.target = "/pty"
        outcome = await service.application_for(principal).upgrade(request)
        assert (outcome.status if isinstance(outcome, Response) else None) == refused
    assert await service.query("terminals.list") == []
