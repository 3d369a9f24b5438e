"""A person connects a mailbox by its password: tried first, kept as one, and let go of as one."""

from __future__ import annotations

import hashlib
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import WallClock
from svc.mail.sync.engine import MailEngine
from tests.mail.imap.dovecot_account import letter
from tests.peers.dovecot import ADDRESS, PASSWORD, Dovecot
from tests.peers.needs import DOVECOT, needs
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S
from tests.support.http import Reply
from tests.support.service import Service, open_service
from tests.support.waiting import until

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(DOVECOT)]


@pytest.fixture
async def service(tmp_path: Path, log: RecordedLog) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=WallClock(), log=log) as opened:
        with trio.fail_after(HANGS_S):
            yield opened


def wanted(server: Dovecot, *, pinned: bool = True, **other: object) -> dict[str, object]:
    pin = hashlib.sha256(ssl.PEM_cert_to_DER_cert(server.certificate.read_text())).hexdigest() if pinned else None
    return {
        "address": ADDRESS,
        "password": PASSWORD,
        "imap": {"host": "127.0.0.1", "port": server.tls_port, "security": "tls", "pin": pin},
        "smtp": {"host": "localhost", "port": server.submission_port, "security": "starttls", "pin": pin},
        **other,
    }


async def refused(service: Service, asked: dict[str, object]) -> dict[str, Any]:
    """What a refusal says; nothing is kept then."""
    reply: Reply = await service.ask("POST", "/trpc/mail.connectImap", json.dumps(asked).encode(), fields=JSON)
    assert reply.status == 400, reply.body
    assert await service.rows("select * from mail_accounts") == []
    assert await service.rows("select * from secrets where name like 'mail.imap.%'") == []
    error: dict[str, Any] = json.loads(reply.body)["error"]
    assert PASSWORD not in json.dumps(error, ensure_ascii=False)
    return {"words": error["message"], **error["data"]}


async def nothing_left(service: Service) -> None:
    """What is erased goes batch by batch."""

    async def is_erased() -> bool:
        return not await service.rows("select 1 from mail_imap_places")

    await until(is_erased, what="the messages of the account to be erased")


JSON = {"content-type": "application/json"}


async def test_a_mailbox_is_connected_read_and_let_go_of(service: Service, server: Dovecot, log: RecordedLog) -> None:
    server.deliver("INBOX", letter("Hello"))
    account_id = (await service.mutate("mail.connectImap", **wanted(server, name="Alice A")))["accountId"]
    await service.workspace.service(MailEngine).sync_now(account_id)
    (account,) = await service.query("mail.accounts")
    assert (account["provider"], account["state"], account["senderName"]) == ("imap", "caught-up", "Alice A")
    assert [one["subject"] for one in (await service.query("mail.threads", section="inbox"))["threads"]] == ["Hello"]
    kept = await service.rows("select name, source, ciphertext from secrets where name like 'mail.imap.%'")
    assert [(name, source) for name, source, _ in kept] == [(f"mail.imap.{ADDRESS}", "user")]
    assert PASSWORD.encode() not in kept[0][2]
    assert (await service.mutate("mail.disconnect", accountId=account_id, erase=True))["notice"] is None
    assert await service.rows("select * from secrets where name like 'mail.imap.%'") == []
    await nothing_left(service)
    assert PASSWORD not in log.text


async def test_it_is_connected_again_with_another_password(service: Service, server: Dovecot) -> None:
    first = await service.mutate("mail.connectImap", **wanted(server))
    engine = service.workspace.service(MailEngine)
    await service.mutate("mail.disconnect", accountId=first["accountId"], erase=False)
    copied = wanted(server, password=f" {PASSWORD}\N{NO-BREAK SPACE}", username=f"{ADDRESS} ")
    again = await service.mutate("mail.connectImap", **copied)
    assert again == first
    await engine.sync_now(first["accountId"])
    (account,) = await service.query("mail.accounts")
    assert account["state"] == "caught-up"


async def test_who_connects_again_finds_the_servers_set_by_hand(service: Service, server: Dovecot) -> None:
    account_id = (await service.mutate("mail.connectImap", **wanted(server)))["accountId"]
    kept = await service.mutate("mail.imapServers", accountId=account_id)
    asked = wanted(server)
    assert kept == {"imap": asked["imap"], "smtp": asked["smtp"], "username": ADDRESS}
    assert PASSWORD not in json.dumps(kept, ensure_ascii=False)
    again = await service.mutate("mail.connectImap", address=ADDRESS, password=PASSWORD, **kept)
    assert again["accountId"] == account_id
    await service.mutate("mail.disconnect", accountId=account_id, erase=False)
    assert await service.mutate("mail.imapServers", accountId=account_id) is None


async def test_why_nothing_was_connected_is_said(service: Service, server: Dovecot) -> None:
    wrong = await refused(service, wanted(server, password="not-it"))
    assert wrong["reason"] == "auth_failed"
    assert "app password" in wrong["words"]
    for which in ("imap", "smtp"):
        asked = wanted(server)
        asked[which] = {**asked[which], "pin": None}  # type: ignore[dict-item]
        untrusted = await refused(service, asked)
        assert (untrusted["reason"], untrusted["server"]) == ("tls_failed", which)
        assert untrusted["certificate"]["subject"] == "CN=localhost"
        assert len(untrusted["certificate"]["sha256"]) == 64
    away = wanted(server, imap={"host": "127.0.0.1", "port": 1, "security": "tls"})
    assert (await refused(service, away))["reason"] == "unreachable"
    smtp_away = wanted(server, smtp={"host": "127.0.0.1", "port": 1, "security": "tls"})
    assert (await refused(service, smtp_away))["reason"] == "smtp_failed"
    microsoft = await refused(service, {"address": "mia@outlook.com", "password": PASSWORD})
    assert microsoft["reason"] == "oauth_only"
    for address in ("nobody", "a@b", "a b@c.test", "@c.test"):
        assert (await refused(service, wanted(server, address=address)))["reason"] == "address"
    assert (await refused(service, wanted(server, imap={"host": "a b", "port": 1, "security": "tls"})))[
        "reason"
    ] == "server"


async def test_where_servers_are_is_asked_first(service: Service) -> None:
    found = await service.query("mail.discover", address="mia@fastmail.com")
    assert found["imap"] == {"host": "imap.fastmail.com", "port": 993, "security": "tls"}
    assert (found["source"], found["signIn"]) == ("preset", "password")
    assert (await service.query("mail.discover", address="mia@hotmail.com"))["signIn"] == "oauth"
