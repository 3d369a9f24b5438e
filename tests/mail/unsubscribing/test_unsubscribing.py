"""Unsubscribing: by the one-click request that the sender signed for, by a mail, or by a page that the person opens."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import trio

from svc.clock import DAY_MS, VirtualClock
from svc.fakes.mail.records import FakeRecords
from svc.mail import SigningKeys
from svc.mail.unsubscribing.unsubscriber import Unsubscriber
from svc.workspace import Workspace
from tests.protocol.small_internet import PICTURES, Internet, answer, moved
from tests.recorded_log import RecordedLog
from tests.support.certificates import certificates
from tests.support.mailbox import MIA
from tests.support.service import RpcError, Service, open_service
from tests.support.signing import COVERED, key_of, name_of, signed

HTTPS = f"List-Unsubscribe: <https://{PICTURES}/u?who=1>\r\n"
POST = "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
MAILTO = "List-Unsubscribe: <mailto:leave@news.example?subject=Leave%20me&cc=evil@evil.test>\r\n"


CROWDED = f"List-Unsubscribe: <mailto:leave@news.example?{'&'.join(f'f{n}=x' for n in range(30))}>\r\n"


@dataclass
class Post:
    service: Service
    internet: Internet

    async def receive(self, fields: str, *, sign: str | None = "example.org", **more: Any) -> str:
        """A mail with these fields: its id."""
        raw = f"From: News <news@example.org>\r\nTo: {MIA}\r\nSubject: News\r\n{fields}\r\nHello.\r\n".encode()
        if sign is not None:
            raw = signed(raw, sign, **more)
        (thread_id,) = await self.service.synced("News", raw=base64.b64encode(raw).decode())
        detail = await self.service.query("mail.thread", id=thread_id)
        return cast(str, detail["messages"][0]["id"])

    async def offer(self, message_id: str) -> tuple[str, str]:
        found = await self.service.query("mail.unsubscribeOffer", messageId=message_id)
        return found["method"], found["target"]

    async def outcome(self, message_id: str) -> Any:
        found = (await self.service.query("mail.unsubscribed", messageId=message_id))["unsubscribed"]
        return found and found["outcome"]


@pytest.fixture
async def post(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Post]:
    server_tls, client_tls = certificates(tmp_path, PICTURES)
    async with trio.open_nursery() as nursery:
        internet = Internet(server_tls=server_tls, client_tls=client_tls, nursery=nursery)
        internet.pages[f"{PICTURES}/u?who=1"] = answer(b"bye")

        def around(workspace: Workspace) -> None:
            workspace.service(Unsubscriber).egress = internet.egress()
            published = {name_of(domain): key_of()[1] for domain in ("example.org", "mail.example.org", "evil.test")}
            workspace.service(SigningKeys).records = FakeRecords(published=published)

        async with open_service(tmp_path, clock=wall, log=log, before=around, PROVIDERS="fake") as service:
            yield Post(service, internet)
        nursery.cancel_scope.cancel()


@pytest.mark.thorough
async def test_a_signed_one_click_is_asked_for_once_and_remembered(post: Post) -> None:
    message_id = await post.receive(HTTPS + POST)
    assert await post.offer(message_id) == ("one-click", PICTURES)
    assert (await post.outcome(message_id), post.internet.heard) == (None, [])
    for _ in range(2):
        done = await post.service.mutate("mail.unsubscribe", messageId=message_id, method="one-click")
        assert done == {"method": "one-click", "url": None, "outgoingId": None}
    (heard,) = post.internet.heard
    head, _, body = heard.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /u?who=1 HTTP/1.1\r\n")
    assert body == b"List-Unsubscribe=One-Click"
    assert b"content-type: application/x-www-form-urlencoded" in head.lower()
    assert not any(word in head.lower() for word in (b"cookie", b"authorization", b"referer", b"origin"))
    assert await post.outcome(message_id) == "done"


@pytest.mark.thorough
async def test_without_the_senders_own_word_nothing_is_asked_and_the_page_is_the_persons_to_open(post: Post) -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        (HTTPS + POST, {"sign": None}),
        (HTTPS + POST, {"sign": "evil.test"}),
        (HTTPS + POST, {"length": True}),
        (HTTPS + POST, {"algorithm": b"rsa-sha1"}),
        (HTTPS + POST, {"covered": [one for one in COVERED if one != "list-unsubscribe-post"]}),
        (HTTPS + POST, {"covered": [one for one in COVERED if one != "list-unsubscribe"]}),
        (HTTPS + HTTPS + POST, {}),
        (HTTPS + POST + POST, {}),
        (HTTPS, {}),
        (HTTPS + POST.replace("One-Click", "One-Click, and more"), {}),
    ]
    for fields, signing in cases:
        message_id = await post.receive(fields, **signing)
        assert (await post.offer(message_id), await post.outcome(message_id)) == (("link", PICTURES), None), signing
        with pytest.raises(RpcError) as caught:
            await post.service.mutate("mail.unsubscribe", messageId=message_id, method="one-click")
        assert caught.value.code == "CONFLICT", (fields, signing)
        done = await post.service.mutate("mail.unsubscribe", messageId=message_id)
        assert done["url"] == f"https://{PICTURES}/u?who=1"
        assert (post.internet.heard, await post.outcome(message_id)) == ([], "opened"), (fields, signing)


@pytest.mark.thorough
async def test_a_redirect_an_error_and_a_private_address_are_told(post: Post) -> None:
    page = f"{PICTURES}/u?who=1"
    for said, words in [
        (moved(f"https://{PICTURES}/other"), "its server answered 302"),
        (answer(status="500 Oops"), "its server answered 500"),
    ]:
        message_id = await post.receive(HTTPS + POST)
        post.internet.pages[page] = said
        with pytest.raises(RpcError, match=words):
            await post.service.mutate("mail.unsubscribe", messageId=message_id)
        assert await post.outcome(message_id) == "failed"
    asked = len(post.internet.heard)
    post.internet.names[PICTURES] = [["10.0.0.1"]]
    message_id = await post.receive(HTTPS + POST)
    with pytest.raises(RpcError, match="not on the public Internet"):
        await post.service.mutate("mail.unsubscribe", messageId=message_id)
    assert len(post.internet.heard) == asked


async def test_a_mail_asks_for_it_and_can_be_held_back(post: Post) -> None:
    message_id = await post.receive(MAILTO, sign=None)
    assert await post.offer(message_id) == ("mailto", "leave@news.example")
    done = await post.service.mutate("mail.unsubscribe", messageId=message_id)
    (outgoing,) = await post.service.query("mail.outgoing")
    assert (outgoing["id"], outgoing["state"]) == (done["outgoingId"], "held")
    assert (outgoing["to"], outgoing["cc"], outgoing["subject"]) == (["leave@news.example"], [], "Leave me")
    assert await post.outcome(message_id) == "sent"
    await post.service.mutate("mail.cancelSend", id=done["outgoingId"])
    assert await post.outcome(message_id) is None
    again = await post.service.mutate("mail.unsubscribe", messageId=message_id)
    assert (again["outgoingId"] != done["outgoingId"], await post.outcome(message_id)) == (True, "sent")
    fault = {"address": MIA, "operation": "send", "fault": 403}
    await post.service.mutate("fake.mail.fault", **fault)
    await trio.sleep(60)
    assert await post.outcome(message_id) == "failed"
    third = await post.service.mutate("mail.unsubscribe", messageId=message_id)
    await trio.sleep(60)
    assert (third["outgoingId"] is not None, await post.outcome(message_id)) == (True, "sent")


@pytest.mark.parametrize(("ends_by", "outcome"), [("mail.cancelSend", None), ("mail.dismissOutgoing", "failed")])
async def test_how_it_ended_is_known_after_its_mail_is_forgotten(
    post: Post, wall: VirtualClock, ends_by: str, outcome: str | None
) -> None:
    message_id = await post.receive(MAILTO, sign=None)
    if outcome == "failed":
        await post.service.mutate("fake.mail.fault", address=MIA, operation="send", fault=403)
    done = await post.service.mutate("mail.unsubscribe", messageId=message_id)
    if outcome == "failed":
        await trio.sleep(60)
    await post.service.mutate(ends_by, id=done["outgoingId"])
    wall.offset_ms += 31 * DAY_MS
    await trio.sleep(120)
    assert await post.service.rows("select id from mail_outgoing") == []
    assert await post.outcome(message_id) == outcome
    again = await post.service.mutate("mail.unsubscribe", messageId=message_id)
    assert again["outgoingId"] is not None


@pytest.mark.thorough
async def test_a_mail_without_a_way_out_offers_none(post: Post) -> None:
    for fields in ("", "List-Unsubscribe: <javascript:x>\r\n", "List-Unsubscribe: <mailto:>\r\n", CROWDED):
        message_id = await post.receive(fields)
        assert await post.outcome(message_id) is None, fields
        with pytest.raises(RpcError, match="names no way"):
            await post.service.query("mail.unsubscribeOffer", messageId=message_id)
