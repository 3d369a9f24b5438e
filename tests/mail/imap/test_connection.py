"""A connection is encrypted before anything is said, reports faults in words, and never waits for ever."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import msgspec
import pytest
import trio

from svc.mail.providers.imap.answers import Answer, CommandRefused
from svc.mail.providers.imap.connection import COMMAND_S, SILENCE_S, ImapConnection
from svc.mail.providers.imap.faults import MailServerFault
from svc.mail.providers.imap.login import Login
from svc.mail.providers.imap.opening import connected
from svc.mail.providers.imap.protocol.responses import Exists
from svc.mail.providers.imap.seam_faults import as_of_mail
from svc.mail.providers.imap.servers import Certificate, MailServer, checked
from svc.mail.providers.seam import GrantLost, ProviderFault, Refused, RefusedForNow, Throttled, Unreachable
from svc.nursery import open_task_group
from tests.mail.imap.scripted_server import SERVER, STARTTLS, Script, ScriptedDialler, Wire, answers
from tests.support.each import named

ABLE = "IMAP4rev1 SASL-IR AUTH=PLAIN LITERAL+ IDLE STARTTLS"
HELLO = f"* OK [CAPABILITY {ABLE}] Ready"
CAPABILITY = [f"* CAPABILITY {ABLE}", "T OK done"]

Serve = Callable[[Script], ScriptedDialler]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    async with open_task_group() as nursery:
        yield lambda script: ScriptedDialler(script=script, nursery=nursery)
        nursery.cancel_scope.cancel()


async def signed_in(dialler: ScriptedDialler, server: MailServer = SERVER) -> ImapConnection:
    return await connected(dialler, server, Login(username="mia", secret="pässword"))


async def answered(dialler: ScriptedDialler, *words: str) -> Answer:
    return await (await signed_in(dialler)).command(*words)


async def fault_of(dialler: ScriptedDialler, server: MailServer = SERVER) -> MailServerFault:
    with pytest.raises(MailServerFault) as caught:
        await signed_in(dialler, server)
    return caught.value


async def test_who_signs_in_is_in(serve: Serve) -> None:
    dialler = serve(answers(HELLO, CAPABILITY=CAPABILITY, NOOP=["* 3 EXISTS", "T OK done"]))
    connection = await signed_in(dialler)
    assert list((await connection.command("NOOP")).all(Exists)) == [Exists(messages=3)]
    assert dialler.wires[0].said[0] == "s1 AUTHENTICATE PLAIN AG1pYQBww6Rzc3dvcmQ="
    assert "IDLE" in connection.able


async def test_a_server_that_asks_first_is_told_after_it_asked(serve: Serve) -> None:
    async def script(wire: Wire) -> None:
        await wire.say("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN IDLE] Ready")
        assert await wire.line() == "s1 AUTHENTICATE PLAIN"
        await wire.say("+ ")
        assert await wire.line() == "AG1pYQBww6Rzc3dvcmQ="
        await wire.say("s1 OK [CAPABILITY IMAP4rev1 IDLE] in")

    assert (await signed_in(serve(script))).able == frozenset({"IMAP4REV1", "IDLE"})


async def test_a_server_without_mechanisms_gets_a_login_with_the_password_as_a_literal(serve: Serve) -> None:
    async def script(wire: Wire) -> None:
        await wire.say("* OK [CAPABILITY IMAP4rev1 IDLE] Ready")
        assert await wire.line() == 's1 LOGIN "mia" {9}'
        await wire.say("+ go on")
        assert await wire.line() == "pässword"
        await wire.say("* CAPABILITY IMAP4rev1 IDLE MOVE", "s1 OK in")

    assert "MOVE" in (await signed_in(serve(script))).able


async def test_what_was_offered_in_the_clear_counts_for_nothing(serve: Serve) -> None:
    async def script(wire: Wire) -> None:
        await wire.say("* OK [CAPABILITY IMAP4rev1 STARTTLS AUTH=PLAIN SASL-IR EVIL] Ready")
        assert await wire.line() == "s1 STARTTLS"
        await wire.say("s1 OK begin")
        assert await wire.line() == "s2 CAPABILITY"
        await wire.say("* CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR IDLE", "s2 OK done")
        assert (await wire.line() or "").startswith("s3 AUTHENTICATE")
        await wire.say("s3 OK in")
        assert await wire.line() == "s4 CAPABILITY"
        await wire.say("* CAPABILITY IMAP4rev1 IDLE", "s4 OK done")

    dialler = serve(script)
    assert (await signed_in(dialler, STARTTLS)).able == frozenset({"IMAP4REV1", "IDLE"})
    assert dialler.before_tls == ["s1 STARTTLS"]


@pytest.mark.parametrize(
    "script",
    [
        answers("* PREAUTH [CAPABILITY IMAP4rev1] welcome"),
        answers("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] Ready"),
        answers(HELLO, STARTTLS=["T NO not now"]),
        answers(HELLO, STARTTLS=["T OK begin", "* CAPABILITY IMAP4rev1 EVIL"]),
        answers(HELLO, STARTTLS=["T BAD what"]),
    ],
)
async def test_a_password_is_never_said_in_the_clear(serve: Serve, script: Script) -> None:
    dialler = serve(script)
    assert (await fault_of(dialler, STARTTLS)).reason == "tls_failed"
    assert not any("AUTH" in line or "LOGIN" in line for wire in dialler.wires for line in wire.said)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)", "auth_failed"),
        ("NO [ALERT] Application-specific password required: https://support.google.test", "app_password"),
        ("NO [ALERT] Your account is not enabled for IMAP use. Please visit your settings", "imap_off"),
        ("NO IMAP access is disabled for your account", "imap_off"),
        ("NO [AUTHENTICATIONFAILED] LOGIN invalid credentials or IMAP is disabled", "imap_off"),
        ("NO [WEBALERT https://accounts.google.test] Web login required.", "auth_failed"),
        ("NO [OVERQUOTA] Account exceeded command or bandwidth limits. (Failure)", "busy"),
        ("NO [ALERT] Account exceeded command or bandwidth limits. (Failure)", "busy"),
        ("NO [UNAVAILABLE] Maximum number of connections from user+IP exceeded", "too_many"),
        ("NO [ALERT] Too many simultaneous connections. (Failure)", "too_many"),
        ("BAD Request is throttled. Suggested Backoff Time: 92415 milliseconds", "busy"),
        ("NO [UNAVAILABLE] Temporary authentication failure", "busy"),
        ("NO AUTHENTICATE failed: BasicAuthBlocked LogonDenied-BasicAuthBlocked", "oauth_only"),
        ("NO LOGIN failed.", "auth_failed"),
    ],
)
async def test_why_nobody_is_let_in_is_said(serve: Serve, words: str, reason: str) -> None:
    fault = await fault_of(serve(answers(HELLO, AUTHENTICATE=[f"T {words}"])))
    assert fault.reason == reason
    assert fault.said
    assert "pässword" not in str(fault)
    for told, meant in (("invalid credentials or", "or the password is wrong"), ("Web login", "own page first")):
        assert told not in words or meant in fault.detail
    if "Backoff" in words:
        assert fault.retry_after_s == pytest.approx(92.415)


def test_a_certificate_that_nobody_accepted_wants_a_person_and_one_that_ran_out_does_not() -> None:
    shown = Certificate(sha256="0" * 64, subject="CN=a", issuer="CN=a", not_after="2027-01-01T00:00:00.000Z")
    other = as_of_mail(MailServerFault("tls_failed", "It shows another one.", certificate=shown))
    assert isinstance(other, GrantLost)
    assert isinstance(as_of_mail(MailServerFault("tls_failed", "It has expired.")), Unreachable)


@pytest.mark.parametrize("host", ["imap.163.com", "imap.example.com"])
async def test_a_program_says_its_name_only_where_nothing_is_opened_without_it(serve: Serve, host: str) -> None:
    dialler = serve(answers(HELLO, AUTHENTICATE=["T OK [CAPABILITY IMAP4rev1 IDLE] in"], ID=["* ID NIL", "T OK done"]))
    await signed_in(dialler, msgspec.structs.replace(SERVER, host=host))
    (wire,) = dialler.wires
    assert [line.partition(" ")[2] for line in wire.said if " ID " in line] == (
        ['ID ("name" "svc" "version" "0.1.0" "vendor" "svc")'] if host == "imap.163.com" else []
    )


async def test_a_server_that_asks_to_slow_down_refuses_nothing(serve: Serve) -> None:
    dialler = serve(answers(HELLO, UID=["T BAD Request is throttled. Suggested Backoff Time: 92415 milliseconds"]))
    with pytest.raises(MailServerFault) as told:
        await answered(dialler, "UID", "STORE", "1", "+FLAGS", "(\\Seen)")
    fault = as_of_mail(told.value, writes=True)
    assert type(fault) is Throttled
    assert fault.pause_s(5.0) == pytest.approx(92.415)


@pytest.mark.parametrize(
    ("words", "kind"),
    [("T NO [SERVERBUG] Internal error occurred.", RefusedForNow), ("T NO [OVERQUOTA] The mailbox is full.", Refused)],
)
async def test_what_a_server_in_trouble_refuses_is_not_refused_for_good(
    serve: Serve, words: str, kind: type[ProviderFault]
) -> None:
    with pytest.raises(CommandRefused) as told:
        await answered(serve(answers(HELLO, UID=[words])), "UID", "STORE", "1", "+FLAGS", "(\\Seen)")
    assert type(as_of_mail(told.value, writes=True)) is kind


@pytest.mark.parametrize(
    ("greeting", "reason"),
    [
        ("* BYE Too many connections", "too_many"),
        ("* BYE [UNAVAILABLE] later", "busy"),
        ("* BYE go away", "lost"),
        ("220 smtp.test ESMTP", "not_imap"),
        ("HTTP/1.1 400 Bad Request", "not_imap"),
    ],
)
async def test_a_greeting_that_is_none(serve: Serve, greeting: str, reason: str) -> None:
    assert (await fault_of(serve(answers(greeting)))).reason == reason


@pytest.mark.parametrize("where", ["", "AUTHENTICATE", "NOOP"])
async def test_a_silent_server_is_left(serve: Serve, where: str) -> None:
    dialler = serve(answers(HELLO if where else "", CAPABILITY=CAPABILITY, **({where: ["hang"]} if where else {})))
    began_s = trio.current_time()
    with pytest.raises(MailServerFault) as caught:
        await answered(dialler, "NOOP")
    assert caught.value.reason in {"lost", "not_imap"}
    assert trio.current_time() - began_s <= SILENCE_S + 1


async def test_a_server_that_drips_is_left_in_the_end(serve: Serve) -> None:
    async def script(wire: Wire) -> None:
        await wire.say(HELLO)
        while (line := await wire.line()) is not None:
            if "NOOP" in line:
                while True:
                    await wire.say("* OK still here")
                    await trio.sleep(SILENCE_S / 2)
            await wire.say(*CAPABILITY[:1], f"{line.partition(' ')[0]} OK done")

    connection = await signed_in(serve(script))
    began_s = trio.current_time()
    with pytest.raises(MailServerFault, match="stopped answering"):
        await connection.command("NOOP")
    assert trio.current_time() - began_s == pytest.approx(COMMAND_S)
    assert not connection.usable


async def test_a_refusal_leaves_the_connection_and_a_cut_does_not(serve: Serve) -> None:
    connection = await signed_in(
        serve(answers(HELLO, CAPABILITY=CAPABILITY, SELECT=["T NO [NONEXISTENT] none"], NOOP=["cut"]))
    )
    with pytest.raises(CommandRefused) as refused:
        await connection.command("SELECT", "x")
    assert refused.value.code == "NONEXISTENT"
    assert connection.usable
    with pytest.raises(MailServerFault) as cut:
        await connection.command("NOOP")
    assert (cut.value.reason, cut.value.may_have_happened) == ("lost", True)
    assert not connection.usable


async def test_who_gives_up_in_the_middle_leaves_a_connection_that_nobody_uses(serve: Serve) -> None:
    connection = await signed_in(serve(answers(HELLO, CAPABILITY=CAPABILITY, NOOP=["hang"])))
    with trio.move_on_after(1):
        await connection.command("NOOP")
    assert not connection.usable


SAID = (
    f"{HELLO}\r\n"
    "s1 OK [CAPABILITY IMAP4rev1 IDLE] in\r\n"
    "* 1 FETCH (UID 7 FLAGS () BODY[] {5}\r\nhello)\r\n"
    "s2 OK done\r\n"
).encode()


async def test_a_connection_that_drops_at_any_byte_is_a_fault_and_never_half_an_answer(serve: Serve) -> None:
    async def script(wire: Wire) -> None:
        await wire.stream.send_all(SAID[:at])
        while wire.came.count(b"\n") < 1:
            data = await wire.stream.receive_some(4096)
            if not data:
                return
            wire.came += data

    for at in range(len(SAID)):
        with named(at), pytest.raises(MailServerFault) as caught:
            await answered(serve(script), "UID", "FETCH", "1:*", "(UID FLAGS BODY.PEEK[])")
        assert caught.value.reason in {"lost", "not_imap"}, at


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [
        ("IMAP.Example.ORG.", 993, "imap.example.org"),
        ("münchen.example", 993, "xn--mnchen-3ya.example"),
        ("127.0.0.1", 1143, "127.0.0.1"),
        ("::1", 1143, "::1"),
        ("localhost", 1, "localhost"),
        ("", 993, None),
        ("a b", 993, None),
        ("http://x.test", 993, None),
        ("x.test\r\n", 993, "x.test"),
        ("x.test\r\ny", 993, None),
        ("127.1", 993, None),
        ("x.test", 0, None),
        ("x.test", 65_536, None),
    ],
)
def test_what_names_a_server(host: str, port: int, expected: str | None) -> None:
    found = checked(MailServer(host=host, port=port, security="tls"))
    assert (found and found.host) == expected
