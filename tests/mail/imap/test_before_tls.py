"""A man in the middle where STARTTLS begins, over real sockets: nothing that was said in the clear counts."""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
import trio

from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.faults import MailServerFault
from svc.mail.providers.imap.login import Login
from svc.mail.providers.imap.opening import connected
from svc.mail.providers.imap.seam_faults import as_of_mail
from svc.mail.providers.imap.servers import MailServer
from svc.mail.providers.imap.submission.session import signed_in
from svc.mail.providers.seam import LostAnswer, Throttled, Unreachable
from svc.nursery import open_task_group
from tests.support.certificates import certificates

pytestmark = pytest.mark.wall_clock

LOGIN: Final = Login(username="mia", secret="pässword")
HELLO: Final = "* OK [CAPABILITY IMAP4rev1 STARTTLS AUTH=PLAIN EVIL] Ready|"
LURE: Final = "Call 555-0100 to unlock your mailbox"
MAILBOX: Final = '* 3 EXISTS|* 1 FETCH (UID 7 FLAGS () BODY[] {5}|hello)|* LIST () "/" evil|'


@dataclass(kw_only=True)
class Middle:
    """A mail server behind somebody who speaks for it until TLS begins. ``says``: by the name of a command, ``""`` for
    the greeting; ``|`` ends a line, ``T`` is the tag. ``secretly``: what the server itself says under TLS."""

    context: ssl.SSLContext
    says: dict[str, str] = field(default_factory=dict)
    secretly: dict[str, str] = field(default_factory=dict)
    port: int = 0
    in_the_clear: list[str] = field(default_factory=list)
    in_secret: list[str] = field(default_factory=list)

    async def serve(self, stream: trio.abc.Stream) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await _say(stream, self.says[""])
            lines = _Lines(stream)
            while (line := await lines.next()) is not None:
                self.in_the_clear.append(line)
                await _say(stream, self.says[_name(line)], tag=line.partition(" ")[0])
                if _name(line) == "STARTTLS":
                    await self._go_on(trio.SSLStream(stream, self.context, server_side=True))
                    return

    async def _go_on(self, tls: trio.abc.Stream) -> None:
        lines = _Lines(tls)
        while (line := await lines.next()) is not None:
            self.in_secret.append(line)
            await _say(tls, self.secretly[_name(line)], tag=line.partition(" ")[0])

    def server(self) -> MailServer:
        return MailServer(host="localhost", port=self.port, security="starttls")


@dataclass
class _Lines:
    stream: trio.abc.Stream
    came: bytes = b""

    async def next(self) -> str | None:
        while b"\n" not in self.came:
            data = await self.stream.receive_some(4096)
            if not data:
                return None
            self.came += bytes(data)
        line, _, self.came = self.came.partition(b"\n")
        return line.decode().rstrip("\r")


def _name(line: str) -> str:
    return re.sub(r"^s\d+ ", "", line).partition(" ")[0]


async def _say(stream: trio.abc.Stream, script: str, *, tag: str = "") -> None:
    text = script.replace("|T ", f"|{tag} ").replace("|", "\r\n")
    await stream.send_all((tag + text[1:] if text.startswith("T ") else text).encode())


@pytest.fixture
async def middle(tmp_path: Path) -> AsyncIterator[tuple[Middle, Dialler]]:
    ours, theirs = certificates(tmp_path, "localhost")
    middle = Middle(context=ours)
    async with open_task_group() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        middle.port = listeners[0].socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, middle.serve, listeners)
        yield middle, Dialler(private=True, trust=theirs)
        nursery.cancel_scope.cancel()


def imap(middle: Middle, says: dict[str, str]) -> None:
    middle.says = {"": HELLO, "STARTTLS": "T OK begin|"} | says
    middle.secretly = {
        "CAPABILITY": "* CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR IDLE|T OK done|",
        "AUTHENTICATE": "T OK in|",
        "NOOP": "T OK done|",
    }


def smtp(middle: Middle, says: dict[str, str]) -> None:
    middle.says = {
        "": "220 mail.test|",
        "EHLO": "250-mail.test|250-STARTTLS|250-EVIL|250 AUTH PLAIN|",
        "STARTTLS": "220 begin|",
    } | says
    middle.secretly = {"EHLO": "250-mail.test|250 AUTH PLAIN|", "AUTH": "235 in|"}


AHEAD: Final = {
    "": f"{HELLO}s1 OK begin|",
    "STARTTLS": "",
}
"""Who is in the middle knows our tags, answers ahead of time, and leaves out the server's own answer."""


@pytest.mark.parametrize(
    "says",
    [
        {},
        {"STARTTLS": f"* CAPABILITY IMAP4rev1 EVIL|{MAILBOX}* OK [ALERT] {LURE}|T OK [CAPABILITY EVIL] begin|"},
        {"": f"* OK Ready|{MAILBOX}", "CAPABILITY": "* CAPABILITY STARTTLS EVIL AUTH=PLAIN|T OK done|"},
        AHEAD,
    ],
)
async def test_nothing_of_a_mailbox_is_taken_from_before_tls(
    middle: tuple[Middle, Dialler], says: dict[str, str]
) -> None:
    server, dialler = middle
    imap(server, says)
    connection = await connected(dialler, server.server(), LOGIN)
    assert connection.able == {"IMAP4REV1", "AUTH=PLAIN", "SASL-IR", "IDLE"}
    answer = await connection.command("NOOP")
    assert list(answer.responses) == [answer.done]
    assert [line.partition(" ")[2] for line in server.in_the_clear][-1:] == ["STARTTLS"]
    await connection.aclose()


@pytest.mark.parametrize(
    "more",
    [
        "* CAPABILITY IMAP4rev1 EVIL|",
        MAILBOX,
        "s2 OK [CAPABILITY EVIL] done|",
        "* PREAUTH in|",
        "+ |",
        "* OK [ALERT] half a li",
        "* 1 FETCH (UID 7 BODY[] {999}|",
    ],
)
async def test_a_server_that_goes_on_in_the_clear_is_left(middle: tuple[Middle, Dialler], more: str) -> None:
    server, dialler = middle
    imap(server, {"STARTTLS": f"T OK begin|{more}"})
    await is_left(server, connected(dialler, server.server(), LOGIN), reason="tls_failed")


@pytest.mark.parametrize(
    "says",
    [
        {"": f"* PREAUTH {LURE}|"},
        {"": f"* BYE [ALERT] {LURE}|"},
        {"": f"* BYE Too many connections. {LURE}|"},
        {"": f"* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] {LURE}|"},
        {"": "* OK Ready|", "CAPABILITY": f"T NO [ALERT] {LURE}|"},
        {"STARTTLS": f"T NO [ALERT] {LURE}|"},
        {"STARTTLS": f"T BAD Backoff Time: 90000 milliseconds. {LURE}|"},
        {"STARTTLS": f"* BYE [AUTHENTICATIONFAILED] {LURE}|"},
    ],
)
async def test_a_refusal_by_imap_before_tls_is_nobodys_words_and_never_the_last(
    middle: tuple[Middle, Dialler], says: dict[str, str]
) -> None:
    server, dialler = middle
    imap(server, says)
    await is_left(server, connected(dialler, server.server(), LOGIN))


@pytest.mark.parametrize("more", ["250 EVIL|", "235 in|", "250-EVIL|", "2"])
async def test_a_submission_server_that_goes_on_in_the_clear_is_left(middle: tuple[Middle, Dialler], more: str) -> None:
    server, dialler = middle
    smtp(server, {"STARTTLS": f"220 begin|{more}"})
    await is_left(server, signed_in(dialler, server.server(), LOGIN), reason="tls_failed")


@pytest.mark.parametrize(
    "says",
    [
        {"": f"554 5.7.1 {LURE}|"},
        {"": f"421 4.3.2 {LURE}|"},
        {"EHLO": f"550 {LURE}|"},
        {"EHLO": f"250-mail.test|250 AUTH PLAIN {LURE}|"},
        {"STARTTLS": f"554 5.7.1 {LURE}|"},
        {"STARTTLS": f"454 4.7.0 {LURE}|"},
        {"STARTTLS": f"250 {LURE}|"},
    ],
)
async def test_a_refusal_by_smtp_before_tls_is_nobodys_words_and_never_the_last(
    middle: tuple[Middle, Dialler], says: dict[str, str]
) -> None:
    """As the last word it would end the sending of a mail."""
    server, dialler = middle
    smtp(server, says)
    await is_left(server, signed_in(dialler, server.server(), LOGIN))


@pytest.mark.parametrize("says", [{}, {"": "220 mail.test|250-x|250-EVIL|250 STARTTLS|220 begin|", "EHLO": ""}])
async def test_no_extension_is_taken_from_before_tls(middle: tuple[Middle, Dialler], says: dict[str, str]) -> None:
    server, dialler = middle
    smtp(server, says | ({"STARTTLS": ""} if says else {}))
    session = await signed_in(dialler, server.server(), LOGIN)
    assert session.offered == {"AUTH": "PLAIN"}
    assert server.in_the_clear == ["EHLO [127.0.0.1]", "STARTTLS"]
    await session.aclose()


async def is_left(server: Middle, opening: object, *, reason: str | None = None) -> None:
    with pytest.raises(MailServerFault) as caught:
        await opening  # type: ignore[misc]
    fault = caught.value
    assert reason in {None, fault.reason}
    assert LURE not in f"{fault.detail} {fault.said}"
    for_sync, for_a_change = as_of_mail(fault), as_of_mail(fault, writes=True)
    assert isinstance(for_sync, Unreachable | Throttled)
    assert isinstance(for_a_change, Unreachable | Throttled)
    assert not isinstance(for_a_change, LostAnswer)
    assert not any("AUTH" in line or "LOGIN" in line for line in server.in_the_clear)
    assert server.in_secret == []
