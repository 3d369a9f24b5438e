"""``inside.look`` of a whole service: what an admin sees, and what nobody may see."""

from __future__ import annotations

import json
from typing import Any

import trio

from svc.nursery import Inspector, Watchdog
from tests.support.service import MIA, Service


def named(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    (row,) = [row for row in rows if row["name"] == name]
    return row


async def test_tasks_parts_queues_and_accounts_are_there(service: Service) -> None:
    await service.mutate(
        "fake.mail.inject", address=MIA, **{"from": "Ann <ann@sea.example>"}, subject="Boats", text="x"
    )
    await service.mutate("fake.mail.syncNow", address=MIA)
    seen = await service.query("inside.look")
    (account,) = seen["accounts"]
    assert (account["provider"], account["state"]) == ("fake", "caught-up")
    part = named(seen["parts"], f"mail:{account['id']}")
    assert (part["phase"], part["restarts"], part["lastError"]) == ("running", 0, "")
    task = named(seen["tasks"], f"mail:{account['id']}")
    assert task["kind"] == "task"
    assert task["waitsIn"].startswith("svc/")
    assert {"writes", "threads", "processes", "notifications"} <= {line["name"] for line in seen["lines"]}
    assert named(seen["lines"], "threads")["most"] > 0
    assert seen["upSeconds"] >= 0
    assert seen["version"]


async def test_each_task_says_at_least_how_long_it_waits_also_at_the_first_look(service: Service) -> None:
    samples = service.workspace.service(Inspector).samples
    await samples.take()
    await trio.sleep(25)
    await samples.take()
    tasks = [row for row in (await service.query("inside.look"))["tasks"] if row["kind"] == "task"]
    assert all(row["seconds"] is not None and row["atLeast"] for row in tasks)
    assert len([row for row in tasks if row["seconds"] >= 25]) > 10


async def test_no_mail_and_no_address_is_in_it(service: Service) -> None:
    wanted = {"from": "Ann <ann@sea.example>", "subject": "A secret boat", "text": "High at nine"}
    await service.mutate("fake.mail.inject", address=MIA, **wanted)
    await service.mutate("fake.mail.syncNow", address=MIA)
    told = json.dumps(await service.query("inside.look"))
    for private in (MIA, "ann@sea.example", "A secret boat", "High at nine"):
        assert private not in told


async def test_stalls_and_the_last_errors_are_told_the_newest_first(service: Service) -> None:
    watchdog = service.workspace.service(Watchdog)
    watchdog.note(120, ("svc/mail/reading/reader.py:10 read",))
    watchdog.note(345, ())
    service.workspace.log.bind(task="http").warning("http.slow", password="hunter2", path="/files/:id")
    service.workspace.log.error("http.broke", ValueError("token=sdt_abcdefgh"))
    seen = await service.query("inside.look")
    assert [(one["tookMs"], one["stack"]) for one in seen["stalls"]] == [
        (345, []),
        (120, ["svc/mail/reading/reader.py:10 read"]),
    ]
    newest, before = seen["troubles"][:2]
    assert (newest["event"], newest["level"]) == ("http.broke", "error")
    assert (before["event"], before["level"]) == ("http.slow", "warning")
    assert "task=http" in before["detail"]
    assert "path=/files/:id" in before["detail"]
    told = json.dumps(seen)
    assert "hunter2" not in told
    assert "sdt_abcdefgh" not in told
