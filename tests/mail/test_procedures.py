"""``mail.*`` and ``fake.mail.*`` as a client meets them: shapes on the wire, pages, and what is refused."""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.app import FAKES
from svc.clock import VirtualClock
from svc.fakes.mail.wire import MAX_LINE_CHARS
from svc.principal import Principal
from svc.protocol import Procedure
from svc.workspace import RequestContext
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, RpcError, Service, open_service

STRANGER = Principal(user_id="usr_other", device_id="dev_other", is_admin=True, via="session")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


async def refusal(service: Service, procedure: str, **wanted: object) -> str:
    kind = {row.name: row.kind for row in rows(service)}[procedure]
    with pytest.raises(RpcError) as refused:
        await (service.query if kind == "query" else service.mutate)(procedure, **wanted)
    return refused.value.code


def rows(service: Service) -> list[Procedure[RequestContext]]:
    return [row for feature in service.workspace.features for row in feature.procedures]


async def inbox(service: Service, section: str = "inbox", **more: object) -> list[str]:
    found = await service.query("mail.threads", section=section, **more)
    return [thread["subject"] for thread in found["threads"]]


async def test_an_account_is_shown_with_its_state_and_its_badge(service: Service) -> None:
    await service.synced("One", "Two")
    (account,) = await service.query("mail.accounts")
    assert account == {
        "id": account["id"],
        "address": MIA,
        "provider": "fake",
        "state": "caught-up",
        "unread": 2,
        "lastSyncedAt": account["lastSyncedAt"],
        "progress": None,
        "problem": None,
        "messages": 2,
        "pending": 0,
        "failed": 0,
        "unreadTwins": 0,
        "senderName": None,
        "access": "own",
        "owner": None,
        "sharedWith": 0,
        "sends": True,
        "signIn": "oauth",
        "addresses": [
            {"address": account["address"], "name": "", "source": "account", "confirmed": True, "default": True}
        ],
    }
    assert INSTANT.fullmatch(account["lastSyncedAt"])


async def test_a_line_break_that_would_end_a_header_of_a_fake_message_is_refused_or_a_space(service: Service) -> None:
    for address in ("mia@example.org\nBcc: a@b.c", "mia@example.org\n", "mia@example.org\r"):
        with pytest.raises(RpcError, match=r"address") as refused:
            await service.mutate("fake.mail.inject", address=address, **{"from": "noa@example.org"}, subject="Hi")
        assert refused.value.code == "BAD_REQUEST"
    attachments = [{"filename": "a\nb", "mime": "text/plain\nX-Evil: 1", "text": "abc"}]
    await service.synced("Odd", attachments=attachments)


async def test_a_thread_is_shown_in_the_list_and_whole(service: Service) -> None:
    html = '<p>Hi</p><script>alert(1)</script><img src="https://tracker.example/p.gif">'
    attachments = [{"filename": "notes.txt", "mime": "text/plain", "text": "abc"}]
    (thread_id,) = await service.synced("Notes", html=html, attachments=attachments)
    (summary,) = (await service.query("mail.threads", section="inbox"))["threads"]
    (account,) = await service.query("mail.accounts")
    assert summary == {
        "id": thread_id,
        "accountId": account["id"],
        "subject": "Notes",
        "snippet": summary["snippet"],
        "lastMessageAt": summary["lastMessageAt"],
        "unread": True,
        "inInbox": True,
        "labels": [{"id": "INBOX", "name": "Inbox", "color": None}, {"id": "UNREAD", "name": "Unread", "color": None}],
        "sender": {"name": "Noa", "address": "noa@example.org", "title": None},
        "messageCount": 1,
        "draftCount": 0,
        "hasAttachments": True,
        "starred": False,
        "snoozedUntil": None,
        "hidden": False,
        "twins": [],
        "writers": [],
        "toMe": True,
        "muted": False,
        "leads": True,
        "sent": None,
        "draft": None,
    }
    whole = await service.query("mail.thread", id=thread_id)
    assert (whole["thread"], whole["filing"], whole["proposedReply"]) == (summary, None, None)
    (message,) = whole["messages"]
    assert message["from"] == {"name": "Noa", "address": "noa@example.org"}
    assert [one["address"] for one in message["to"]] == [MIA]
    assert "script" not in message["html"]
    assert "tracker.example" not in message["html"]
    assert (message["blockedImages"], message["remoteImages"]) == (1, ["https://tracker.example/p.gif"])
    (file,) = message["attachments"]
    assert (file["filename"], file["mime"], file["size"]) == ("notes.txt", "text/plain", 3)
    assert (await service.get(f"/files/{file['fileId']}/content")).body == b"abc"


async def test_opening_archiving_and_back_is_seen_at_once_and_at_the_provider(service: Service) -> None:
    first, second = await service.synced("First", "Second")
    await service.mutate("mail.open", threadId=first)
    await service.mutate("mail.archive", threadIds=[first, second])
    assert await inbox(service) == []
    assert sorted(await inbox(service, "skipped")) == ["First", "Second"]
    await service.mutate("fake.mail.syncNow", address=MIA)
    (account,) = await service.query("mail.accounts")
    assert account["pending"] == 0
    await service.mutate("mail.unarchive", threadIds=[second])
    await service.mutate("mail.markUnread", threadIds=[first])
    assert await inbox(service) == ["Second"]
    (skipped,) = (await service.query("mail.threads", section="skipped"))["threads"]
    assert (skipped["subject"], skipped["unread"]) == ("First", True)


async def test_pages_follow_each_other_without_gap_or_repeat(service: Service) -> None:
    subjects = [f"Mail {number}" for number in range(7)]
    for subject in subjects:
        await service.synced(subject)
        await trio.sleep(60)
    seen, cursor = [], None
    while True:
        page = await service.query("mail.threads", section="inbox", limit=3, **({"cursor": cursor} if cursor else {}))
        seen += [thread["subject"] for thread in page["threads"]]
        if (cursor := page["nextCursor"]) is None:
            break
    assert seen == subjects[::-1]


async def test_one_account_can_be_looked_at_alone(service: Service) -> None:
    await service.synced("Hers")
    await service.synced("His", address="noa@example.org")
    ids = {account["address"]: account["id"] for account in await service.query("mail.accounts")}
    assert await inbox(service, accountId=ids[MIA]) == ["Hers"]
    assert sorted(await inbox(service)) == ["Hers", "His"]
    assert await refusal(service, "mail.threads", section="inbox", accountId="acc_none") == "NOT_FOUND"


BAD_INPUT: tuple[tuple[str, dict[str, object]], ...] = (
    ("mail.threads", {}),
    ("mail.threads", {"section": "sent"}),
    ("mail.threads", {"section": "inbox", "limit": 0}),
    ("mail.threads", {"section": "inbox", "limit": 201}),
    ("mail.threads", {"section": "inbox", "cursor": "!"}),
    ("mail.threads", {"section": "inbox", "cursor": "Z2FyYmFnZQ"}),
    ("mail.threads", {"section": "inbox", "cursor": "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5Onh4"}),  # 999…9:xx
    ("mail.threads", {"section": "inbox", "cursor": "é"}),
    ("mail.thread", {}),
    ("mail.thread", {"id": ""}),
    ("mail.thread", {"id": "x" * 201}),
    ("mail.thread", {"id": 7}),
    ("mail.thread", {"id": "\ud800"}),
    ("mail.archive", {"threadIds": ["\udfff"]}),
    ("mail.archive", {"threadIds": "thr_x"}),
    ("mail.archive", {"threadIds": ["thr_x"] * 501}),
    ("mail.open", {"threadId": None}),
    ("fake.mail.inject", {"address": "x", "from": "a@example.org", "subject": "s"}),
    ("fake.mail.fault", {"address": MIA, "operation": "get", "fault": 418}),
    ("fake.mail.fault", {"address": MIA, "operation": "get", "fault": 500, "times": 0}),
)


async def test_nonsense_is_refused_in_words_and_changes_nothing(service: Service) -> None:
    await service.synced("Hello")
    before = await service.dump()
    for procedure, wanted in BAD_INPUT:
        assert await refusal(service, procedure, **wanted) == "BAD_REQUEST", (procedure, wanted)
    assert await service.dump() == before
    assert not service.log.events("error")


async def test_a_thread_that_is_not_there_stops_the_whole_change(service: Service) -> None:
    (thread_id,) = await service.synced("Hello")
    for procedure in ("mail.archive", "mail.markUnread", "mail.unarchive"):
        assert await refusal(service, procedure, threadIds=[thread_id, "thr_none"]) == "NOT_FOUND"
    assert await refusal(service, "mail.open", threadId="thr_none") == "NOT_FOUND"
    assert await inbox(service) == ["Hello"]


async def test_anothers_mail_is_as_missing_as_mail_that_never_was(service: Service) -> None:
    (thread_id,) = await service.synced("Hello")
    (account,) = await service.query("mail.accounts")
    await service.workspace.store.write(lambda tx: tx.run("update mail_accounts set owner_id = 'usr_mia'"))
    calls: tuple[tuple[str, dict[str, object], dict[str, object]], ...] = (
        ("mail.thread", {"id": thread_id}, {"id": "thr_none"}),
        ("mail.threads", {"section": "inbox", "accountId": account["id"]}, {"section": "inbox", "accountId": "none"}),
        ("mail.open", {"threadId": thread_id}, {"threadId": "thr_none"}),
        ("mail.archive", {"threadIds": [thread_id]}, {"threadIds": ["thr_none"]}),
        ("mail.unarchive", {"threadIds": [thread_id]}, {"threadIds": ["thr_none"]}),
        ("mail.markUnread", {"threadIds": [thread_id]}, {"threadIds": ["thr_none"]}),
    )
    for procedure, theirs, none in calls:
        assert await as_stranger(service, procedure, theirs) == await as_stranger(service, procedure, none)
    assert (await service.get_as(STRANGER, "/trpc/mail.accounts")).json == {"result": {"data": []}}


async def as_stranger(service: Service, procedure: str, wanted: dict[str, object]) -> tuple[int, Any]:
    reply = await service.ask_as(STRANGER, procedure, wanted)
    return reply.status, reply.json["error"]


async def test_the_fake_hooks_do_not_exist_beside_real_providers(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log) as service:
        assert FAKES not in service.workspace.features
        for row in FAKES.procedures:
            ask = service.query if row.kind == "query" else service.mutate
            with pytest.raises(RpcError) as refused:
                await ask(row.name, address=MIA)
            assert (refused.value.code, refused.value.status) == ("NOT_FOUND", 404)


async def test_a_fault_at_the_provider_shows_and_passes(service: Service) -> None:
    await service.synced("Before")
    await service.mutate("fake.mail.fault", address=MIA, operation="history", fault=500)
    await service.mutate("fake.mail.syncNow", address=MIA)
    (account,) = await service.query("mail.accounts")
    assert account["state"] == "waiting"
    assert account["problem"]
    await service.synced("After")
    (account,) = await service.query("mail.accounts")
    assert (account["state"], account["problem"]) == ("caught-up", None)
    assert sorted(await inbox(service)) == ["After", "Before"]


async def test_a_changed_label_and_a_forgotten_history_are_caught_up_with(service: Service) -> None:
    wanted = {"address": MIA, "from": "noa@example.org", "subject": "Moved"}
    sent = await service.mutate("fake.mail.inject", **wanted)
    await service.mutate("fake.mail.syncNow", address=MIA)
    await service.mutate(
        "fake.mail.setLabels", address=MIA, providerMessageId=sent["providerMessageId"], labels=["STARRED"]
    )
    await service.mutate("fake.mail.expireHistory", address=MIA)
    for _ in range(3):
        await service.mutate("fake.mail.syncNow", address=MIA)
    assert await inbox(service) == []
    assert await inbox(service, "skipped") == ["Moved"]


async def test_of_mails_that_arrive_within_one_second_the_newest_stands_first(service: Service) -> None:
    subjects = [f"Mail {number}" for number in range(8)]
    for subject, address in zip(subjects, cycle([MIA, "hello@example.org"]), strict=False):
        await service.synced(subject, address=address)
    assert await inbox(service) == subjects[::-1]


async def test_attachments_that_are_not_base64_and_lines_without_an_end_are_refused(service: Service) -> None:
    wanted = {"address": MIA, "from": "noa@example.org", "subject": "s"}
    assert (
        await refusal(service, "fake.mail.inject", **wanted, attachments=[{"filename": "a", "content": "a"}])
        == "BAD_REQUEST"
    )
    wanted["subject"] = "s" * (MAX_LINE_CHARS + 1)
    assert await refusal(service, "fake.mail.inject", **wanted) == "BAD_REQUEST"


@pytest.mark.thorough
async def test_the_mock_world_stands_once_however_often_it_is_booted(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async def counted() -> tuple[int, int]:
        async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_SEED="mock-world") as service:
            accounts = await service.query("mail.accounts")
            for account in accounts:
                await service.mutate("fake.mail.syncNow", address=account["address"])
            return len(accounts), (await service.rows("select count(*) from mail_messages"))[0][0]

    accounts, messages = await counted()
    assert accounts >= 2
    assert messages >= 40
    assert await counted() == (accounts, messages)
