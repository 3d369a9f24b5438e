"""All mail is one list of both sections, newest first, page by page; spam and the trash are not in it."""

from __future__ import annotations

import trio

from tests.support.service import Service


async def subjects(service: Service, **wanted: object) -> list[str]:
    found: list[str] = []
    more: dict[str, str] = {}
    while True:
        page = await service.query("mail.threads", section="all", limit=2, **wanted, **more)
        found += [thread["subject"] for thread in page["threads"]]
        if page["nextCursor"] is None:
            return found
        more["cursor"] = page["nextCursor"]


async def test_both_sections_are_one_list_without_spam_and_trash(service: Service) -> None:
    for subject, labels in (
        ("one", ["INBOX"]),
        ("two", ["STARRED"]),
        ("three", ["INBOX", "UNREAD"]),
        ("away", ["SPAM"]),
        ("thrown", ["TRASH"]),
        ("four", ["UNREAD"]),
        ("five", []),
    ):
        await service.synced(subject, labels=labels)
        await trio.sleep(60)
    assert await subjects(service) == ["five", "four", "three", "two", "one"]
    assert await subjects(service, only="unread") == ["four", "three"]
    assert await subjects(service, only="starred") == ["two"]
