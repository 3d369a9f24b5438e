"""Dovecot as a person's own server: TLS and STARTTLS with its certificate, sign-in, and submission."""

from __future__ import annotations

import hashlib
import ssl

import pytest

from svc.mail.providers.imap.dialling import Dialler
from svc.mail.providers.imap.faults import MailServerFault
from svc.mail.providers.imap.login import Login
from svc.mail.providers.imap.opening import connected, shown_certificate
from svc.mail.providers.imap.protocol.responses import Folder
from svc.mail.providers.imap.protocol.writing import Text
from svc.mail.providers.imap.servers import MailServer, Security
from svc.mail.providers.imap.submission.session import Envelope, signed_in
from tests.peers.dovecot import ADDRESS, PASSWORD, Dovecot, dovecot
from tests.peers.needs import DOVECOT, needs

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(DOVECOT)]


def imap(server: Dovecot, security: Security = "tls", *, pin: str | None = None) -> MailServer:
    port = server.tls_port if security == "tls" else server.port
    return MailServer(host="127.0.0.1", port=port, security=security, pin=pin)


def submission(server: Dovecot) -> MailServer:
    return MailServer(host="localhost", port=server.submission_port, security="starttls")


def fingerprint(server: Dovecot) -> str:
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(server.certificate.read_text())).hexdigest()


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_a_person_signs_in_with_a_password(server: Dovecot, security: Security) -> None:
    dialler = Dialler(private=True, trust=server.trusted)
    connection = await connected(dialler, imap(server, security), Login(username=ADDRESS, secret=PASSWORD))
    assert {"IDLE", "MOVE", "QRESYNC"} <= connection.able
    listed = await connection.command("LIST", Text(b""), Text(b"*"))
    assert b"INBOX" in {one.name for one in listed.all(Folder)}
    await connection.enable("QRESYNC", "UNKNOWN")
    assert "QRESYNC" in connection.enabled
    await connection.aclose()


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_a_certificate_that_nobody_trusts_is_shown_and_can_be_pinned(server: Dovecot, security: Security) -> None:
    dialler = Dialler(private=True)
    with pytest.raises(MailServerFault, match="self-signed") as caught:
        await connected(dialler, imap(server, security), Login(username=ADDRESS, secret=PASSWORD))
    assert caught.value.reason == "tls_failed"
    shown = await shown_certificate(dialler, imap(server, security))
    assert shown is not None
    assert (shown.sha256, shown.subject) == (fingerprint(server), "CN=localhost")
    pinned = imap(server, security, pin=shown.sha256)
    await (await connected(dialler, pinned, Login(username=ADDRESS, secret=PASSWORD))).aclose()


async def test_a_pin_takes_one_certificate_and_no_other(server: Dovecot) -> None:
    dialler = Dialler(private=True, trust=server.trusted)
    with pytest.raises(MailServerFault, match="another certificate") as caught:
        await connected(dialler, imap(server, pin="ab" * 32), Login(username=ADDRESS, secret=PASSWORD))
    assert caught.value.certificate is not None


async def test_a_wrong_password_and_a_wrong_kind_of_security_are_told_apart(server: Dovecot) -> None:
    dialler = Dialler(private=True, trust=server.trusted)
    for wrong, reason in (
        ((imap(server), "wrong-one"), "auth_failed"),
        ((MailServer(host="127.0.0.1", port=server.port, security="tls"), PASSWORD), "tls_failed"),
        ((MailServer(host="127.0.0.1", port=server.submission_port, security="starttls"), PASSWORD), "not_imap"),
        ((MailServer(host="127.0.0.1", port=1, security="tls"), PASSWORD), "unreachable"),
        ((MailServer(host="no-such-host.invalid", port=1, security="tls"), PASSWORD), "unreachable"),
    ):
        with pytest.raises(MailServerFault) as caught:
            await connected(dialler, wrong[0], Login(username=ADDRESS, secret=wrong[1]))
        assert caught.value.reason == reason
        assert "wrong-one" not in caught.value.detail


async def test_a_public_cell_reaches_no_private_address(server: Dovecot) -> None:
    dialler = Dialler(private=False, trust=server.trusted)
    for host in ("127.0.0.1", "localhost"):
        with pytest.raises(MailServerFault) as caught:
            await dialler.open(MailServer(host=host, port=server.tls_port, security="tls"))
        assert caught.value.reason == "unreachable"


async def test_too_many_connections_are_said_to_be_so() -> None:
    with dovecot(extra="protocol imap {\n mail_max_userip_connections = 1\n}\n") as server:
        dialler = Dialler(private=True, trust=server.trusted)
        first = await connected(dialler, imap(server), Login(username=ADDRESS, secret=PASSWORD))
        with pytest.raises(MailServerFault) as caught:
            await connected(dialler, imap(server), Login(username=ADDRESS, secret=PASSWORD))
        assert caught.value.reason == "too_many"
        await first.aclose()


async def test_a_mail_is_submitted_and_relayed(server: Dovecot) -> None:
    dialler = Dialler(private=True, trust=server.trusted)
    session = await signed_in(dialler, submission(server), Login(username=ADDRESS, secret=PASSWORD))
    raw = b"Subject: Hi\r\n\r\n.\r\n..\r\n.end\r\n"
    reply = await session.submit(Envelope(sender=ADDRESS, recipients=("bob@else.test", "eve@else.test")), raw)
    await session.say_goodbye()
    assert reply.status == 250
    (kept,) = server.relay.mails
    assert (kept.sender, kept.recipients) == (ADDRESS, ("bob@else.test", "eve@else.test"))
    assert kept.raw.endswith(raw)


async def test_one_refused_recipient_holds_up_all(server: Dovecot) -> None:
    server.relay.refuses["eve@else.test"] = "550 5.1.1 no such user"
    session = await signed_in(
        Dialler(private=True, trust=server.trusted), submission(server), Login(username=ADDRESS, secret=PASSWORD)
    )
    with pytest.raises(MailServerFault, match=r"eve@else\.test") as caught:
        await session.submit(Envelope(sender=ADDRESS, recipients=("bob@else.test", "eve@else.test")), b"\r\nx\r\n")
    await session.aclose()
    assert (caught.value.reason, caught.value.may_have_happened) == ("refused", False)
    assert server.relay.mails == []
