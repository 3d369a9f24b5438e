"""Rules that are suggested from what a person does again and again: offered, never imposed, and dismissed for good."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from svc.clock import VirtualClock
from svc.rules.habits import AGAIN
from tests.recorded_log import RecordedLog
from tests.rules.test_rules import ANN, ME, MailboxWithRules
from tests.support.service import RpcError, open_service


@pytest.fixture
async def mailbox(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[MailboxWithRules]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        yield MailboxWithRules(service)


async def archive(mailbox: MailboxWithRules, subject: str, *, sender: str = ANN) -> str:
    thread = await mailbox.comes(subject, sender=sender)
    await mailbox.service.mutate("mail.archive", threadIds=[thread])
    return thread


async def suggested(mailbox: MailboxWithRules, **wanted: Any) -> list[tuple[str, str, str, int]]:
    found = await mailbox.service.query("rules.suggestions", **wanted)
    return [(one["address"], one["deed"], one["value"], one["times"]) for one in found]


@pytest.mark.thorough
async def test_what_is_archived_again_and_again_is_offered_as_a_rule_until_there_is_one(
    mailbox: MailboxWithRules,
) -> None:
    threads = [await archive(mailbox, f"offer {number}") for number in range(AGAIN - 1)]
    bob = [await archive(mailbox, f"bob {number}", sender="bob@example.org") for number in range(AGAIN)]
    assert await suggested(mailbox) == [("bob@example.org", "archive", "", AGAIN)]
    await mailbox.service.mutate("undo.takeBack")  # one of Bob's comes back
    assert await suggested(mailbox) == []
    threads.append(await archive(mailbox, "offer last"))
    assert await suggested(mailbox) == [(ANN, "archive", "", AGAIN)]
    assert await suggested(mailbox, threadId=bob[0]) == []
    assert await suggested(mailbox, threadId=threads[0]) == [(ANN, "archive", "", AGAIN)]
    (one,) = await mailbox.service.query("rules.suggestions")
    assert await mailbox.service.query("rules.list") == [], "none is made by itself"
    await mailbox.service.mutate("rules.save", title=one["title"], rule=one["rule"])
    assert await suggested(mailbox) == []
    thread = await mailbox.comes("offer by rule")
    await mailbox.until(lambda: mailbox.why(thread))
    assert not (await mailbox.row(thread))["inInbox"]


async def test_a_sender_one_writes_to_or_keeps_is_no_habit_and_no_means_never(mailbox: MailboxWithRules) -> None:
    await mailbox.service.mutate(
        "fake.mail.inject", **{"address": ME, "from": ANN, "subject": "Kept", "text": "Hello."}
    )
    for number in range(AGAIN):
        thread = await archive(mailbox, f"offer {number}")
        await mailbox.service.mutate("mail.setLabels", threadIds=[thread], add=["STARRED"])
    found = await suggested(mailbox)
    assert (ANN, "star", "", AGAIN) in found
    (kept,) = [one["id"] for one in await mailbox.threads() if one["subject"] == "Kept"]
    assert (ANN, "archive", "", AGAIN) in found, "what was not looked at is not kept"
    await mailbox.service.mutate("mail.open", threadId=kept)
    assert await suggested(mailbox) == [(ANN, "star", "", AGAIN)]
    assert (ANN, "archive", "", AGAIN) in await suggested(mailbox, threadId=kept), "it is open, so it is not yet kept"
    await mailbox.service.mutate("rules.dismissSuggestion", address=ANN, deed="star")
    thread = await mailbox.comes("once more")
    await mailbox.service.mutate("mail.setLabels", threadIds=[thread], add=["STARRED"])
    assert await suggested(mailbox) == []
    with pytest.raises(RpcError):
        await mailbox.service.mutate("rules.dismissSuggestion", address="nobody@example.org", deed="archive")
