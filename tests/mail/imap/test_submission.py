"""A mail is submitted whole or not at all; where the outcome is unknown, the answer says so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from svc.mail.providers.imap.faults import MailServerFault
from svc.mail.providers.imap.login import Login
from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.servers import MailServer
from svc.mail.providers.imap.submission.replies import Replies, Reply, names_in, offers, stuffed
from svc.mail.providers.imap.submission.session import Envelope, SubmissionSession, signed_in
from svc.nursery import open_task_group
from tests.mail.imap.scripted_server import SERVER, STARTTLS, Script, ScriptedDialler, Wire

Serve = Callable[[Script], ScriptedDialler]
RAW = b"Subject: Hi\r\n\r\n.dot\r\nbare\nend"
ENVELOPE = Envelope(sender="mia@mail.test", recipients=("eve@mail.test", "kim@mail.test"))


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    async with open_task_group() as nursery:
        yield lambda script: ScriptedDialler(script=script, nursery=nursery)
        nursery.cancel_scope.cancel()


def smtp(
    *, extensions: tuple[str, ...] = ("AUTH PLAIN LOGIN", "STARTTLS"), cut_at: str = "", hang_at: str = "", **told: str
) -> Script:
    """By command, or ``END`` for the end of a mail: its answer. ``cut_at``: where the connection ends unanswered."""

    async def serve(wire: Wire) -> None:
        await wire.say(told.get("HELLO", "220 mail.test ESMTP"))
        reading = False
        while (line := await wire.line()) is not None:
            name = "END" if reading and line == "." else "" if reading else line.partition(" ")[0].upper()
            if not name:
                continue
            if name == cut_at:
                return
            if name == hang_at:
                await trio.sleep_forever()
            reading = name == "DATA" and told.get(name, "3").startswith("3")
            usual = {"DATA": "354 go on", "AUTH": "235 in", "STARTTLS": "220 begin", "QUIT": "221 bye"}
            if name == "EHLO":
                await wire.say("250-mail.test", *(f"250-{one}" for one in extensions), "250 HELP")
            else:
                await wire.say(*told.get(name, usual.get(name, "250 2.0.0 OK")).split("|"))

    return serve


async def session(dialler: ScriptedDialler, server: MailServer = SERVER) -> SubmissionSession:
    return await signed_in(dialler, server, Login(username="mia", secret="pä"))


async def submitted(dialler: ScriptedDialler, envelope: Envelope = ENVELOPE, raw: bytes = RAW) -> Reply:
    return await (await session(dialler)).submit(envelope, raw)


async def test_a_mail_is_handed_over_line_by_line(serve: Serve) -> None:
    dialler = serve(smtp(extensions=("AUTH PLAIN", "SIZE 1000000", "8BITMIME")))
    assert (await submitted(dialler, raw=RAW + b"\xff")).good
    said = dialler.wires[0].said
    assert said[:6] == [
        "EHLO [127.0.0.1]",
        "AUTH PLAIN AG1pYQBww6Q=",
        f"MAIL FROM:<mia@mail.test> SIZE={len(RAW) + 1} BODY=8BITMIME",
        "RCPT TO:<eve@mail.test>",
        "RCPT TO:<kim@mail.test>",
        "DATA",
    ]
    assert said[6:] == ["Subject: Hi", "", "..dot", "bare", "end\ufffd", "."]


async def test_no_password_is_said_before_the_connection_is_secret(serve: Serve) -> None:
    dialler = serve(smtp())
    await session(dialler, STARTTLS)
    assert dialler.before_tls == ["EHLO [127.0.0.1]", "STARTTLS"]


@pytest.mark.parametrize(
    "script", [smtp(extensions=("AUTH PLAIN",)), smtp(STARTTLS="454 not now"), smtp(STARTTLS="220 ok|250 EVIL")]
)
async def test_a_server_that_does_not_go_along_hears_no_password(serve: Serve, script: Script) -> None:
    dialler = serve(script)
    with pytest.raises(MailServerFault) as caught:
        await session(dialler, STARTTLS)
    assert caught.value.reason in {"tls_failed", "busy"}
    assert not any(line.startswith("AUTH") for line in dialler.wires[0].said)


async def test_a_server_that_only_knows_the_old_way_of_signing_in(serve: Serve) -> None:
    async def script(wire: Wire) -> None:
        await wire.say("220 old.test")
        await wire.line()
        await wire.say("250-old.test", "250 AUTH=LOGIN")
        for expected, answer in (("AUTH LOGIN", "334 VXNlcg=="), ("bWlh", "334 UGFzcw=="), ("cMOk", "235 in")):
            assert await wire.line() == expected
            await wire.say(answer)

    await session(serve(script))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("535 5.7.8 Error: authentication failed", "auth_failed"),
        ("534 5.7.9 Application-specific password required", "app_password"),
        ("454 4.7.0 Temporary authentication failure", "busy"),
    ],
)
async def test_why_nobody_is_let_in_is_said(serve: Serve, answer: str, reason: str) -> None:
    with pytest.raises(MailServerFault) as caught:
        await session(serve(smtp(AUTH=answer)))
    assert caught.value.reason == reason


@pytest.mark.parametrize("where", ["EHLO", "AUTH", "MAIL", "RCPT", "DATA", "END"])
@pytest.mark.parametrize("way", ["cut_at", "hang_at"])
async def test_what_ends_before_the_mail_was_whole_did_not_happen_and_after_it_nobody_knows(
    serve: Serve, where: str, way: str
) -> None:
    with pytest.raises(MailServerFault) as caught:
        await submitted(serve(smtp(**{way: where})))  # type: ignore[arg-type]
    assert caught.value.may_have_happened == (where == "END")


@pytest.mark.parametrize("where", ["MAIL", "RCPT", "DATA", "END"])
@pytest.mark.parametrize(("answer", "reason"), [("451 4.3.0 later", "busy"), ("550 5.1.1 no such user", "refused")])
async def test_a_refusal_says_whether_later_may_work_and_nothing_happened(
    serve: Serve, where: str, answer: str, reason: str
) -> None:
    dialler = serve(smtp(**{where: answer}))  # type: ignore[arg-type]
    with pytest.raises(MailServerFault) as caught:
        await submitted(dialler)
    assert (caught.value.reason, caught.value.may_have_happened) == (reason, False)
    assert answer.partition(" ")[2] in caught.value.detail
    assert ("DATA" in dialler.wires[0].said) == (where in {"DATA", "END"})


@pytest.mark.parametrize("address", ["a@b.test>\r\nRCPT TO:<evil@x.test", "a>b", "", "a\nb@x.test", "a\0@x.test"])
async def test_an_address_can_be_no_command(serve: Serve, address: str) -> None:
    dialler = serve(smtp())
    with pytest.raises(MailServerFault, match="no address"):
        await submitted(dialler, Envelope(sender="mia@mail.test", recipients=(address,)))
    assert not any(line.startswith("MAIL") for line in dialler.wires[0].said)


async def test_letters_beyond_ascii_need_a_server_that_takes_them(serve: Serve) -> None:
    envelope = Envelope(sender="mia@mail.test", recipients=("jürgen@mail.test",))
    with pytest.raises(MailServerFault, match="SMTPUTF8"):
        await submitted(serve(smtp()), envelope)
    able = serve(smtp(extensions=("AUTH PLAIN", "SMTPUTF8")))
    await submitted(able, envelope)
    assert "RCPT TO:<jürgen@mail.test>" in able.wires[0].said


async def test_a_mail_that_is_too_large_does_not_even_begin(serve: Serve) -> None:
    dialler = serve(smtp(extensions=("AUTH PLAIN", "SIZE 10")))
    with pytest.raises(MailServerFault, match="larger"):
        await submitted(dialler)
    assert not any(line.startswith("MAIL") for line in dialler.wires[0].said)


# Without I/O


@given(st.lists(st.integers(0, 60), max_size=6))
def test_replies_come_out_however_they_come_in(cuts: list[int]) -> None:
    said = b"250-one\r\n250-two words\r\n250 three\r\n354\r\n550 5.1.1 no\n"
    replies = Replies()
    found: list[Reply] = []
    places = [0, *sorted(min(cut, len(said)) for cut in cuts), len(said)]
    for start, end in zip(places, places[1:], strict=False):  # noqa: RUF007
        replies.feed(said[start:end])
        while (reply := replies.next()) is not None:
            found.append(reply)
    assert found == [
        Reply(status=250, lines=("one", "two words", "three")),
        Reply(status=354, lines=("",)),
        Reply(status=550, lines=("5.1.1 no",)),
    ]


@given(st.binary(max_size=100))
def test_any_bytes_are_replies_or_a_fault(data: bytes) -> None:
    replies = Replies()
    replies.feed(data + b"\r\n")
    try:
        while replies.next() is not None:
            pass
    except ProtocolFault:
        pass


@pytest.mark.parametrize("data", [b"250-x\r\n" * 300, b"2" * 9_000])
def test_replies_have_an_end(data: bytes) -> None:
    replies = Replies()
    replies.feed(data)
    with pytest.raises(ProtocolFault):
        replies.next()


def test_what_a_server_offers() -> None:
    assert offers(("mail.test", "SIZE 10", "AUTH PLAIN", "AUTH=LOGIN", "8bitmime")) == {
        "SIZE": "10",
        "AUTH": "PLAIN LOGIN",
        "8BITMIME": "",
    }


@given(st.text(alphabet="a.\r\n", max_size=30).map(str.encode))
def test_a_mail_ends_where_it_ends_and_nowhere_before(raw: bytes) -> None:
    told = stuffed(raw)
    assert told.endswith(b"\r\n.\r\n") or told == b".\r\n"
    assert b"\r\n.\r\n" not in (b"\r\n" + told)[:-3]
    assert not {*b"\r\n"} & {*told.replace(b"\r\n", b"")}


@pytest.mark.parametrize(
    ("said", "host", "names"),
    [
        ("2.0.0 OK 1234 queued", "mail.test", ()),
        ("2.0.0 OK <A1B2@x.prod.outlook.com> [Hostname=x.prod.outlook.com]", "m.test", ("A1B2@x.prod.outlook.com",)),
        (
            "Ok 0102018f-a1b2-000000",
            "email-smtp.eu-west-1.amazonaws.com",
            ("0102018f-a1b2-000000@eu-west-1.amazonses.com",),
        ),
        (
            "Ok 0100018f-a1b2-000000",
            "email-smtp.us-east-1.amazonaws.com",
            ("0100018f-a1b2-000000@email.amazonses.com",),
        ),
        ("Ok 0100018f-a1b2-000000", "mail.test", ()),
        ("OK <a@b> <a@b> <not one> <c@d\n> <=?x?=@b>", "mail.test", ("a@b",)),
        (f"OK <{'a' * 300}@b>", "mail.test", ()),
        ("OK " + " ".join(f"<{number}@b>" for number in range(9)), "mail.test", ("0@b", "1@b", "2@b", "3@b")),
    ],
)
def test_a_server_says_under_which_names_it_sends_a_mail_on(said: str, host: str, names: tuple[str, ...]) -> None:
    assert names_in(Reply(status=250, lines=(said,)), host=host) == names
