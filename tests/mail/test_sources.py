"""A message as it came: to look at as plain text where nothing runs, and to keep as a file; and unread from it on."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from svc.fakes.mail.provider import FakeWorld
from tests.support.service import MIA, Service

HOSTILE = (
    b"From: Noa <noa@example.org>\r\nSubject: =?utf-8?q?A_=22letter=22=0D=0AX-Evil=3A_1_=C3=A9?=\r\n"
    b"Content-Type: text/html\r\n\r\n<script>alert(1)</script>"
)


async def arrived(service: Service, raw: bytes, *, labels: tuple[str, ...] = ("INBOX",)) -> list[dict[str, Any]]:
    """Into one thread, a minute later. Its messages."""
    if not await service.query("mail.accounts"):
        await service.synced("The first")
    await trio.sleep(60)
    fake_mail = service.workspace.service(FakeWorld)
    await fake_mail.inject(address=MIA, raw=raw, thread_key="a", labels=frozenset(labels))
    await service.mutate("fake.mail.syncNow", address=MIA)
    threads = (await service.query("mail.threads", section="inbox"))["threads"]
    opened = [await service.query("mail.thread", id=one["id"]) for one in threads]
    return next(list(one["messages"]) for one in opened if one["thread"]["subject"] != "The first")


async def test_its_source_is_plain_text_in_a_sandbox(service: Service) -> None:
    (message,) = await arrived(service, HOSTILE)
    reply = await service.get(f"/mail/messages/{message['id']}/source")
    assert reply.status == 200
    assert reply.body == HOSTILE
    assert reply.header("content-type") == "text/plain; charset=utf-8"
    assert reply.header("content-disposition") == "inline"
    assert reply.header("x-content-type-options") == "nosniff"
    assert reply.header("content-security-policy") == "sandbox; default-src 'none'"
    assert reply.header("cache-control") == "private, no-store"


async def test_its_file_is_an_attachment_of_a_plain_name(service: Service) -> None:
    (message,) = await arrived(service, HOSTILE)
    reply = await service.get(f"/mail/messages/{message['id']}/eml")
    assert reply.body == HOSTILE
    assert reply.header("content-type") == "message/rfc822"
    assert reply.header("x-content-type-options") == "nosniff"
    assert reply.header("x-evil") is None
    disposition = reply.header("content-disposition") or ""
    assert disposition.startswith('attachment; filename="A-letter-')
    assert disposition.endswith('.eml"')


@pytest.mark.parametrize("form", ["source", "eml"])
async def test_one_whose_bytes_are_lost_is_missing(service: Service, form: str) -> None:
    (message,) = await arrived(service, HOSTILE)
    lost = "0" * 64
    await service.workspace.store.write(lambda tx: tx.run("update mail_messages set raw_sha256 = :lost", lost=lost))
    reply = await service.get(f"/mail/messages/{message['id']}/{form}")
    assert reply.status == 404


async def test_a_message_and_what_came_after_it_are_unread_again(service: Service) -> None:
    letter = b"From: Noa <noa@example.org>\r\nSubject: Plans\r\n\r\nYes."
    await arrived(service, letter)
    await arrived(service, letter)
    await arrived(service, letter.replace(b"Noa <noa@example.org>", MIA.encode()), labels=("INBOX", "SENT"))
    messages = await arrived(service, letter)
    thread = (await service.query("mail.threads", section="inbox"))["threads"][0]
    await service.mutate("mail.open", threadId=thread["id"])
    await service.mutate("mail.markUnreadFrom", messageId=messages[1]["id"])
    assert await _unread(service, thread["id"]) == [False, True, False, True]
    await service.mutate("mail.undo")
    assert await _unread(service, thread["id"]) == [False, False, False, False]


async def _unread(service: Service, thread_id: str) -> list[bool]:
    return [one["unread"] for one in (await service.query("mail.thread", id=thread_id))["messages"]]
