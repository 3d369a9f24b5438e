"""The whole way with real servers: a consent over HTTP, and a Dovecot that asks what the token is worth (XOAUTH2)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trio

from svc.clock import WallClock
from svc.mail.sync.engine import MailEngine
from tests.mail.imap.dovecot_account import letter
from tests.peers.dovecot import ADDRESS, Dovecot
from tests.peers.microsoft import CLIENT_SECRET, Microsoft, dovecot_for, microsoft, settings_for
from tests.peers.needs import DOVECOT, needs
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S
from tests.support.service import HOST, Service, open_service
from tests.support.waiting import until

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(DOVECOT), pytest.mark.thorough]


@pytest.fixture
def peers() -> Iterator[tuple[Microsoft, Dovecot]]:
    with microsoft(ADDRESS) as peer, dovecot_for(peer) as server:
        yield peer, server


@pytest.fixture
async def service(
    tmp_path: Path, log: RecordedLog, peers: tuple[Microsoft, Dovecot], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Service]:
    peer, server = peers
    monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
    settings = {**settings_for(peer, server), "SVC_UNDO_SEND_SECONDS": "0"}
    async with open_service(tmp_path, clock=WallClock(), log=log, environ=settings) as opened:
        with trio.fail_after(HANGS_S):
            yield opened
    server.relay.settle()


def where_it_sends(url: str) -> str:
    """One step of a browser."""
    there = urlsplit(url)
    connection = HTTPConnection(there.netloc, timeout=HANGS_S)
    connection.request("GET", f"{there.path}?{there.query}")
    location = connection.getresponse().getheader("location")
    connection.close()
    assert location is not None
    return location


async def connect(service: Service) -> str:
    """As a browser goes: to the consent screen, to where it sends, and on to the callback. Where it ends."""
    reply = await service.get(f"/oauth/mail/start?provider=outlook&email={ADDRESS}")
    cookie = (reply.header("set-cookie") or "").partition(";")[0]
    landed = urlsplit(await trio.to_thread.run_sync(where_it_sends, reply.header("location") or ""))
    reply = await service.ask("GET", f"{landed.path}?{landed.query}", host=landed.netloc)
    back = urlsplit(reply.header("location") or "")
    assert back.netloc == HOST
    reply = await service.ask("GET", f"{back.path}?{back.query}", host=HOST, fields={"cookie": cookie})
    return reply.header("location") or reply.body.decode()


async def outgoing(service: Service, outgoing_id: str) -> str:
    (row,) = [one for one in await service.query("mail.outgoing") if one["id"] == outgoing_id]
    return str(row["state"])


async def test_a_mailbox_is_connected_read_and_written_from_by_tokens(
    service: Service, peers: tuple[Microsoft, Dovecot], log: RecordedLog
) -> None:
    peer, server = peers
    server.deliver("INBOX", letter("Hello"))
    assert await connect(service) == "/"
    (account,) = await service.query("mail.accounts")
    await service.workspace.service(MailEngine).sync_now(account["id"])
    assert [one["subject"] for one in (await service.query("mail.threads", section="inbox"))["threads"]] == ["Hello"]
    sent = await service.mutate(
        "mail.send", accountId=account["id"], to=["bob@else.test"], subject="Boats", html="<p>Hi</p>"
    )

    async def is_sent() -> bool:
        state = await outgoing(service, sent["outgoingId"])
        assert state not in {"failed", "uncertain"}
        return state == "sent"

    await until(is_sent, what="the mail to be sent")
    assert [one.recipients for one in server.relay.mails] == [("bob@else.test",)]
    assert all(one.form["client_secret"] == CLIENT_SECRET for one in peer.asked)
    assert "canary" not in log.text


async def test_a_token_that_the_server_no_longer_takes_is_renewed(
    service: Service, peers: tuple[Microsoft, Dovecot]
) -> None:
    peer, server = peers
    assert await connect(service) == "/"
    (account,) = await service.query("mail.accounts")
    peer.tokens.clear()
    renewed = len(peer.forms("refresh_token"))
    server.stop()
    server.start()
    await service.workspace.service(MailEngine).sync_now(account["id"])
    assert len(peer.forms("refresh_token")) == renewed + 1
    (account,) = await service.query("mail.accounts")
    assert account["state"] == "caught-up"


async def test_a_token_of_somebody_else_opens_no_mailbox(service: Service, peers: tuple[Microsoft, Dovecot]) -> None:
    peer, _ = peers
    peer.names = {"email": ADDRESS}
    peer.address = "bob@acme.test"
    try:
        assert await connect(service) == "/p/mail?connect=mailbox-closed"
    finally:
        peer.names, peer.address = None, ADDRESS
    assert await service.query("mail.accounts") == []
