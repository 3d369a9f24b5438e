"""Rules that are suggested from what a person does again and again: offered, never imposed, and dismissed for good."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from svc.clock import VirtualClock
from svc.rules.habits import AGAIN
from tests.recorded_log import RecordedLog
from tests.rules.test_rules import ANN, ME, Desk
from tests.support.service import RpcError, open_service


@pytest.fixture
async def desk(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Desk]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        yield Desk(service)


async def archive(desk: Desk, subject: str, *, sender: str = ANN) -> str:
    thread = await desk.comes(subject, sender=sender)
    await desk.service.mutate("mail.archive", threadIds=[thread])
    return thread


async def suggested(desk: Desk, **wanted: Any) -> list[tuple[str, str, str, int]]:
    found = await desk.service.query("rules.suggestions", **wanted)
    return [(one["address"], one["deed"], one["value"], one["times"]) for one in found]


@pytest.mark.thorough
async def test_what_is_archived_again_and_again_is_offered_as_a_rule_until_there_is_one(desk: Desk) -> None:
    threads = [await archive(desk, f"offer {number}") for number in range(AGAIN - 1)]
    bob = [await archive(desk, f"bob {number}", sender="bob@example.org") for number in range(AGAIN)]
    assert await suggested(desk) == [("bob@example.org", "archive", "", AGAIN)]
    await desk.service.mutate("undo.takeBack")  # one of Bob's comes back
    assert await suggested(desk) == []
    threads.append(await archive(desk, "offer last"))
    assert await suggested(desk) == [(ANN, "archive", "", AGAIN)]
    assert await suggested(desk, threadId=bob[0]) == []
    assert await suggested(desk, threadId=threads[0]) == [(ANN, "archive", "", AGAIN)]
    (one,) = await desk.service.query("rules.suggestions")
    assert await desk.service.query("rules.list") == [], "none is made by itself"
    await desk.service.mutate("rules.save", title=one["title"], rule=one["rule"])
    assert await suggested(desk) == []
    thread = await desk.comes("offer by rule")
    await desk.until(lambda: desk.why(thread))
    assert not (await desk.row(thread))["inInbox"]


async def test_a_sender_one_writes_to_or_keeps_is_no_habit_and_no_means_never(desk: Desk) -> None:
    await desk.service.mutate("fake.mail.inject", **{"address": ME, "from": ANN, "subject": "Kept", "text": "Hello."})
    for number in range(AGAIN):
        thread = await archive(desk, f"offer {number}")
        await desk.service.mutate("mail.setLabels", threadIds=[thread], add=["STARRED"])
    found = await suggested(desk)
    assert (ANN, "star", "", AGAIN) in found
    (kept,) = [one["id"] for one in await desk.threads() if one["subject"] == "Kept"]
    assert (ANN, "archive", "", AGAIN) in found, "what was not looked at is not kept"
    await desk.service.mutate("mail.open", threadId=kept)
    assert await suggested(desk) == [(ANN, "star", "", AGAIN)]
    assert (ANN, "archive", "", AGAIN) in await suggested(desk, threadId=kept), "it is open, so it is not yet kept"
    await desk.service.mutate("rules.dismissSuggestion", address=ANN, deed="star")
    thread = await desk.comes("once more")
    await desk.service.mutate("mail.setLabels", threadIds=[thread], add=["STARRED"])
    assert await suggested(desk) == []
    with pytest.raises(RpcError):
        await desk.service.mutate("rules.dismissSuggestion", address="nobody@example.org", deed="archive")
