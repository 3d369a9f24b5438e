"""A full disk: an account waits and says so, writes are refused in words, reads go on, and it recovers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio

from tests.full_disk import limit_pages, on_a_small_disk
from tests.support.service import MIA, Service

pytestmark = pytest.mark.thorough


async def test_sync_waits_on_a_full_database_and_goes_on_by_itself(service: Service) -> None:
    (thread_id,) = await service.synced("Before")
    ((account_id,),) = await service.rows("select id from mail_accounts")
    for number in range(40):
        subject, text = f"Too many {number}", "word " * 2_000
        await service.mutate(
            "fake.mail.inject", address=MIA, **{"from": "a@example.org", "subject": subject}, text=text
        )
    await service.workspace.store.write(limit_pages, 0)
    await trio.sleep(40)

    (account,) = await service.query("mail.accounts")
    (stands,) = await service.query("mail.health", accountId=account_id)
    assert account["state"] == stands["state"] == "waiting"
    assert "disk" in account["problem"]
    assert stands["problem"] == account["problem"]
    assert stands["nextAttemptAt"] is not None
    ready = await service.get("/readyz")
    assert (ready.status, ready.json["status"]) == (200, "ready"), (ready.json, service.workspace.root.states())
    assert ready.json["checks"]["database"] == "full"
    assert (await service.query("mail.thread", id=thread_id))["thread"]["subject"] == "Before"

    await service.workspace.store.write(limit_pages, None)
    await trio.sleep(16 * 60)
    (account,) = await service.query("mail.accounts")
    assert (account["state"], account["problem"], account["messages"]) == ("caught-up", None, 41)
    assert await service.query("mail.failures", accountId=account_id) == []  # no mail was to blame
    assert (await service.get("/readyz")).json["checks"]["database"] == "ok"


ON_A_SMALL_DISK = """
import json, sys
from pathlib import Path
import trio
from svc.clock import WallClock
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, RpcError, open_service

async def main():
    clock = WallClock()
    async with open_service(Path(sys.argv[1]), clock=clock, log=RecordedLog(clock), PROVIDERS="fake") as service:
        (thread_id,) = await service.synced("Before")
        refused = []
        for number in range(40):
            mail = {"address": MIA, "from": "a@example.org", "subject": str(number), "text": "word " * 60_000}
            try:
                await service.mutate("fake.mail.inject", **mail)
            except RpcError as error:
                refused.append(error.status)
        read = await service.query("mail.thread", id=thread_id)
        print(json.dumps([sorted(set(refused)), read["thread"]["subject"], (await service.get("/readyz")).status]))

trio.run(main)
"""


def test_a_mail_that_finds_no_room_is_refused_in_words(tmp_path: Path) -> None:
    assert json.loads(on_a_small_disk(ON_A_SMALL_DISK, tmp_path, megabytes=8)) == [[507], "Before", 200]
